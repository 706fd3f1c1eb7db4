"""Summaries of arrays that reports and updates agree on. Every degenerate case is defined."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from gymnast.compiled import kernels

Z95 = 1.959963985
"""The 97.5 % quantile of the normal distribution."""


@dataclass(frozen=True)
class Interval:
    """A mean and where it lies with 95 % confidence."""

    mean: float
    low: float
    high: float


class Spread(NamedTuple):
    mean: float
    std: float
    least: float
    most: float


def spread(x: np.ndarray, valid: np.ndarray | None = None) -> Spread:
    """Of the numbers in x [..., more], where valid [...]; in float64 whatever x holds."""
    native = kernels()
    if native is not None and x.flags.c_contiguous and x.dtype in _COMPILED:
        return Spread._make(native.spread(x, valid))
    return slow_spread(x, valid)


def slow_spread(x: np.ndarray, valid: np.ndarray | None = None) -> Spread:
    """The same without compiled code."""
    kept = (x if valid is None else x[valid]).astype(np.float64)
    return Spread(*(float(of(kept)) for of in (np.mean, np.std, np.min, np.max)))


def column_means(x: np.ndarray) -> list[float]:
    """Of x [B, k], in float64 whatever it holds."""
    native = kernels()
    if native is not None and x.flags.c_contiguous and x.dtype == np.float32:
        return native.column_means(x)
    return x.mean(0, dtype=np.float64).tolist()


_COMPILED = frozenset(map(np.dtype, (np.float64, np.float32, np.int64)))


def mean_interval(values: np.ndarray, *, exact: bool = False) -> Interval:
    """Student's t interval; `exact` when the values are the whole population, not a sample."""
    x = np.asarray(values, dtype=np.float64)
    mean = float(x.mean())
    if exact:
        return Interval(mean, mean, mean)
    if len(x) == 1:
        return Interval(mean, -math.inf, math.inf)
    half = t_quantile(len(x) - 1) * float(x.std(ddof=1)) / math.sqrt(len(x))
    return Interval(mean, mean - half, mean + half)


def t_quantile(df: int) -> float:
    """The 97.5 % quantile of Student's t (Abramowitz & Stegun 26.7.5; exact for 1 and 2)."""
    if df <= 2:
        return {1: 12.706204736, 2: 4.302652730}[df]
    z = Z95
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return z + sum(term / df ** (i + 1) for i, term in enumerate(terms))


def wilson_interval(wins: float, n: int) -> Interval:
    """Of a share, by Wilson: honest for few trials and near 0 and 1. Without any trial the mean is NaN
    and the interval is everything."""
    if not 0 <= wins <= n:
        raise ValueError(f"{wins} of {n} is no share")
    if n == 0:
        return Interval(math.nan, 0.0, 1.0)
    share, z2 = wins / n, Z95**2
    centre = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = Z95 / (1 + z2 / n) * math.sqrt(share * (1 - share) / n + z2 / (4 * n * n))
    # at 0 and 1 the ends are exact; rounding may not put them beside
    low = 0.0 if wins == 0 else centre - half
    high = 1.0 if wins == n else centre + half
    return Interval(share, low, high)


def interquartile_mean(values: np.ndarray) -> float:
    """Mean of the middle half (arXiv:2108.13264), edge values weighted by the part that is inside."""
    x = np.sort(np.asarray(values, dtype=np.float64))
    n = len(x)
    left = np.arange(n) / n
    weight = np.clip(np.minimum(left + 1 / n, 0.75) - np.maximum(left, 0.25), 0.0, None)
    return float((x * weight).sum() / weight.sum())


def explained_variance(predicted: np.ndarray, actual: np.ndarray) -> float:
    """1: predicts every return. 0: no better than their mean. Constant returns: 1 if met exactly, else 0."""
    return explained_share(spread(actual - predicted), spread(actual))


def explained_share(missed: Spread, actual: Spread) -> float:
    """The same, told by how errors and returns are spread."""
    if is_constant(actual):
        return 1.0 - error_share(missed, actual)
    return 1.0 - (missed.std / actual.std) ** 2


def error_share(missed: Spread, actual: Spread) -> float:
    """Root mean square of errors, in units of how what was to be predicted varies. Constant: 0 if met
    exactly, else 1."""
    error = math.hypot(missed.mean, missed.std)
    return float(error > _rounding(actual)) if is_constant(actual) else error / actual.std


def is_constant(x: Spread) -> bool:
    return x.std <= _rounding(x)


def _rounding(x: Spread) -> float:
    """By so much equal numbers may differ in their last digits."""
    return 1e-6 * math.hypot(x.mean, x.std)


def standardize(x: np.ndarray) -> np.ndarray:
    """Mean 0, standard deviation 1; all zeros where nothing varies."""
    return scale_to_unit(x - x.mean())


def scale_to_unit(x: np.ndarray) -> np.ndarray:
    """Root mean square 1, whatever the mean; all zeros where there is nothing but zeros."""
    size = float(np.sqrt((x * x).mean()))
    return x / size if size > 1e-8 else np.zeros_like(x)
