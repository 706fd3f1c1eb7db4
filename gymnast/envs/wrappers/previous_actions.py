"""The policy's own last actions, as numbers behind the observation: 1 for the one that was chosen."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np

from gymnast.config.sections.env import EnvConfig
from gymnast.errors import EnvError

Array = np.ndarray


def around(env: gym.Env[Any, Any], cfg: EnvConfig) -> gym.Env[Any, Any]:
    space, taken = env.observation_space, env.action_space
    if not isinstance(space, gym.spaces.Box) or len(space.shape) != 1:
        what = f"{cfg.id} shows {space}, not one row of numbers beside which actions could stand"
        raise EnvError(what, at="env.previous_actions", fix="set env.previous_actions=0")
    if not isinstance(taken, gym.spaces.Discrete | gym.spaces.Box):
        what = f"the actions of {cfg.id} are {taken}, neither Discrete nor Box"
        raise EnvError(what, at="env.previous_actions", fix="set env.previous_actions=0")
    return PreviousActions(env, cfg.previous_actions, space, taken)


class PreviousActions(gym.Wrapper[Any, Any, Any, Any]):
    def __init__(
        self,
        env: gym.Env[Any, Any],
        n: int,
        space: gym.spaces.Box,
        taken: gym.spaces.Discrete | gym.spaces.Box,
    ) -> None:
        super().__init__(env)
        self._taken = taken
        if isinstance(taken, gym.spaces.Discrete):
            low, high = np.zeros(int(taken.n)), np.ones(int(taken.n))
        else:
            low, high = np.minimum(taken.low, 0).ravel(), np.maximum(taken.high, 0).ravel()
        self._last = np.zeros((n, len(low)), np.float32)
        self.observation_space = gym.spaces.Box(
            np.concatenate([space.low, np.tile(low, n)]).astype(np.float32),
            np.concatenate([space.high, np.tile(high, n)]).astype(np.float32),
        )

    def reset(self, **how: Any) -> tuple[Array, dict[str, Any]]:
        obs, info = self.env.reset(**how)
        self._last[:] = 0.0
        return self._beside(obs), info

    def step(self, action: Any) -> tuple[Array, Any, bool, bool, dict[str, Any]]:
        obs, reward, terminated, truncated, info = self.env.step(action)
        self._last[:-1] = self._last[1:]
        if isinstance(self._taken, gym.spaces.Discrete):
            self._last[-1] = 0.0
            self._last[-1, int(action) - int(self._taken.start)] = 1.0
        else:
            self._last[-1] = np.ravel(action)
        return self._beside(obs), reward, terminated, truncated, info

    def _beside(self, obs: Array) -> Array:
        return np.concatenate([obs, self._last.ravel()], dtype=np.float32)
