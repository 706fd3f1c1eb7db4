"""Past selves of one role, to be played against."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gymnast.errors import GymnastError
from gymnast.league.opponents import Choosing
from gymnast.league.wins import Wins


class Pool:
    """Entrants are named by the step of their checkpoint, in the order in which they came.

    With each go the last outcomes against it, seen from the learner that draws from this pool.
    """

    def __init__(self, keep: int, window: int) -> None:
        if keep < 2:
            raise GymnastError(
                f"a pool that keeps {keep}", fix="keep at least 2: the first and the newest"
            )
        self.keep = keep
        self.window = window
        """Outcomes that are remembered of each."""
        self.against: dict[int, Wins] = {}
        """Step -> what came of matches against it; oldest first."""

    @property
    def steps(self) -> list[int]:
        return list(self.against)

    def add(self, step: int) -> list[int]:
        """Let a newer self in. Returns those that had to leave: whoever is closest to its neighbours,
        so that history stays evenly covered, but never the first or the newest."""
        if self.against and step <= self.steps[-1]:
            raise ValueError(f"step {step} is not after {self.steps[-1]}, the newest of the pool")
        self.against[step] = Wins(self.window)
        left: list[int] = []
        while len(self.against) > self.keep:
            left.append(_crowded(self.steps))
            del self.against[left[-1]]
        return left

    def report(self, step: int, score: float | None) -> None:
        """What a match against one was worth to the learner. Of one that has left meanwhile, nothing is
        kept."""
        if step in self.against:
            self.against[step].add(score)

    def probabilities(self, choosing: Choosing) -> dict[int, float]:
        """Step -> how likely it is drawn."""
        records = self.against.values()
        won, known = [record.score for record in records], [record.known for record in records]
        chances = choosing.probabilities(won, known)
        return dict(zip(self.against, chances.tolist(), strict=True))

    def draw(self, choosing: Choosing, stream: np.random.Generator) -> int:
        """The step of the next opponent. Takes one number of the stream."""
        chances = np.fromiter(self.probabilities(choosing).values(), np.float64)
        upper = np.cumsum(chances)
        return self.steps[int(np.searchsorted(upper[:-1], stream.random(), side="right"))]

    def state(self) -> dict[str, Any]:
        return {"entrants": [{"step": step} | wins.state() for step, wins in self.against.items()]}

    def load(self, state: Mapping[str, Any]) -> list[int]:
        """As it was. Returns those that leave because this pool keeps fewer."""
        self.against.clear()
        left: list[int] = []
        for entrant in state["entrants"]:
            left += self.add(entrant["step"])
            self.against[entrant["step"]].load(entrant)
        return left


def _crowded(steps: list[int]) -> int:
    """Whose leaving opens the smallest gap; the oldest of equals."""
    inner = range(1, len(steps) - 1)
    return steps[min(inner, key=lambda i: steps[i + 1] - steps[i - 1])]
