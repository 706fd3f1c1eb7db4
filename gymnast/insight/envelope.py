"""Envelopes: the range of the most important metrics in healthy runs of a preset, over the course of
training.

One JSON file per `ENV:variant`, which `gymnast reproduce --store` writes together with the stored result. For
each metric it has the lowest and the highest value over the seeds, in each tenth of the env steps that all
seeds took.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

from gymnast.insight.results import file_name
from gymnast.runs import document, durable
from gymnast.runs.revision import ENVELOPES as FOLDER
from gymnast.text.formatting import times_text

VERSION = 1
PARTS = 10
KEYS = (
    "episode/return",
    "policy/kl",
    "policy/entropy_share",
    "value/explained_variance",
    "value/target_std",
    "advantage/std",
    "optim/grad_norm",
    "optim/update_norm",
)
Rows = Sequence[Mapping[str, float]]


class Band(TypedDict):
    """The lowest and the highest value over the seeds, in each of PARTS parts of training."""

    low: list[float]
    high: list[float]


class Envelope(TypedDict):
    """The stored form of an envelope."""

    version: int
    preset: str
    env_steps: float
    bands: dict[str, Band]
    """Key of a metric -> its range."""


@dataclass(frozen=True)
class EnvelopeViolation:
    """A metric of a run that is outside the envelope of healthy runs."""

    key: str
    side: str
    """`high` or `low`."""
    share: float
    """Share of the comparable parts of training in which it is outside."""
    factor: float
    """Its median divided by that of the healthy runs if both are above 0, else NaN."""

    def __str__(self) -> str:
        size = f", {times_text(self.factor)} as large" if math.isfinite(self.factor) else ""
        word = "above" if self.side == "high" else "below"
        return f"{self.key} is {word} that of healthy runs in {self.share:.0%} of training{size}"


def build_envelope(preset: str, records: Sequence[Rows]) -> Envelope:
    """Returns the envelope of these runs, in its stored form. `records`: the rows of each run; a
    metric that one of the runs lacks is left out."""
    steps = min(rows[-1]["clock/env_steps"] for rows in records)
    bands: dict[str, Band] = {}
    for key in KEYS:
        by_seed = [binned_means(rows, key, steps) for rows in records]  # [seeds][PARTS]
        columns = [[v for v in part if v is not None] for part in zip(*by_seed, strict=True)]
        # Every seed must have recorded the metric, and every part must have a value of some seed.
        if all(any(v is not None for v in parts) for parts in by_seed) and all(columns):
            bands[key] = {"low": [*map(min, columns)], "high": [*map(max, columns)]}
    return {"version": VERSION, "preset": preset, "env_steps": steps, "bands": bands}


def save_envelope(envelope: Envelope) -> Path:
    path = _file(envelope["preset"])
    path.parent.mkdir(parents=True, exist_ok=True)
    durable.replace(path, (document.dumps(dict(envelope), indent=1) + "\n").encode())
    return path


def load_envelope(preset: str) -> Envelope | None:
    path = _file(preset)
    return document.parse(Envelope, path.read_bytes()) if path.exists() else None


def find_violations(envelope: Envelope, rows: Rows) -> list[EnvelopeViolation]:
    """Returns the metrics that are outside the envelope in at least half of training.

    The envelope is widened on both sides by its own width and by a quarter of its values.
    """
    violations: list[EnvelopeViolation] = []
    for key, band in envelope["bands"].items():
        parts = binned_means(rows, key, envelope["env_steps"])
        known = [
            (value, low, high)
            for value, low, high in zip(parts, band["low"], band["high"], strict=True)
            if value is not None
        ]
        if len(known) < 2:  # too short a run to compare
            continue
        above = sum(value > high + _slack(low, high) for value, low, high in known)
        below = sum(value < low - _slack(low, high) for value, low, high in known)
        side = "high" if above >= below else "low"
        share = max(above, below) / len(known)
        if share >= 0.5:
            violations.append(EnvelopeViolation(key, side, share, _factor(known)))
    return violations


def binned_means(rows: Rows, key: str, steps: float) -> list[float | None]:
    """Returns the mean of a key in each tenth of the first `steps` env steps; None if a part has no value."""
    sums, counts = [0.0] * PARTS, [0] * PARTS
    for row in rows:
        value = row.get(key)
        # Beyond the shortest seed there are fewer seeds, and the range would not be comparable.
        if value is None or not math.isfinite(value) or row["clock/env_steps"] > steps:
            continue
        part = min(int(PARTS * row["clock/env_steps"] / steps), PARTS - 1)
        sums[part] += value
        counts[part] += 1
    return [total / n if n else None for total, n in zip(sums, counts, strict=True)]


def _slack(low: float, high: float) -> float:
    # The envelope covers only a few seeds, so a healthy run may well be somewhat outside.
    return (high - low) + 0.25 * max(abs(low), abs(high))


def _factor(known: Sequence[tuple[float, float, float]]) -> float:
    """Returns the median of the run divided by the median of the band's centers; NaN unless both are > 0."""
    run = sorted(value for value, _, _ in known)[len(known) // 2]
    healthy = sorted((low + high) / 2 for _, low, high in known)[len(known) // 2]
    return run / healthy if run > 0 and healthy > 0 else math.nan


def _file(preset: str) -> Path:
    return FOLDER / file_name(preset)
