"""The latest episodes of a role, and what a row says of them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from gymnast.metrics.families.experience import WINDOW
from gymnast.rl.statistics import spread
from gymnast.rollout import Episodes
from gymnast.seeds import task_of


class RecentEpisodes:
    def __init__(self, tasks: Sequence[str] = ()) -> None:
        """`tasks`: those that are told of one by one."""
        self.episodes = Episodes.none()
        self._tasks = tasks
        self._row: dict[str, float] | None = None
        """What is said, until more episodes come."""

    def add(self, ended: Episodes) -> None:
        if len(ended):
            most = WINDOW * (len(self._tasks) or 1)
            self.episodes = self.episodes.followed_by(ended, most)
            self._row = None

    def row(self) -> Mapping[str, float]:
        if self._row is None:
            self._row = _row_of(self.episodes) | self._task_rows()
        return self._row

    def _task_rows(self) -> dict[str, float]:
        """The same of the episodes of each task."""
        row: dict[str, float] = {}
        for task, name in enumerate(self._tasks):
            its = (e for e in self.episodes if task_of(e.seed, len(self._tasks)) == task)
            row |= {f"{name}:{key}": value for key, value in _row_of(Episodes.of(its)).items()}
        return row


def _row_of(episodes: Episodes) -> dict[str, float]:
    """Of the newest ones."""
    count = min(len(episodes), WINDOW)
    if not count:
        return {"episode/count": 0}
    returns = spread(episodes.raw_return[-count:])
    return {
        "episode/count": count,
        "episode/return": returns.mean,
        "episode/return_std": returns.std,
        "episode/return_min": returns.least,
        "episode/return_max": returns.most,
        "episode/length": int(np.add.reduce(episodes.length[-count:])) / count,
        **means_of([*filter(None, episodes.numbers[-count:])]),
    }


def means_of(numbers: Collection[Mapping[str, float]]) -> dict[str, float]:
    """Of each number, over the episodes that told it."""
    names = dict.fromkeys(name for told in numbers for name in told)
    return {n: float(np.mean([told[n] for told in numbers if n in told])) for n in names}
