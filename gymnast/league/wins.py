"""How often a learner has won lately. Never since the start: whoever learns is no longer who began."""

from __future__ import annotations

from collections import deque
from typing import Any

from gymnast.errors import GymnastError
from gymnast.rl.statistics import Interval, wilson_interval


class Wins:
    """The last known outcomes, seen from one side."""

    def __init__(self, window: int) -> None:
        if window < 1:
            raise GymnastError(f"a win rate over {window} matches", fix="a window of at least 1")
        self.unknown = 0
        """Matches whose outcome nobody knows. They are counted here and nowhere else."""
        self._last: deque[float] = deque(maxlen=window)

    @property
    def window(self) -> int:
        return self._last.maxlen or 0

    def add(self, score: float | None) -> None:
        """As `results.score` tells it: 1 won, 1/2 drawn, 0 lost, None unknown."""
        if score is None:
            self.unknown += 1
        elif score in (0.0, 0.5, 1.0):
            self._last.append(float(score))
        else:
            raise ValueError(f"a match is worth 0, 1/2 or 1, not {score}")

    @property
    def known(self) -> int:
        """Outcomes in the window."""
        return len(self._last)

    @property
    def score(self) -> float:
        """Matches of the window that were won, a drawn one as half."""
        return sum(self._last)

    def rate(self) -> Interval:
        """The share of the window that was won."""
        return wilson_interval(self.score, self.known)

    def state(self) -> dict[str, Any]:
        return {"last": list(self._last), "unknown": self.unknown}

    def load(self, state: dict[str, Any]) -> None:
        """Of a wider window, the newest are kept."""
        self._last.clear()
        self._last.extend(state["last"])
        self.unknown = state["unknown"]
