"""Frame stacking: images are stacked along the channels, vectors are concatenated.

At the start of an episode, images are preceded by blank frames, as in ALE's vectorized games, and
vectors by copies of the first observation, because 0 may mean something there.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import SupportsFloat, Unpack

import gymnasium as gym
import numpy as np

from gymnast.config.sections.env import EnvConfig
from gymnast.envs.env_types import Env, EnvWrapper, Info, ResetArguments
from gymnast.errors import EnvError
from gymnast.spaces import spaces
from gymnast.spaces.spaces import ImageObs

Array = np.ndarray


def wrap(env: Env, cfg: EnvConfig) -> Env:
    space = env.observation_space
    if not isinstance(space, gym.spaces.Box):
        kind = type(space).__name__
        raise EnvError(f"the observation space of {cfg.id} is {kind}, not Box", at="env.stack")
    return FrameStack(env, cfg.stack, space)


class FrameStack(EnvWrapper):
    """Returns the last n observations as one, oldest first."""

    def __init__(self, env: Env, n: int, space: gym.spaces.Box) -> None:
        super().__init__(env)
        kind = spaces.convert_obs_space(space)
        self._n, self._frames = n, deque[Array](maxlen=n)
        self._images = isinstance(kind, ImageObs)
        self._shape, self._axis = _channels(kind) if isinstance(kind, ImageObs) else ((-1,), 0)
        low, high = (self._stacked([x] * n) for x in (space.low, space.high))
        self.observation_space = gym.spaces.Box(low, high, low.shape, space.dtype.type)

    def reset(self, **kwargs: Unpack[ResetArguments]) -> tuple[Array, Info]:
        first, info = self.env.reset(**kwargs)
        obs = np.asarray(first)
        before = np.zeros_like(obs) if self._images else obs
        self._frames.extend([before] * (self._n - 1) + [obs])
        return self._stacked(self._frames), info

    def step(self, action: object) -> tuple[Array, SupportsFloat, bool, bool, Info]:
        obs, reward, terminated, truncated, info = self.env.step(action)
        self._frames.append(np.asarray(obs))
        return self._stacked(self._frames), reward, terminated, truncated, info

    def _stacked(self, frames: Iterable[Array]) -> Array:
        return np.concatenate([frame.reshape(self._shape) for frame in frames], self._axis)


def _channels(image: ImageObs) -> tuple[tuple[int, ...], int]:
    """Returns the shape of one image with its channels, and the axis of the channels."""
    if len(image.shape) == 2:
        return (1, *image.shape), 0
    return image.shape, -1 if image.channels == "last" else 0
