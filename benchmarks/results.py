"""The stored measurements: their files, updating one, and statistics of samples."""

from __future__ import annotations

import json
import os
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.code_revision import RESULTS
from benchmarks.libraries import LABELS

COMPARISON = RESULTS / "comparison.json"
PARTIAL = RESULTS / "partial.json"
"""File for quick and restricted runs; not in the repository."""

Sample = dict[str, Any]
Samples = dict[str, list[Sample]]


def replace_entry(path: Path, section: str, key: str | None, entry: dict[str, Any]) -> None:
    """Replaces one entry of a file, atomically."""
    stored = json.loads(path.read_text()) if path.exists() else {}
    if key is None:
        stored[section] = entry
    else:
        entries = stored.get(section, {}) | {key: entry}
        stored[section] = dict(sorted(entries.items()))
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_suffix(".new")
    draft.write_text(json.dumps(stored, indent=1) + "\n")
    os.replace(draft, path)


def speed(sample: Sample, part: str = "cpu") -> float:
    """Returns env steps per CPU (or wall) second."""
    return sample["env_steps"] / sample[part]


def median_speed(samples: list[Sample], part: str = "cpu") -> float:
    return median(speed(one, part) for one in samples)


def ratios(samples: Samples, peer: str, who: str = "ours", part: str = "cpu") -> list[float]:
    """Returns the speed of `who` relative to `peer`, per round."""
    # Within a round, because other load on the machine affects both samples of it alike.
    pairs = zip(samples[who], samples[peer], strict=True)
    return [speed(one, part) / speed(other, part) for one, other in pairs]


def best_peer(samples: Samples) -> str | None:
    """Returns the fastest peer, if any."""
    peers = [who for who in samples if who not in ("ours", "alone")]
    return max(peers, key=lambda who: median_speed(samples[who]), default=None)


def round_text(samples: Samples) -> str:
    """Returns the last round as one line of text."""
    return ", ".join(f"{LABELS[who]} {speed(of[-1]):,.0f}/s" for who, of in samples.items())
