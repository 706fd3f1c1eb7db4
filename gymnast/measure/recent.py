"""The latest training episodes of a role and their `episode/...` metrics."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from gymnast.metrics.families.experience import WINDOW
from gymnast.rl.statistics import summary_stats
from gymnast.rollout import Episodes
from gymnast.seeds import decode_task


class RecentEpisodes:
    """The latest training episodes of one role, and the metrics of the latest WINDOW of them."""

    def __init__(self, tasks: Sequence[str] = ()) -> None:
        """`tasks` are the names of the tasks, each of which gets metrics of its own; empty for a single
        task."""
        self.episodes = Episodes.empty()
        self._tasks = tasks
        self._row: dict[str, float] | None = None
        """The metrics, cached until more episodes are added."""

    def add(self, ended: Episodes) -> None:
        """Adds finished episodes and drops the oldest ones."""
        if len(ended):
            # room for WINDOW episodes of every task, which are about equally frequent
            limit = WINDOW * (len(self._tasks) or 1)
            self.episodes = self.episodes.concat(ended, limit)
            self._row = None

    def row(self) -> Mapping[str, float]:
        """Returns the `episode/...` metrics, and also those of each task if there are several."""
        if self._row is None:
            self._row = _row_of(self.episodes) | self._task_metrics()
        return self._row

    def _task_metrics(self) -> dict[str, float]:
        """Returns the metrics of the recent episodes of each task, named `TASK:metric`."""
        row: dict[str, float] = {}
        for task, name in enumerate(self._tasks):
            # the seed of an episode encodes its task (seeds.encode_task)
            of_task = (e for e in self.episodes if decode_task(e.seed, len(self._tasks)) == task)
            row |= {
                f"{name}:{key}": value
                for key, value in _row_of(Episodes.from_episodes(of_task)).items()
            }
        return row


def _row_of(episodes: Episodes) -> dict[str, float]:
    """Returns the metrics of the latest WINDOW episodes; only `episode/count` if there are none."""
    count = min(len(episodes), WINDOW)
    if not count:  # no mean return exists yet, and 0 would look like a result
        return {"episode/count": 0}
    returns = summary_stats(episodes.raw_return[-count:])
    return {
        "episode/count": count,
        "episode/return": returns.mean,
        "episode/return_std": returns.std,
        "episode/return_min": returns.minimum,
        "episode/return_max": returns.maximum,
        "episode/length": int(np.add.reduce(episodes.length[-count:])) / count,
        **mean_metrics([*filter(None, episodes.numbers[-count:])]),
    }


def mean_metrics(numbers: Collection[Mapping[str, float]]) -> dict[str, float]:
    """Returns the mean of each metric over the episodes that reported it. `numbers`: the metrics of each
    episode."""
    names = dict.fromkeys(name for reported in numbers for name in reported)
    return {n: float(np.mean([r[n] for r in numbers if n in r])) for n in names}
