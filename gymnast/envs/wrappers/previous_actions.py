"""Appends the last actions to the observation; discrete actions are one-hot encoded."""

from __future__ import annotations

from typing import SupportsFloat, Unpack

import gymnasium as gym
import numpy as np

from gymnast.config.sections.env import EnvConfig
from gymnast.envs.env_types import Env, EnvWrapper, Info, ResetArguments
from gymnast.errors import EnvError
from gymnast.spaces.spaces import convert_action_space

Array = np.ndarray


def wrap(env: Env, cfg: EnvConfig) -> Env:
    """Returns the environment with the last actions appended to its observations. Raises EnvError unless
    observations are vectors."""
    space = env.observation_space
    if not isinstance(space, gym.spaces.Box) or len(space.shape) != 1:
        what = f"{cfg.id} has observations {space}, not a vector to which actions can be appended"
        raise EnvError(what, at="env.previous_actions", fix="set env.previous_actions=0")
    return PreviousActions(env, cfg.previous_actions, space)


class PreviousActions(EnvWrapper):
    """Appends the last n actions, oldest first; actions before the start of the episode are 0."""

    def __init__(self, env: Env, n: int, space: gym.spaces.Box) -> None:
        super().__init__(env)
        self._kind = convert_action_space(env.action_space)
        elements = self._kind.elements
        # An option is one of e.n columns. The bounds include 0, the actions before the first one.
        low = np.concatenate([[0.0] * e.n if e.n else [min(e.low, 0.0)] for e in elements])
        high = np.concatenate([[1.0] * e.n if e.n else [max(e.high, 0.0)] for e in elements])
        # the column of each element, or of its first option
        self._columns = np.cumsum([0, *(e.n or 1 for e in elements[:-1])])
        self._actions = np.zeros((n, len(low)), np.float32)
        self.observation_space = gym.spaces.Box(
            np.concatenate([space.low, np.tile(low, n)]).astype(np.float32),
            np.concatenate([space.high, np.tile(high, n)]).astype(np.float32),
        )

    def reset(self, **kwargs: Unpack[ResetArguments]) -> tuple[Array, Info]:
        obs, info = self.env.reset(**kwargs)
        self._actions[:] = 0.0
        return self._append_actions(obs), info

    def step(self, action: object) -> tuple[Array, SupportsFloat, bool, bool, Info]:
        """Steps the environment and returns its result, with the last n actions, including this one, appended
        to the observation."""
        obs, reward, terminated, truncated, info = self.env.step(action)
        self._actions[:-1] = self._actions[1:]
        flat, is_continuous = self._kind.flatten(self._kind.pack(action)), self._kind.is_continuous
        self._actions[-1] = 0.0
        chosen = np.where(is_continuous, 0, flat).astype(np.int64)
        self._actions[-1, self._columns + chosen] = np.where(is_continuous, flat, 1.0)
        return self._append_actions(obs), reward, terminated, truncated, info

    def _append_actions(self, obs: object) -> Array:
        return np.concatenate([np.asarray(obs), self._actions.ravel()], dtype=np.float32)
