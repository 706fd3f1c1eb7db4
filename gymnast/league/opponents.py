"""Whom to play next: probabilities over the entrants of a pool, oldest first. Pure functions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from gymnast.errors import GymnastError

Scheme = Literal["uniform", "recent", "loss"]


@dataclass(frozen=True)
class Choosing:
    """How the next opponent is chosen."""

    by: Scheme = "loss"
    """`uniform`: each as often. `recent`: the newer, the more often. `loss`: the more often the learner
    loses to it, the more often (prioritised fictitious self-play)."""
    decay: float = 0.8
    """Of `recent`: how much less often one is played than the next newer one."""
    power: float = 2.0
    """Of `loss`: 0 is uniform; the higher, the more only the hardest are played."""

    def __post_init__(self) -> None:
        if self.by not in get_args(Scheme):
            known = ", ".join(get_args(Scheme))
            raise GymnastError(f"opponents cannot be chosen by {self.by!r}", fix=f"one of {known}")
        if not 0 < self.decay <= 1:
            raise GymnastError(f"a decay of {self.decay}", fix="above 0, at most 1")
        if not 0 <= self.power < float("inf"):
            raise GymnastError(f"a power of {self.power}", fix="a number from 0")

    def probabilities(self, won: Sequence[float], known: Sequence[int]) -> np.ndarray:
        """[n], of opponents from the oldest to the newest, by the matches that the learner has won
        against each (a drawn one as half) of those whose outcome is known."""
        if not known:
            raise ValueError("nobody to choose from")
        if self.by == "uniform":
            return uniform(len(known))
        if self.by == "recent":
            return recent(len(known), self.decay)
        return by_loss(np.array(won, np.float64), np.array(known, np.float64), self.power)


def uniform(n: int) -> np.ndarray:
    return np.full(n, 1 / n)


def recent(n: int, decay: float) -> np.ndarray:
    """Geometric in age, which is counted in entrants; the newest is last."""
    weight = decay ** np.arange(n - 1, -1, -1.0)
    return weight / weight.sum()


def by_loss(won: np.ndarray, known: np.ndarray, power: float) -> np.ndarray:
    """By the rate of losses to the given power (AlphaStar, doi:10.1038/s41586-019-1724-z). The rate is
    the mean of its Beta posterior from a flat prior: whoever was never met counts as even, and nobody
    is given up for ever."""
    rate = (known - won + 1) / (known + 2)
    weight = (rate / rate.max()) ** power  # the largest is 1, whatever the power
    return weight / weight.sum()
