"""Curves over a clock: read from a run, smoothed, and interpolated. NaN is a gap and is never filled."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gymnast.metrics.downsample import downsample
from gymnast.metrics.specs import split_key
from gymnast.monitor.monitored_run import Array, MonitoredRun

POINTS = 500
"""Maximum number of points of a curve in a chart."""


@dataclass(frozen=True, eq=False)
class Curve:
    """Values over a clock. It starts and ends with a value; NaN in between is a gap."""

    x: Array
    """[points] Positions on the clock, increasing."""
    y: Array
    """[points] Values, NaN in a gap."""

    def __len__(self) -> int:
        return len(self.x)


def read_curve(run: MonitoredRun, column: str) -> Curve:
    """Returns a column as a curve. A training row without a value is a gap; evaluations are points that
    follow each other, each at the position of the version that it scored. Raises RunError if the run has
    no such column."""
    if split_key(column)[0][:1] == ("eval",):
        return Curve(*run.points(column))
    steps, row = np.unique(run.positions, return_inverse=True)
    values = np.full(len(steps), np.nan)
    column_values = run.column(column)
    known = ~np.isnan(column_values)
    # An evaluation that finished late has a row of its own at the same position: not a gap.
    values[row[known]] = column_values[known]
    return _between_values(Curve(steps, values))


def smooth_curve(curve: Curve, rows: int) -> Curve:
    """Returns the moving average: each point is the mean of the last `rows` rows up to it that have a value,
    of fewer at the start. A gap stays a gap."""
    if rows <= 1 or not len(curve):
        return curve
    known = ~np.isnan(curve.y)
    # Every window is summed by itself: a running sum would carry a rounding error or an infinity along.
    window = np.ones(min(rows, len(curve)))
    totals = np.convolve(np.where(known, curve.y, 0.0), window)[: len(curve)]
    n = np.convolve(known, window)[: len(curve)]
    return Curve(curve.x, np.where(known, totals / np.maximum(n, 1), np.nan))


def value_at(curve: Curve, x: Array) -> Array:
    """Returns the values at `x` by linear interpolation between neighboring points, [len(x)]. NaN where the
    curve has no value: before its first and after its last point, and inside a gap."""
    if not len(curve):
        return np.full(len(x), np.nan)
    left = np.clip(np.searchsorted(curve.x, x, side="right") - 1, 0, len(curve) - 1)
    right = np.clip(np.searchsorted(curve.x, x, side="left"), 0, len(curve) - 1)
    width = curve.x[right] - curve.x[left]
    share = np.where(width > 0, (x - curve.x[left]) / np.where(width > 0, width, 1.0), 0.0)
    # At a point of the curve both neighbors are that point, so its value is exact and needs no other.
    values = curve.y[left] + share * (curve.y[right] - curve.y[left])
    inside = (curve.x[0] <= x) & (x <= curve.x[-1])
    return np.where(inside, values, np.nan)


def fewer_points(curve: Curve, points: int = POINTS) -> Array:
    """Returns the indices of at most `points` points of a curve, such that its extremes and gaps stay
    visible."""
    return np.asarray(downsample(curve.y.tolist(), points), dtype=np.intp)


def _between_values(curve: Curve) -> Curve:
    """Returns the curve from its first to its last value; empty if it has none."""
    known = np.flatnonzero(~np.isnan(curve.y))
    if not len(known):
        return Curve(curve.x[:0], curve.y[:0])
    part = slice(known[0], known[-1] + 1)
    return Curve(curve.x[part], curve.y[part])
