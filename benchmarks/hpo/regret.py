"""The regret of chosen configurations on seeds that the search has not seen."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Split:
    """The seeds of the table that a search sees, and the seeds that judge its choice."""

    search: tuple[int, ...]
    fresh: tuple[int, ...]

    @classmethod
    def draw(cls, n_seeds: int, rng: np.random.Generator) -> Split:
        """Returns the split of the seeds 0 to n_seeds - 1. The first ones are seen by searches, in a random
        order; the last ones judge every search, so that no option of a method could be chosen on them."""
        n_search = n_seen(n_seeds)
        order = rng.permutation(n_search).tolist()
        return cls(tuple(order), tuple(range(n_search, n_seeds)))


def n_seen(n_seeds: int) -> int:
    """Returns how many seeds of a table searches see: 3 of 5, 2 of 3."""
    return (n_seeds + 1) // 2


def normalized_regret(values: np.ndarray, fresh: tuple[int, ...], chosen: int) -> float:
    """Returns how much worse a configuration is than the best one on the fresh seeds, as a share of the
    difference between the best one and an average one.

    `values`: the objective, [configuration, seed]. The best configuration is the one with the highest mean
    over all seeds of the table: the best on a few fresh seeds would be the luckiest, which nobody could find.
    So the regret of a single search can be negative."""
    best = int(values.mean(1).argmax())
    on_fresh = values[:, list(fresh)].mean(1)
    return float((on_fresh[best] - on_fresh[chosen]) / value_range(values))


def value_range(values: np.ndarray) -> float:
    """Returns the difference between the best configuration and the mean of all, over all seeds."""
    means = values.mean(1)
    return float(means.max() - means.mean())


def bootstrap_interval(
    samples: np.ndarray, rng: np.random.Generator, draws: int = 2000
) -> tuple[float, float]:
    """Returns the 95 % interval of the mean of samples."""
    picked = rng.integers(len(samples), size=(draws, len(samples)))
    low, high = np.quantile(samples[picked].mean(1), (0.025, 0.975))
    return float(low), float(high)
