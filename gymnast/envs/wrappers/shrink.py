"""Images of fewer pixels: each the mean of a square of the environment's own."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np

from gymnast.config.sections.env import EnvConfig
from gymnast.errors import EnvError


def around(env: gym.Env[Any, Any], cfg: EnvConfig) -> gym.Env[Any, Any]:
    space, factor = env.observation_space, cfg.shrink
    if not (isinstance(space, gym.spaces.Box) and _is_image(space)):
        what = f"{cfg.id} shows no image [height, width] or [height, width, channels], but {space}"
        raise EnvError(
            what, at="env.shrink", fix="see env.keep, which takes an image out of a Dict"
        )
    height, width, *channels = space.shape
    if height % factor or width % factor:
        what = f"{height} x {width} pixels cannot be divided by {factor}"
        raise EnvError(what, at="env.shrink", fix="take a divisor of both")
    small = (height // factor, width // factor, *channels)

    def means(image: np.ndarray) -> np.ndarray:
        total = np.zeros(small, dtype=np.uint32)
        for row in range(factor):
            for column in range(factor):
                total += image[row::factor, column::factor]
        return (total // factor**2).astype(np.uint8)

    return gym.wrappers.TransformObservation(env, means, gym.spaces.Box(0, 255, small, np.uint8))


def _is_image(space: gym.spaces.Box) -> bool:
    return space.dtype == np.uint8 and len(space.shape) in (2, 3)
