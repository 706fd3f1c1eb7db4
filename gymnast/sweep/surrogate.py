"""A Gaussian process over the trials of a study: what its neighbors say about a trial.

With a few noisy seeds per trial, the highest mean belongs to a lucky trial. Trials with similar values of the
parameters have similar means, so all of them together say more about each than its own seeds alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gymnast.sweep.parameter import Assignment

Array = np.ndarray
SCALES = (0.2, 0.4, 0.8, 1.6, 4.0)
"""Length scales that are tried for each coordinate, whose values are from 0 to 1: over this distance, means
are about half correlated."""
NOISES = (0.02, 0.1, 0.3, 1.0)
"""Variances between seeds that are tried, relative to the variance between trials."""
SCALE_PRIOR, NOISE_PRIOR = (0.8, 1.5), (0.3, 1.5)
"""Median and logarithmic standard deviation of what is expected before there is evidence."""
PASSES = 2
"""Number of times that each scale and the noise are chosen, the others being fixed."""


@dataclass(frozen=True)
class Estimate:
    """The mean over many seeds of one trial."""

    mean: float
    std: float
    """Standard deviation of the estimate."""


def estimate_means(
    assignments: Sequence[Assignment | None], values: Sequence[Sequence[float]]
) -> list[Estimate]:
    """Returns the estimated mean of each trial. `values`: those of its seeds, none for a trial that was not
    trained; at least one trial was. An assignment None stands for the baseline, which has no neighbors."""
    trained = np.array([at for at, one in enumerate(values) if one])
    limited = _limit([np.asarray(values[at], float) for at in trained])
    every = np.concatenate(limited)
    center, unit = float(every.mean()), float(every.std()) or 1.0
    data = _Data(
        distances(assignments),
        trained,
        (np.array([one.mean() for one in limited]) - center) / unit,
        np.array([len(one) for one in limited], float),
        sum(float(((one - one.mean()) ** 2).sum()) for one in limited) / unit**2,
    )
    mean, std = _fit(data).posterior()
    return [
        Estimate(center + unit * float(m), unit * float(s)) for m, s in zip(mean, std, strict=True)
    ]


def _limit(values: list[Array]) -> list[Array]:
    """Returns the values with a lower limit, as far below the median as the best is above it: how bad the bad
    trials are says nothing about which of the good ones is best."""
    means = np.array([one.mean() for one in values])
    middle = float(np.median(means))
    return [np.maximum(one, 2 * middle - means.max()) for one in values]


def distances(assignments: Sequence[Assignment | None]) -> Array:
    """Returns the squared distances between trials in each coordinate, [coordinate, trial, trial].

    The coordinate of a number is its rank among the numbers of the parameter, from 0 to 1, so that neither
    units nor logarithms matter. Any other two values, one of them absent, or the baseline, are 1 apart."""
    names = sorted({name for one in assignments if one is not None for name in one})
    found: list[Array] = []
    for name in names:
        column = [None if one is None else one.get(name) for one in assignments]
        numbers = [
            float(x) if isinstance(x, int | float) and not isinstance(x, bool) else None
            for x in column
        ]
        rank = _ranks([x for x in numbers if x is not None])
        place = np.array([np.nan if x is None else rank[x] for x in numbers])
        texts = np.array([str(x) for x in column])
        apart = (texts[:, None] != texts[None]).astype(float)
        gap = place[:, None] - place[None]
        found.append(np.where(np.isnan(gap), apart, gap) ** 2)
    return np.array(found).reshape(len(names), len(assignments), len(assignments))


def _ranks(numbers: Sequence[float]) -> dict[float, float]:
    """Returns number -> its rank among the different numbers, from 0 to 1."""
    different = sorted(set(numbers))
    return {x: at / max(len(different) - 1, 1) for at, x in enumerate(different)}


@dataclass(frozen=True)
class _Data:
    distance: Array
    """Squared distances, [coordinate, trial, trial]."""
    trained: Array
    """Indices of the trials with values."""
    mean: Array
    """Mean over the seeds of each of them."""
    seeds: Array
    """Number of their seeds."""
    within: float
    """Sum of the squared differences between the seeds and the mean of their trial."""


@dataclass(frozen=True)
class _Model:
    """A Gaussian process with a constant mean, and the same noise for all trials."""

    data: _Data
    scales: tuple[float, ...]
    noise: float

    def kernel(self, rows: Array | None = None) -> Array:
        """Returns the correlations of the trials `rows`, by default the trained ones, with the trained ones
        (Matern 5/2)."""
        data, weights = self.data, 1 / np.square(self.scales)
        distance = data.distance[:, data.trained if rows is None else rows][:, :, data.trained]
        r = np.sqrt(5 * np.tensordot(weights, distance, 1))
        return (1 + r + r * r / 3) * np.exp(-r)

    def solved(self) -> tuple[Array, Array, float, float]:
        """Returns the inverse covariance of the means, their differences from the constant, the constant and
        the variance, all but the noise and the scales being the most likely ones."""
        data = self.data
        inverse = np.linalg.inv(self.kernel() + np.diag(self.noise / data.seeds))
        total = inverse.sum()
        constant = float((inverse @ data.mean).sum() / total)
        rest = data.mean - constant
        variance = (rest @ inverse @ rest + data.within / self.noise) / data.seeds.sum()
        return inverse, rest, constant, max(float(variance), 1e-12)

    def cost(self) -> float:
        """Returns the negative logarithm of the probability of the values, up to a constant."""
        inverse, _, _, variance = self.solved()
        n, repeated = self.data.seeds.sum(), self.data.seeds.sum() - len(self.data.mean)
        determinant = -np.linalg.slogdet(inverse)[1] + repeated * np.log(self.noise)
        expected = sum(_surprise(one, SCALE_PRIOR) for one in self.scales)
        expected += _surprise(self.noise, NOISE_PRIOR)
        return float(0.5 * (n * np.log(variance) + determinant) + expected)

    def posterior(self) -> tuple[Array, Array]:
        """Returns the mean and the standard deviation of the estimated mean of each trial."""
        inverse, rest, constant, variance = self.solved()
        kernel = self.kernel(np.arange(self.data.distance.shape[1]))
        mean = constant + kernel @ inverse @ rest
        left = np.maximum(1 - ((kernel @ inverse) * kernel).sum(1), 1e-9)
        return mean, np.sqrt(left * variance)


def _surprise(value: float, prior: tuple[float, float]) -> float:
    median, spread = prior
    return float(0.5 * (np.log(value / median) / spread) ** 2)


def _fit(data: _Data) -> _Model:
    """Returns the most likely model, found by choosing one scale or the noise at a time."""
    best = _Model(data, (0.4,) * len(data.distance), 0.1)
    cost = best.cost()
    for _ in range(PASSES):
        for at in range(len(best.scales)):
            for scale in SCALES:
                scales = (*best.scales[:at], scale, *best.scales[at + 1 :])
                best, cost = _better(best, cost, _Model(data, scales, best.noise))
        for noise in NOISES:
            best, cost = _better(best, cost, _Model(data, best.scales, noise))
    return best


def _better(best: _Model, cost: float, other: _Model) -> tuple[_Model, float]:
    new = other.cost()
    return (other, new) if new < cost else (best, cost)
