"""Statistics of scores over seeds, equal to those of the package rliable (arXiv:2108.13264).

Scores are given per environment, one score per seed: `[[490.0, 500.0], [-80.0, -95.0, -90.0]]`. Intervals
are percentile bootstraps, stratified by environment: each environment's scores are resampled among
themselves. Indices are drawn in the order in which rliable draws them, so that the same scores, seed and
number of resamples give the same interval.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

RESAMPLES = 10_000
"""Number of bootstrap samples of an interval."""
CURVE_RESAMPLES = 2_000
"""Number of bootstrap samples of the band of a curve, which has an interval at every point."""
SEED = 0
"""Seed of the bootstrap: the same scores always have the same interval."""
TRIMMED = 0.25
"""Fraction of the scores that the interquartile mean ignores at each end."""

Array = np.ndarray
Scores = Sequence[Sequence[float]]
"""Scores per environment, one per seed."""
Sample = Sequence[Array]
"""Scores per environment, each [..., n]: all statistics are taken over the last axis."""
Ends = tuple[float, float]
"""Lower and upper end of a 95 % interval."""


@dataclass(frozen=True)
class Band:
    """The mean of curves, with a 95 % interval of the mean at every point."""

    mean: Array
    low: Array
    high: Array


def iqm(scores: Sample) -> Array:
    """Returns the interquartile mean: the mean without the lowest and the highest quarter of all scores. The
    number of scores to ignore at each end is rounded down, as in `scipy.stats.trim_mean`."""
    ordered = np.sort(np.concatenate(scores, axis=-1), axis=-1)
    n = ordered.shape[-1]
    cut = int(TRIMMED * n)
    return ordered[..., cut : n - cut].mean(axis=-1)


def mean(scores: Sample) -> Array:
    """Returns the mean over environments of the mean score."""
    return _task_means(scores).mean(axis=0)


def median(scores: Sample) -> Array:
    """Returns the median over environments of the mean score."""
    return np.median(_task_means(scores), axis=0)


def optimality_gap(scores: Sample, target: float = 1.0) -> Array:
    """Returns by how much the scores miss `target` on average; a score above it counts as `target`."""
    return target - np.minimum(np.concatenate(scores, axis=-1), target).mean(axis=-1)


def improvement_probability(first: Sample, second: Sample) -> Array:
    """Returns the probability that a score of `first` is higher than one of `second`, where a tie counts
    half: the mean over environments of the fraction of pairs. Both must have the same environments, in the
    same order."""
    fractions = [_fraction_higher(x, y) for x, y in zip(first, second, strict=True)]
    return np.stack(fractions).mean(axis=0)


def iqm_difference(first: Sample, second: Sample) -> Array:
    """Returns the interquartile mean of `first` minus that of `second`."""
    return iqm(first) - iqm(second)


def as_sample(scores: Scores) -> list[Array]:
    """Returns the scores as arrays, to be passed to a statistic."""
    return [np.asarray(values, dtype=np.float64) for values in scores]


def bootstrap_interval(
    statistic: Callable[..., Array],
    *groups: Scores,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> Ends:
    """Returns the 95 % interval of `statistic(*groups)`; the groups are resampled independently."""
    low, high = _interval(statistic(*resample(groups, resamples, seed)))
    return float(low), float(high)


def curve_band(curves: Array, *, resamples: int = CURVE_RESAMPLES, seed: int = SEED) -> Band:
    """Returns the mean of `curves` [n, points] with a 95 % interval at every point.

    Whole curves are resampled. The interval at a point is that of `bootstrap_interval` for its values.
    """
    n = len(curves)
    indices = _draw(np.full(n, n), resamples, seed)
    # How often each curve is in each sample, [resamples, n]: the means of all points are one product.
    counts = (indices[:, :, None] == np.arange(n)).sum(axis=1)
    low, high = _interval(counts @ curves / n)
    center = curves.mean(axis=0)
    # A product rounds differently than a mean: equal curves must not have a band that misses their mean.
    return Band(center, np.minimum(low, center), np.maximum(high, center))


def resample(groups: Sequence[Scores], resamples: int, seed: int) -> list[list[Array]]:
    """Returns bootstrap samples of each group: [resamples, n] per environment."""
    samples = [as_sample(scores) for scores in groups]
    # The order of rliable: group by group, in each the first seed of all environments, then the second, ...
    order = [
        (group, env)
        for group, sample in enumerate(samples)
        for seed_number in range(max(map(len, sample)))
        for env, values in enumerate(sample)
        if seed_number < len(values)
    ]
    indices = _draw(np.array([len(samples[group][env]) for group, env in order]), resamples, seed)
    columns = [
        [
            [i for i, where in enumerate(order) if where == (group, env)]
            for env in range(len(sample))
        ]
        for group, sample in enumerate(samples)
    ]
    return [
        [values[indices[:, own]] for values, own in zip(sample, of_env, strict=True)]
        for sample, of_env in zip(samples, columns, strict=True)
    ]


def _draw(sizes: Array, resamples: int, seed: int) -> Array:
    """Returns random indices [resamples, len(sizes)], those of column i below `sizes[i]`."""
    # rliable calls np.random.choice, which draws like randint of the legacy generator.
    return np.random.RandomState(seed).randint(0, sizes, size=(resamples, len(sizes)))


def _interval(values: Array) -> Array:
    """Returns the ends of the 95 % interval of bootstrapped values, [resamples, ...]."""
    return np.quantile(values, [0.025, 0.975], axis=0)


def _task_means(scores: Sample) -> Array:
    return np.stack([values.mean(axis=-1) for values in scores])


def _fraction_higher(x: Array, y: Array) -> Array:
    """Returns the fraction of pairs of x [..., n] and y [..., m] in which x is higher; a tie counts half."""
    points = np.zeros(x.shape[:-1])
    for i in range(
        x.shape[-1]
    ):  # one of x at a time: all pairs of all samples would need much memory
        one = x[..., i, None]
        points += (one > y).sum(axis=-1) + 0.5 * (one == y).sum(axis=-1)
    return points / (x.shape[-1] * y.shape[-1])
