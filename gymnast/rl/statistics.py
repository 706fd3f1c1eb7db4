"""Summary statistics that updates and reports share. Every degenerate case has a defined result."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from gymnast.compiled import kernels
from gymnast.rl.interval import Interval

Z95 = 1.959963985
"""The 97.5 % quantile of the normal distribution."""


def finite_bounds(mean: float, low: float, high: float) -> tuple[float, float]:
    """Returns the bounds of an interval as metrics, which must be finite: a single sample has no interval,
    and its infinite bounds are replaced by the mean."""
    return low if math.isfinite(low) else mean, high if math.isfinite(high) else mean


class SummaryStats(NamedTuple):
    """Mean, standard deviation (of the population), minimum and maximum of an array."""

    mean: float
    std: float
    minimum: float
    maximum: float


def summary_stats(x: np.ndarray, valid: np.ndarray | None = None) -> SummaryStats:
    """Returns mean, standard deviation, minimum and maximum of the valid entries of x.

    `valid` covers the leading axes of x; None means that all entries are valid. Sums are computed in
    float64, whatever the dtype of x.
    """
    native = kernels()
    if native is not None and x.flags.c_contiguous and x.dtype in _COMPILED:
        return SummaryStats._make(native.summary_stats(x, valid))
    return slow_summary_stats(x, valid)


def slow_summary_stats(x: np.ndarray, valid: np.ndarray | None = None) -> SummaryStats:
    """Returns the same as `summary_stats`, without compiled code."""
    kept = (x if valid is None else x[valid]).astype(np.float64)
    return SummaryStats(*(float(reduce(kept)) for reduce in (np.mean, np.std, np.min, np.max)))


def column_means(x: np.ndarray) -> list[float]:
    """Returns the mean of each column of x [B, k], computed in float64."""
    native = kernels()
    if native is not None and x.flags.c_contiguous and x.dtype == np.float32:
        return native.column_means(x)
    return x.mean(0, dtype=np.float64).tolist()


_COMPILED = frozenset(map(np.dtype, (np.float64, np.float32, np.int64)))


def mean_interval(
    values: np.ndarray, *, exact: bool = False, within: tuple[float, float] | None = None
) -> Interval:
    """Returns the mean with its 95 % interval by Student's t. For a single value the interval is infinite.

    `exact` means that the values are the whole population, so that the interval has no width. `within`: the
    possible range of the values, which the interval does not leave; ignored if a value is outside of it.
    """
    x = np.asarray(values, dtype=np.float64)
    mean = float(x.mean())
    if exact:
        return Interval(mean, mean, mean)
    if len(x) == 1:  # one value says nothing about the spread
        return Interval(mean, -math.inf, math.inf)
    half = t_quantile(len(x) - 1) * float(x.std(ddof=1)) / math.sqrt(len(x))
    low, high = mean - half, mean + half
    if within is not None and within[0] <= x.min() and x.max() <= within[1]:
        # The mean of equal values may differ from them in its last bits.
        low, high = min(max(low, within[0]), mean), max(min(high, within[1]), mean)
    return Interval(mean, low, high)


def t_quantile(df: int) -> float:
    """Returns the 97.5 % quantile of Student's t with `df` degrees of freedom, 1 or more (Abramowitz & Stegun
    26.7.5; exact for df 1 and 2)."""
    if df <= 2:  # the series below is inaccurate for such heavy tails
        return {1: 12.706204736, 2: 4.302652730}[df]
    # The quantile of the normal distribution, corrected by a series in 1 / df.
    z = Z95
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return z + sum(term / df ** (i + 1) for i, term in enumerate(terms))


def wilson_interval(wins: float, n: int) -> Interval:
    """Returns the share of `wins` in `n` trials with its 95 % Wilson interval, which is accurate for few
    trials and near 0 or 1. Raises ValueError unless 0 <= wins <= n.

    Without any trial the mean is NaN and the interval is 0..1.
    """
    if not 0 <= wins <= n:
        raise ValueError(f"{wins} wins in {n} trials are not possible")
    if n == 0:
        return Interval(math.nan, 0.0, 1.0)
    share, z2 = wins / n, Z95**2
    center = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = Z95 / (1 + z2 / n) * math.sqrt(share * (1 - share) / n + z2 / (4 * n * n))
    # at 0 and 1 the end of the interval is exact; rounding would miss it by a few bits
    low = 0.0 if wins == 0 else center - half
    high = 1.0 if wins == n else center + half
    return Interval(share, low, high)


def interquartile_mean(values: np.ndarray) -> float:
    """Returns the mean of the middle half (arXiv:2108.13264).

    Values at the edges are weighted by the part that lies inside.
    """
    x = np.sort(np.asarray(values, dtype=np.float64))
    n = len(x)
    # Sorted value i covers the quantiles from i / n to (i + 1) / n. Its weight is the part of this span
    # that lies between the quartiles 0.25 and 0.75.
    left = np.arange(n) / n
    weight = np.clip(np.minimum(left + 1 / n, 0.75) - np.maximum(left, 0.25), 0.0, None)
    return float((x * weight).sum() / weight.sum())


def explained_variance(predicted: np.ndarray, actual: np.ndarray) -> float:
    """Returns 1 - Var(actual - predicted) / Var(actual).

    For constant `actual` it is 1 if every prediction is exact, and 0 otherwise.
    """
    return explained_share(summary_stats(actual - predicted), summary_stats(actual))


def explained_share(errors: SummaryStats, actual: SummaryStats) -> float:
    """Returns the explained variance (see `explained_variance`) from the statistics of the errors, actual
    minus predicted, and of the actual values."""
    if is_constant(actual):
        return 1.0 - relative_rmse(errors, actual)
    return 1.0 - (errors.std / actual.std) ** 2


def relative_rmse(errors: SummaryStats, actual: SummaryStats) -> float:
    """Returns the root mean square of the errors, divided by the standard deviation of the actual values.

    For constant actual values it is 0 if every prediction is exact, and 1 otherwise.
    """
    rmse = math.hypot(errors.mean, errors.std)  # E[e^2] = mean^2 + variance
    return float(rmse > _rounding(actual)) if is_constant(actual) else rmse / actual.std


def is_constant(x: SummaryStats) -> bool:
    """True if x does not vary by more than rounding errors."""
    return x.std <= _rounding(x)


def _rounding(x: SummaryStats) -> float:
    """Returns the difference up to which numbers of this size count as equal."""
    return 1e-6 * math.hypot(x.mean, x.std)


def standardize(x: np.ndarray) -> np.ndarray:
    """Returns x with mean 0 and standard deviation 1; all zeros if x does not vary."""
    return scale_to_unit(x - x.mean())


def scale_to_unit(x: np.ndarray) -> np.ndarray:
    """Returns x scaled to root mean square 1, without shifting it; all zeros if x is."""
    rms = float(np.sqrt((x * x).mean()))
    # A smaller root mean square is rounding error, which must not be amplified to 1.
    return x / rms if rms > 1e-8 else np.zeros_like(x)
