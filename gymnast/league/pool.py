"""The pool of past selves of one role, which opponents train against."""

from __future__ import annotations

from typing import TypedDict

import numpy as np

from gymnast.errors import GymnastError
from gymnast.league.opponents import OpponentSampling
from gymnast.league.wins import RecentWins, WinsState


class EntrantState(WinsState):
    step: int


class PoolState(TypedDict):
    """The state of a pool that a checkpoint stores: its past selves, oldest first."""

    entrants: list[EntrantState]


class SnapshotPool:
    """Past selves, named by the env step of their snapshot, from the oldest to the newest.

    For each of them, the pool records the last outcomes of matches against it, from the side of the learner
    that draws from this pool.
    """

    def __init__(self, keep: int, window: int) -> None:
        """`keep`: the largest number of past selves, at least 2 (else GymnastError); `window`: the number of
        outcomes that are recorded for each of them."""
        if keep < 2:
            raise GymnastError(
                f"the pool keeps {keep} past selves",
                fix="keep at least 2: the first and the newest",
            )
        self.max_size = keep
        self.window = window
        """Number of outcomes recorded for each past self."""
        self.win_records: dict[int, RecentWins] = {}
        """Results of the learner against each past self, by its step, oldest first."""

    @property
    def steps(self) -> list[int]:
        return list(self.win_records)

    def add(self, step: int) -> list[int]:
        """Adds a past self, the snapshot at env step `step`; raises ValueError if that is not newer than all
        others. Returns the steps that were removed to make room: of the one with the closest neighbors, so
        that history stays evenly covered, but never of the first or the newest."""
        if self.win_records and step <= self.steps[-1]:
            raise ValueError(f"step {step} is not after {self.steps[-1]}, the newest of the pool")
        self.win_records[step] = RecentWins(self.window)
        removed: list[int] = []
        while len(self.win_records) > self.max_size:
            removed.append(_most_redundant(self.steps))
            del self.win_records[removed[-1]]
        return removed

    def record_score(self, step: int, score: float | None) -> None:
        """Records the learner's score (1 won, 1/2 drawn, 0 lost, None unknown) against the past self of env
        step `step`; ignored if that has left the pool meanwhile."""
        if step in self.win_records:
            self.win_records[step].add(score)

    def probabilities(self, sampling: OpponentSampling) -> dict[int, float]:
        """Returns the probability with which each past self is drawn, by step. Raises ValueError if the pool
        is empty."""
        records = self.win_records.values()
        won, known = [record.score for record in records], [record.n_known for record in records]
        probabilities = sampling.probabilities(won, known)
        return dict(zip(self.win_records, probabilities.tolist(), strict=True))

    def sample(self, sampling: OpponentSampling, rng: np.random.Generator) -> int:
        """Draws the next opponent and returns its step. Uses exactly one random number of `rng`. Raises
        ValueError if the pool is empty."""
        probabilities = np.fromiter(self.probabilities(sampling).values(), np.float64)
        # The last bound is not used: rounding could put it below the number that is drawn.
        upper = np.cumsum(probabilities)
        return self.steps[int(np.searchsorted(upper[:-1], rng.random(), side="right"))]

    def state(self) -> PoolState:
        return {
            "entrants": [{"step": step, **wins.state()} for step, wins in self.win_records.items()]
        }

    def load(self, state: PoolState) -> list[int]:
        """Restores a state from `state()`. Returns the steps of past selves that were removed because this
        pool keeps fewer."""
        self.win_records.clear()
        removed: list[int] = []
        for entrant in state["entrants"]:
            removed += self.add(entrant["step"])
            self.win_records[entrant["step"]].load(entrant)
        return removed


def _most_redundant(steps: list[int]) -> int:
    """Returns the step whose removal leaves the smallest gap; the oldest, if several do."""
    inner = range(1, len(steps) - 1)
    return steps[min(inner, key=lambda i: steps[i + 1] - steps[i - 1])]
