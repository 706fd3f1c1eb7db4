"""Opponent sampling: pure functions that return a probability for each past self of a pool."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from gymnast.errors import GymnastError

Scheme = Literal["uniform", "recent", "loss"]


@dataclass(frozen=True)
class OpponentSampling:
    """The scheme by which the next opponent is drawn."""

    scheme: Scheme = "loss"
    """`uniform`: all alike. `recent`: newer ones more often. `loss`: the more often the learner loses to an
    opponent, the more often it is played (prioritized fictitious self-play)."""
    decay: float = 0.8
    """Probability of an opponent relative to that of the next newer one, used by `recent`."""
    power: float = 2.0
    """Exponent of the loss rate, used by `loss`. 0 is uniform; high values favor the hardest opponents."""

    def __post_init__(self) -> None:
        """Raises GymnastError for an unknown scheme, a decay outside of 0 to 1 or a power that is negative or
        infinite."""
        if self.scheme not in get_args(Scheme):
            known = ", ".join(get_args(Scheme))
            raise GymnastError(
                f"opponents cannot be sampled by {self.scheme!r}", fix=f"use one of {known}"
            )
        if not 0 < self.decay <= 1:
            raise GymnastError(f"decay is {self.decay}", fix="use a number above 0 and at most 1")
        if not 0 <= self.power < float("inf"):
            raise GymnastError(f"power is {self.power}", fix="use a finite number, at least 0")

    def probabilities(self, wins: Sequence[float], matches: Sequence[int]) -> np.ndarray:
        """Returns the probability of each opponent, [n], from the oldest to the newest. `wins` are the
        matches that the learner won against each (a draw counts as half), of `matches` with a known outcome.
        Raises ValueError if there is no opponent."""
        if not matches:
            raise ValueError("there are no opponents to sample from")
        if self.scheme == "uniform":
            return uniform_probabilities(len(matches))
        if self.scheme == "recent":
            return recency_probabilities(len(matches), self.decay)
        return loss_probabilities(
            np.array(wins, np.float64), np.array(matches, np.float64), self.power
        )


def uniform_probabilities(n: int) -> np.ndarray:
    """Returns the same probability for each of n opponents."""
    return np.full(n, 1 / n)


def recency_probabilities(n: int, decay: float) -> np.ndarray:
    """Returns probabilities that decay geometrically with age, counted in entrants; the newest is last."""
    weight = decay ** np.arange(n - 1, -1, -1.0)
    return weight / weight.sum()


def loss_probabilities(wins: np.ndarray, matches: np.ndarray, power: float) -> np.ndarray:
    """Returns probabilities [n] in proportion to the learner's loss rate to the given power, as in AlphaStar
    (doi:10.1038/s41586-019-1724-z). `wins` [n] of `matches` [n] were won by the learner. The rate is the mean
    of its Beta posterior with a flat prior, so an opponent that was never met counts as even, and no opponent
    is ever excluded."""
    loss_rate = (matches - wins + 1) / (matches + 2)
    # dividing by the largest keeps high powers from underflowing
    weight = (loss_rate / loss_rate.max()) ** power
    return weight / weight.sum()
