"""The episodes that end during a rollout: noted by vector step, read as arrays afterwards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gymnast.collect.running import RunningEpisodes
from gymnast.rollout import Episodes

Array = np.ndarray


@dataclass(frozen=True)
class EpisodeEnds:
    """In the order in which they came, [K] each."""

    t: Array
    """The step that ended it."""
    episodes: Episodes
    final_obs: Array
    """What it reached, [K, ...]."""

    @property
    def env(self) -> Array:
        return self.episodes.env

    @property
    def begins(self) -> Array:
        """First step of each on this tape; 0 also for one that came from an earlier tape."""
        return np.maximum(self.t + 1 - self.episodes.length, 0)

    def cut(self) -> tuple[tuple[Array, Array], Array]:
        """Steps and copies of those that were cut short, and what they reached."""
        cut = self.episodes.truncated
        return (self.t[cut], self.env[cut]), self.final_obs[cut]


class EpisodeEndRecorder:
    def __init__(self, obs: Array, running: RunningEpisodes) -> None:
        """`obs`: of the kind that the copies show, [N, ...]."""
        self._running = running
        self._t: list[int] = []
        self._env: list[Array] = [np.zeros(0, dtype=np.int64)]
        self._row: list[Array] = [running.table[:0]]
        self._truncated: list[Array] = [np.zeros(0, dtype=bool)]
        self._obs: list[Array] = [obs[:0]]
        self._numbers: list[dict[str, float]] = []

    def record(
        self,
        t: int,
        envs: Array,
        terminated: Array,
        obs: Array,
        numbers: Sequence[dict[str, float]],
    ) -> None:
        """These copies ended an episode with step t. `terminated`, `obs`: of all copies, [N, ...]."""
        self._t.append(t)
        self._env.append(envs)
        self._row.append(self._running.table[envs])
        self._truncated.append(~terminated[envs])
        self._obs.append(obs[envs])
        self._numbers.extend(numbers)

    def all(self) -> EpisodeEnds:
        # joined as plain numbers: NumPy takes its time over records
        row = np.concatenate([row.view(np.int64) for row in self._row]).view(self._row[0].dtype)
        env = np.concatenate(self._env)
        episodes = Episodes(
            raw_return=row["raw_return"].copy(),
            length=row["length"].copy(),
            env=env,
            seed=row["seed"].copy(),
            truncated=np.concatenate(self._truncated),
            numbers=tuple(self._numbers),
        )
        t = np.repeat(np.array(self._t, dtype=np.int64), [len(envs) for envs in self._env[1:]])
        return EpisodeEnds(t, episodes, np.concatenate(self._obs))
