"""The last observations shown together: images as channels, anything else side by side."""

from __future__ import annotations

from collections import deque
from typing import Any

import gymnasium as gym
import numpy as np

from gymnast.config.sections.env import EnvConfig
from gymnast.errors import EnvError
from gymnast.policy import spaces
from gymnast.policy.spaces import Image

Array = np.ndarray


def around(env: gym.Env[Any, Any], cfg: EnvConfig) -> gym.Env[Any, Any]:
    space = env.observation_space
    if not isinstance(space, gym.spaces.Box):
        kind = type(space).__name__
        raise EnvError(f"observations of {cfg.id} are of {kind}, not Box", at="env.stack")
    return Stacked(env, cfg.stack, space)


class Stacked(gym.Wrapper[Any, Any, Any, Any]):
    def __init__(self, env: gym.Env[Any, Any], n: int, space: gym.spaces.Box) -> None:
        super().__init__(env)
        kind = spaces.observation(space)
        self._seen: deque[Array] = deque(maxlen=n)
        flat = not isinstance(kind, Image)
        self._whole = (lambda x: x.ravel()) if flat else _as_channels(kind)
        self._axis = -1 if isinstance(kind, Image) and _channels_last(kind) else 0
        low, high = (self._joined([x] * n) for x in (space.low, space.high))
        self.observation_space = gym.spaces.Box(low, high, low.shape, space.dtype.type)

    def reset(self, **how: Any) -> tuple[Array, dict[str, Any]]:
        obs, info = self.env.reset(**how)
        self._seen.extend([obs] * (self._seen.maxlen or 1))
        return self._joined(self._seen), info

    def step(self, action: Any) -> tuple[Array, Any, bool, bool, dict[str, Any]]:
        obs, *rest = self.env.step(action)
        self._seen.append(obs)
        return self._joined(self._seen), *rest

    def _joined(self, pieces: Any) -> Array:
        return np.concatenate([self._whole(piece) for piece in pieces], self._axis)


def _as_channels(image: Image) -> Any:
    return (lambda x: x[None]) if len(image.shape) == 2 else (lambda x: x)


def _channels_last(image: Image) -> bool:
    return len(image.shape) == 3 and image.channels == "last"
