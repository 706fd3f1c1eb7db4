"""Decides whether a noisy series moved: its change with a standard error, and its largest sudden change.

Consecutive rows of a training are not independent: a mean over the last 100 episodes shares most of them with
the row before. All standard errors are therefore those of fewer, independent values (`independent_values`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate, pairwise
from statistics import fmean, median
from typing import NamedTuple

SIGNIFICANT = 3.0
"""A change counts if it exceeds this many standard errors: many metrics are examined at once, of which some
would exceed two by chance."""
SUDDEN = 5.0
"""A sudden change counts if it is this many times as large as the noise and as the usual change: it is the
largest of many."""
SCALES = (40, 20, 10)
"""A sudden change is searched for between neighboring parts of the series of this many in total."""
ROUNDING = 1e-9
"""Changes below this fraction of the largest value are rounding errors."""
MIN_POINTS = 4
"""Fewer points do not show whether a series moved."""
MAX_CORRELATION = 0.98
"""Largest correlation between neighboring points that is assumed."""
CURVE_PARTS = 3
"""A learning curve is approximated by this many lines."""


class Change(NamedTuple):
    """A change of a series."""

    size: float
    error: float
    """Standard error of the size."""

    @property
    def exceeds_noise(self) -> bool:
        return abs(self.size) > SIGNIFICANT * self.error


class Jump(NamedTuple):
    """A sudden change, between two points of a series."""

    place: int
    """Index of the first point after it."""
    before: float
    """Mean of the points before it."""
    after: float
    """Mean of the points after it."""
    exceeds_noise: bool


def fitted_change(xs: Sequence[float], ys: Sequence[float]) -> Change | None:
    """Returns how much the line through the points rises from the first to the last x; None if there are too
    few points, or all are at the same x."""
    if len(xs) < MIN_POINTS or xs[0] == xs[-1]:
        return None
    slope, residuals = _fit(xs, ys)
    n, mean_x = len(xs), fmean(xs)
    variance = sum(r * r for r in residuals) / max(n - 2, 1)
    spread = sum((x - mean_x) ** 2 for x in xs)
    error = math.sqrt(variance / spread * n / independent_values(residuals))
    span = xs[-1] - xs[0]
    return _rounded(Change(slope * span, error * span), ys)


def change_of_ends(xs: Sequence[float], ys: Sequence[float]) -> Change | None:
    """Returns the mean of the last tenth of the points minus that of the first tenth; None if there are too
    few points. A line would not fit a whole learning curve."""
    if len(xs) < MIN_POINTS:
        return None
    k = max(1, len(xs) // 10)
    size = fmean(ys[-k:]) - fmean(ys[:k])
    error = math.sqrt(2 * max(_variance_of_mean(xs, ys, k), _local_noise(ys) ** 2 / k))
    return _rounded(Change(size, error), ys)


def largest_jump(ys: Sequence[float], sign: int = 0) -> Jump | None:
    """Returns the largest sudden change of a series; with a `sign`, the largest rise (1) or fall (-1). None
    if there are too few points, or none in this direction."""
    n = len(ys)
    if n < MIN_POINTS:
        return None
    noise, best = _local_noise(ys), None
    for k in dict.fromkeys(max(1, n // scale) for scale in SCALES):
        jumps = _differences(ys, k)
        # In a series that rises steadily no rise is sudden.
        usual = median(abs(after - before) for before, after in jumps)
        for i, (before, after) in enumerate(jumps, start=k):
            size = (after - before) * sign if sign else abs(after - before)
            if size > 0 and (best is None or size > best[0]):
                exceeds = size > SUDDEN * max(noise * math.sqrt(2 / k), usual)
                best = size, Jump(i, before, after, exceeds)
    return None if best is None or _is_rounding(best[0], ys) else best[1]


def independent_values(residuals: Sequence[float], lines: int = 1) -> float:
    """Returns the number of independent values that have the same information about the mean as these, of a
    first-order autoregressive process. `lines`: the number of lines that were fitted to the values."""
    n = len(residuals)
    power = sum(r * r for r in residuals)
    if n < 3 or power == 0:
        return float(n)
    found = sum(a * b for a, b in pairwise(residuals)) / power
    # A fitted line takes some of the correlation away: about (2 + 4 r) / n (Kendall 1954, for lines).
    found += max((2 + 4 * found) / n * lines, 0.0)
    correlation = min(max(found, 0.0), MAX_CORRELATION)
    return max(n * (1 - correlation) / (1 + correlation), 1.0)


def _differences(ys: Sequence[float], k: int) -> list[tuple[float, float]]:
    """Returns the means of the `k` values before and after each place that has as many on both sides."""
    sums = [0.0, *accumulate(ys)]
    means = [(after - before) / k for before, after in zip(sums, sums[k:], strict=False)]
    return list(zip(means, means[k:], strict=False))


def _fit(xs: Sequence[float], ys: Sequence[float]) -> tuple[float, list[float]]:
    """Returns the slope of the least-squares line, and what the points differ from it."""
    mean_x, mean_y = fmean(xs), fmean(ys)
    spread = sum((x - mean_x) ** 2 for x in xs)
    products = ((x - mean_x) * (y - mean_y) for x, y in zip(xs, ys, strict=True))
    slope = sum(products) / spread if spread else 0.0
    return slope, [y - mean_y - slope * (x - mean_x) for x, y in zip(xs, ys, strict=True)]


def _variance_of_mean(xs: Sequence[float], ys: Sequence[float], k: int) -> float:
    """Returns the variance of the mean of `k` successive points around a curve, which is approximated by
    three lines."""
    n = len(xs)
    edges = [i * n // CURVE_PARTS for i in range(CURVE_PARTS + 1)]
    parts = [_fit(xs[a:b], ys[a:b])[1] for a, b in pairwise(edges)]
    residuals = [residual for part in parts for residual in part]
    variance = sum(r * r for r in residuals) / max(n - 2 * CURVE_PARTS, 1)
    return variance / max(independent_values(residuals, CURVE_PARTS) / n * k, 1.0)


def _local_noise(ys: Sequence[float]) -> float:
    """Returns the standard deviation of a series around the line between the neighbors of each point."""
    around = [y - (a + b) / 2 for a, y, b in zip(ys, ys[1:], ys[2:], strict=False)]
    # The variance of y - (a + b) / 2 is 1.5 times that of independent points.
    return math.sqrt(fmean(d * d for d in around) / 1.5) if around else 0.0


def _rounded(change: Change, ys: Sequence[float]) -> Change:
    return Change(0.0, change.error) if _is_rounding(change.size, ys) else change


def _is_rounding(size: float, ys: Sequence[float]) -> bool:
    return abs(size) <= ROUNDING * max(map(abs, ys))
