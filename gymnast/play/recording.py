"""Records an episode that a person plays as a trace, next to what a policy would have decided."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from gymnast.config.config import Config
from gymnast.envs.backends.backend import info_metrics
from gymnast.film.renderer import EnvRenderer
from gymnast.policy.policy import Policy
from gymnast.runs.trace import Trace
from gymnast.spaces import spaces

Array = np.ndarray


class EpisodeRecording:
    """The steps of one episode so far. With a policy, its distribution and its value are recorded for every
    state, so that the inspector shows what it would have done; without one, there are none."""

    def __init__(
        self, config: Config, renderer: EnvRenderer, policy: Policy | None, version: int
    ) -> None:
        """`renderer`: the environment, which is reset and stepped elsewhere; `version`: env steps of the
        policy, 0 without one."""
        self._config, self._renderer = config, renderer
        self._policy, self._version = policy, version
        # Other environments may not repeat the episode.
        self._keeps_obs = config.facts.deterministic != "yes"
        self._space = (
            spaces.convert_obs_space(renderer.env.observation_space)
            if policy is None
            else policy.obs_space
        )
        self._state = None if policy is None else policy.initial_state(1)
        """The policy state before the next observation; None without a policy."""
        self._obs: list[Array] = []
        self._steps: list[tuple[Array, float, float, Array]] = []
        """Action, reward, value and distribution parameters of every step."""

    def __len__(self) -> int:
        return len(self._steps)

    def see(self, obs: object) -> None:
        """Records an observation, the first one or that after a step."""
        self._row = spaces.as_rows(self._space, [obs])  # [1, ...]
        if self._keeps_obs:
            self._obs.append(self._row)
        self._value, self._dist = self._decide()

    def add(self, action: Array, reward: float, obs: object) -> None:
        """Records a step: the action as a row, and the observation after it."""
        self._steps.append((action, reward, self._value, self._dist))
        self.see(obs)

    def trace(self, seed: int, *, terminated: bool, truncated: bool) -> Trace:
        """Returns the steps so far, of which there must be at least one. Both are False for an episode that
        was stopped."""
        actions, rewards, values, dists = zip(*self._steps, strict=True)
        is_over = terminated or truncated
        info: Mapping[str, object] = self._renderer.info
        keys, name = self._config.info_keys(), self._config.env.id
        return Trace(
            seed=seed,
            action=np.stack(actions).astype(self._renderer.action_space.row_spec.dtype),
            reward=np.array(rewards, np.float64),
            value=np.array(values, np.float32),
            dist=np.stack(dists),
            obs=np.concatenate(self._obs) if self._keeps_obs else None,
            terminated=terminated,
            truncated=truncated and not terminated,
            raw_return=math.fsum(rewards),
            env=0,
            version=self._version,
            numbers=info_metrics(info, keys, name) if is_over else {},
        )

    def _decide(self) -> tuple[float, Array]:
        """Returns the value and the distribution parameters of the policy in the current state; NaN and none
        without a policy."""
        if self._policy is None or self._state is None:
            return math.nan, np.zeros(0, np.float32)
        mask = self._renderer.action_mask
        allowed = None if mask is None else spaces.as_masks(self._policy.action_space, [mask])
        dist, value, self._state = self._policy.step(self._row, self._state, allowed)
        return float(value[0]), dist[0]
