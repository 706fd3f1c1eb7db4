"""The recent win rate of a learner. Older matches are forgotten, because the policy has changed since."""

from __future__ import annotations

from collections import deque
from typing import TypedDict

from gymnast.errors import GymnastError
from gymnast.rl.interval import Interval
from gymnast.rl.statistics import wilson_interval


class WinsState(TypedDict):
    """The state of RecentWins that a checkpoint stores."""

    last: list[float]
    unknown: int


class RecentWins:
    """The last known outcomes, from one side, in a window of fixed size."""

    def __init__(self, window: int) -> None:
        """`window`: the largest number of known outcomes that count; at least 1, else GymnastError."""
        if window < 1:
            raise GymnastError(
                f"a win rate over {window} matches", fix="use a window of at least 1 match"
            )
        self.unknown = 0
        """Number of matches with an unknown outcome, which are not part of the window."""
        self._last: deque[float] = deque(maxlen=window)

    @property
    def window(self) -> int:
        return self._last.maxlen or 0

    def add(self, score: float | None) -> None:
        """Adds the score of a match (see `match_score`): 1 won, 1/2 drawn, 0 lost, None unknown. Raises
        ValueError for another number."""
        if score is None:
            self.unknown += 1
        elif score in (0.0, 0.5, 1.0):
            self._last.append(float(score))
        else:
            raise ValueError(f"the score of a match is 0, 1/2 or 1, not {score}")

    @property
    def n_known(self) -> int:
        """Number of outcomes in the window."""
        return len(self._last)

    @property
    def score(self) -> float:
        """Number of wins in the window; a draw counts as half."""
        return sum(self._last)

    def win_rate(self) -> Interval:
        """Returns the win rate over the window, with its 95 % interval. Without a known outcome the mean is
        NaN and the interval 0 to 1."""
        return wilson_interval(self.score, self.n_known)

    def state(self) -> WinsState:
        return {"last": list(self._last), "unknown": self.unknown}

    def load(self, state: WinsState) -> None:
        """Restores the state; if it comes from a wider window, the newest outcomes are kept."""
        self._last.clear()
        self._last.extend(state["last"])
        self.unknown = state["unknown"]
