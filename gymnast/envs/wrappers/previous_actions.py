"""Appends the last actions to the observation; discrete actions are one-hot encoded."""

from __future__ import annotations

from typing import SupportsFloat, Unpack

import gymnasium as gym
import numpy as np

from gymnast.config.sections.env import EnvConfig
from gymnast.envs.env_types import Env, EnvWrapper, Info, ResetArguments
from gymnast.errors import EnvError

Array = np.ndarray


def wrap(env: Env, cfg: EnvConfig) -> Env:
    """Returns the environment with the last actions appended to its observations. Raises EnvError unless
    observations are vectors and actions Discrete or Box."""
    space, action_space = env.observation_space, env.action_space
    if not isinstance(space, gym.spaces.Box) or len(space.shape) != 1:
        what = f"{cfg.id} has observations {space}, not a vector to which actions can be appended"
        raise EnvError(what, at="env.previous_actions", fix="set env.previous_actions=0")
    if not isinstance(action_space, gym.spaces.Discrete | gym.spaces.Box):
        what = f"the actions of {cfg.id} are {action_space}, neither Discrete nor Box"
        raise EnvError(what, at="env.previous_actions", fix="set env.previous_actions=0")
    return PreviousActions(env, cfg.previous_actions, space, action_space)


class PreviousActions(EnvWrapper):
    """Appends the last n actions, oldest first; actions before the start of the episode are 0."""

    def __init__(
        self,
        env: Env,
        n: int,
        space: gym.spaces.Box,
        action_space: gym.spaces.Discrete | gym.spaces.Box,
    ) -> None:
        super().__init__(env)
        self._action_space = action_space
        if isinstance(action_space, gym.spaces.Discrete):
            low, high = np.zeros(int(action_space.n)), np.ones(int(action_space.n))
        else:
            # The bounds include 0, which stands for the actions before the first one.
            low, high = (
                np.minimum(action_space.low, 0).ravel(),
                np.maximum(action_space.high, 0).ravel(),
            )
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
        chosen = np.asarray(action)
        if isinstance(self._action_space, gym.spaces.Discrete):
            self._actions[-1] = 0.0
            self._actions[-1, int(chosen) - int(self._action_space.start)] = 1.0
        else:
            self._actions[-1] = chosen.ravel()
        return self._append_actions(obs), reward, terminated, truncated, info

    def _append_actions(self, obs: object) -> Array:
        return np.concatenate([np.asarray(obs), self._actions.ravel()], dtype=np.float32)
