"""The mean of the curves of several runs on a common clock, with a band.

Every run keeps its own x values until it is interpolated. The axis covers the range that all runs cover. In
the gap of one run, the mean is that of the other runs, and the number of runs is smaller there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gymnast.monitor.curves import POINTS, Curve, value_at
from gymnast.monitor.monitored_run import Array
from gymnast.monitor.records import Band
from gymnast.rl.seed_statistics import curve_band

MIN_INTERVAL_RUNS = 3
"""Smallest number of runs whose band is a 95 % interval; that of fewer is from the lowest to the highest."""


@dataclass(frozen=True, eq=False)
class MeanOverRuns:
    x: Array
    """[points] Positions on the clock."""
    mean: Array
    """[points] Mean over the runs that have a value; NaN where none has."""
    low: Array
    """[points] Lower edge of the band; NaN where fewer than two runs have a value."""
    high: Array
    """[points] Upper edge of the band."""
    n: Array
    """[points] Number of runs that have a value."""
    band: Band
    """The kind of band; empty for a single run."""


def common_axis(curves: Sequence[Curve], points: int = POINTS) -> Array:
    """Returns the positions of all curves within the range that all of them cover, or `points` evenly spaced
    ones if there are more. Empty if the curves do not overlap, or if one has no value."""
    if not curves or not all(map(len, curves)):
        return np.empty(0)
    low, high = max(curve.x[0] for curve in curves), min(curve.x[-1] for curve in curves)
    steps = np.unique(np.concatenate([curve.x for curve in curves]))
    steps = steps[(low <= steps) & (steps <= high)]
    return steps if len(steps) <= points else np.linspace(low, high, points)


def mean_over_runs(curves: Sequence[Curve], points: int = POINTS) -> MeanOverRuns:
    """Returns the mean of the curves that have any value, with a band: a 95 % interval of the mean over runs
    (bootstrap) for MIN_INTERVAL_RUNS runs or more, else from the lowest to the highest run."""
    curves = [curve for curve in curves if len(curve)]
    x = common_axis(curves, points)
    values = np.stack([value_at(curve, x) for curve in curves]) if curves else np.empty((0, 0))
    known = ~np.isnan(values)
    mean, low, high = (np.full(len(x), np.nan) for _ in range(3))
    # Runs are resampled as wholes, so points at which the same runs have values are computed together.
    for pattern in np.unique(known.T, axis=0) if len(x) else ():
        at = (pattern == known.T).all(axis=1)
        present = values[pattern][:, at]
        if len(present):
            mean[at] = present.mean(axis=0)
        if len(present) >= MIN_INTERVAL_RUNS:
            band = curve_band(present)
            low[at], high[at] = band.low, band.high
        elif len(present) > 1:
            low[at], high[at] = present.min(axis=0), present.max(axis=0)
    return MeanOverRuns(x, mean, low, high, known.sum(axis=0), _band(len(curves)))


def _band(n_runs: int) -> Band:
    if n_runs < 2:
        return ""
    interval = n_runs >= MIN_INTERVAL_RUNS
    return "95 % interval of the mean over runs" if interval else "lowest to highest run"
