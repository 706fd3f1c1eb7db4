"""Any metric as the mean over the seeds of a group, with its 95 % band."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gymnast.clock import CLOCKS
from gymnast.errors import UsageError
from gymnast.insight.mean_curve import mean_curve
from gymnast.insight.sides import ComparisonSide
from gymnast.metrics.specs import split_key
from gymnast.runs.curve import SCORED_STEPS_KEY, Curve
from gymnast.runs.run import Run
from gymnast.text.suggestions import did_you_mean

MIN_POINTS = 2
"""Smallest number of points of a series."""


@dataclass(frozen=True)
class SeedSeries:
    """The mean of one metric over the seeds of a group, over the range that all seeds cover."""

    key: str
    """The metric, with its scopes."""
    x: list[float]
    """Positions on the clock."""
    mean: list[float]
    """Mean over seeds at every x."""
    low: list[float | None]
    """Lower end of the 95 % interval of the mean over seeds at every x; None for a single seed."""
    high: list[float | None]
    """Upper end of the interval."""
    n: list[int]
    """Number of seeds at every x; a seed that did not record the metric is left out."""


@dataclass(frozen=True)
class SeedGroup:
    """The metrics of one group of seeds."""

    name: str
    """The name of the group as the user gave it, or the id of the run."""
    runs: list[str]
    """Ids of the runs."""
    series: list[SeedSeries]
    """One per metric that a run of the group recorded."""


@dataclass(frozen=True)
class SeedCurves:
    """Metrics as means over the seeds of groups."""

    x: str
    """The clock that the x values count."""
    groups: list[SeedGroup]
    """One per reference, in the same order."""


def seed_curves(
    sides: Sequence[ComparisonSide], names: Sequence[str], x: str, points: int
) -> SeedCurves:
    """Returns the metrics `names` over the clock `x`, as means over the seeds of each side with at most
    `points` points. Raises UsageError for an unknown clock, for fewer than MIN_POINTS points, and for a
    metric that no run has."""
    if x not in CLOCKS:
        raise UsageError(f"{x!r} is not a clock", fix=f"use {', '.join(CLOCKS)}")
    if points < MIN_POINTS:
        raise UsageError(f"a series cannot have fewer than {MIN_POINTS} points")
    recorded = [[_curves(run, names, x) for run in side.runs] for side in sides]
    _require_known(names, [run for side in sides for run in side.runs], recorded)
    return SeedCurves(
        x,
        [
            SeedGroup(side.name, [run.id for run in side.runs], _series(curves, points))
            for side, curves in zip(sides, recorded, strict=True)
        ],
    )


def _series(curves: Sequence[dict[str, Curve]], points: int) -> list[SeedSeries]:
    """Returns a series per metric. `curves`: metric -> curve, for each run."""
    keys = dict.fromkeys(key for by_key in curves for key in by_key)
    means = {
        key: mean_curve((by_key[key] for by_key in curves if key in by_key), points) for key in keys
    }
    return [
        SeedSeries(key, found.x, found.y, found.low, found.high, found.n)
        for key, found in means.items()
    ]


def _curves(run: Run, names: Sequence[str], x: str) -> dict[str, Curve]:
    """Returns metric -> curve over the clock `x`, for the metrics that a run recorded; an evaluation is at
    the position of the policy version that it scored, as in charts."""
    import numpy as np

    clock, env_steps = f"clock/{x}", "clock/env_steps"
    with run.metrics() as metrics:
        columns = metrics.read([*names, clock, env_steps, SCORED_STEPS_KEY])
    curves: dict[str, Curve] = {}
    for name in names:
        values = columns[name]
        at = columns[clock]
        if split_key(name)[0][:1] == ("eval",):
            steps, clocks = (np.concatenate([[0.0], columns[key]]) for key in (env_steps, clock))
            at = np.interp(columns[SCORED_STEPS_KEY], steps, clocks)
        known = np.isfinite(values) & np.isfinite(at)
        if known.any():
            curves[name] = at[known].tolist(), values[known].tolist()
    return curves


def _require_known(
    names: Sequence[str], runs: Sequence[Run], recorded: Sequence[Sequence[dict[str, Curve]]]
) -> None:
    """Raises UsageError for a name that no run has, unless none of the runs has any row yet."""
    found = {key for side in recorded for by_key in side for key in by_key}
    missing = [name for name in names if name not in found]
    if not missing:
        return
    known: set[str] = set()
    for run in runs:
        with run.metrics() as metrics:
            known.update(metrics.names())
    for name in missing:
        if known and name not in known:
            problem = f"no run has the metric {name!r}{did_you_mean(name, known)}"
            raise UsageError(problem, fix="`gymnast metrics` lists the metrics")
