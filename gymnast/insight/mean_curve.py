"""The mean of the curves of several seeds, with its 95 % band.

Every seed keeps its own x values: the mean is taken over the range that all seeds cover, and a curve is
interpolated where it has no point of its own. A seed without any value is left out, not counted as zero.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gymnast.runs.curve import Curve

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True)
class EvaluationCurve:
    x: list[float]
    """Positions on the clock of the comparison."""
    y: list[float]
    """Mean returns, or win rates."""


@dataclass(frozen=True)
class MeanCurve(EvaluationCurve):
    """The mean over seeds at every x."""

    low: list[float | None]
    """Lower end of the 95 % interval of the mean over seeds at every x; None for a single seed."""
    high: list[float | None]
    """Upper end of the interval."""
    n: list[int]
    """Number of seeds at every x."""


def mean_curve(curves: Iterable[Curve], points: int | None = None) -> MeanCurve:
    """Returns the mean of curves over the range that all of them cover, at every x at which any has a point.

    `points`: the largest number of points; if there are more, each curve is averaged in that many parts of
    the range. Values that are not finite count as missing. The order of the curves does not matter."""
    known = sorted(curve for curve in map(_finite, curves) if curve[0])
    if not known:
        return MeanCurve([], [], [], [], [])
    if len(known) == 1 and (points is None or len(known[0][0]) <= points):
        [(xs, ys)] = known
        return MeanCurve(xs, ys, [None] * len(xs), [None] * len(xs), [1] * len(xs))
    import numpy as np

    from gymnast.rl.seed_statistics import curve_band

    low, high = max(xs[0] for xs, _ in known), min(xs[-1] for xs, _ in known)
    x = np.unique(np.concatenate([xs for xs, _ in known]))
    x = x[(low <= x) & (x <= high)]  # empty if the curves do not overlap
    if points is not None and len(x) > points:
        edges = np.linspace(low, high, points + 1)
        x = (edges[:-1] + edges[1:]) / 2
        values = np.stack([_averaged(curve, edges, x) for curve in known])
    else:
        values = np.stack([np.interp(x, *curve) for curve in known])
    n = len(known)
    band = curve_band(values) if n > 1 else None
    unknown: list[float | None] = [None] * len(x)
    return MeanCurve(
        x=x.tolist(),
        y=values.mean(axis=0).tolist(),
        low=unknown if band is None else band.low.tolist(),
        high=unknown if band is None else band.high.tolist(),
        n=[n] * len(x),
    )


def _finite(curve: Curve) -> Curve:
    """Returns the finite points of a curve, ordered by x; the last one if several have the same x."""
    points = zip(*curve, strict=True)
    at = {x: y for x, y in points if math.isfinite(x) and math.isfinite(y)}
    xs = sorted(at)
    return xs, [at[x] for x in xs]


def _averaged(curve: Curve, edges: Sequence[float] | np.ndarray, centers: np.ndarray) -> np.ndarray:
    """Returns the mean of a curve's points in each part of the range; where there are none, its value in the
    middle of the part."""
    import numpy as np

    xs, ys = map(np.asarray, curve)
    inside = (edges[0] <= xs) & (xs <= edges[-1])
    part = np.minimum(np.searchsorted(edges, xs[inside], side="right") - 1, len(centers) - 1)
    count = np.bincount(part, minlength=len(centers))
    total = np.bincount(part, weights=ys[inside], minlength=len(centers))
    return np.where(count > 0, total / np.maximum(count, 1), np.interp(centers, xs, ys))
