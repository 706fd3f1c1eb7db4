"""The episodes that end during a rollout: recorded at each vector step, returned as arrays afterwards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gymnast.collect.running_episodes import RunningEpisodes
from gymnast.rollout import Episodes

Array = np.ndarray


@dataclass(frozen=True)
class EpisodeEnds:
    """The K episodes that ended during a rollout, in the order in which they ended."""

    t: Array
    """Index of each episode's last step within the rollout, [K]."""
    episodes: Episodes
    final_obs: Array
    """Observation after each episode's last step, before the reset, [K, ...]."""
    final_state: Array | None = None
    """Policy state with which each final observation is valued, [K, S]; None without memory."""

    @property
    def env(self) -> Array:
        return self.episodes.env

    @property
    def first_step(self) -> Array:
        """First step of each episode in the rollout, [K]; 0 if it started in an earlier rollout."""
        return np.maximum(self.t + 1 - self.episodes.length, 0)

    def truncations(self) -> tuple[tuple[Array, Array], Array]:
        """Returns ((steps, copies), final observations) of the truncated episodes, whose next value must
        be bootstrapped."""
        cut = self.episodes.truncated
        return (self.t[cut], self.env[cut]), self.final_obs[cut]

    def truncated_states(self) -> Array | None:
        """Returns the policy states after the last steps of the truncated episodes; None without memory."""
        return None if self.final_state is None else self.final_state[self.episodes.truncated]


class EpisodeEndRecorder:
    """Collects the episode ends of one rollout. Several copies may end in the same vector step."""

    def __init__(self, obs: Array, running: RunningEpisodes) -> None:
        """`obs`: any observations of all copies, [N, ...]; only their shape and dtype are used."""
        self._running = running
        # The lists start with an empty array of the right dtype, so that `all` can always concatenate.
        self._t: list[int] = []
        self._env: list[Array] = [np.zeros(0, dtype=np.int64)]
        self._row: list[Array] = [running.table[:0]]
        self._truncated: list[Array] = [np.zeros(0, dtype=bool)]
        self._obs: list[Array] = [obs[:0]]
        self._state: list[Array] = []
        self._numbers: list[dict[str, float]] = []

    def record(
        self,
        t: int,
        envs: Array,
        terminated: Array,
        obs: Array,
        metrics: Sequence[dict[str, float]],
        state: Array | None = None,
    ) -> None:
        """Records that the copies `envs` ended an episode with step t. `terminated` and `obs` are of all
        copies, [N, ...], as is `state`, the policy states after the step; `metrics` has one entry per ended
        episode, or none at all. Indexing with `envs` copies what must survive: the caller is about to reset
        these copies."""
        self._t.append(t)
        self._env.append(envs)
        self._row.append(self._running.table[envs])
        self._truncated.append(~terminated[envs])
        self._obs.append(obs[envs])
        self._numbers.extend(metrics)
        if state is not None:
            self._state.append(state[envs])

    def all(self) -> EpisodeEnds:
        """Returns all episode ends recorded so far."""
        # Concatenated as plain int64, because NumPy is slow with structured dtypes.
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
        state = np.concatenate(self._state) if self._state else None
        return EpisodeEnds(t, episodes, np.concatenate(self._obs), state)
