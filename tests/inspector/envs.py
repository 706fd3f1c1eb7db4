"""Environments that are hard to replay or to show."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.spaces import Box, Dict, Discrete

from tests.film.film_envs import Swatch

UNSEEDED = np.random.default_rng(0)


class Drift(Swatch):
    """Has always the same rewards, but observations that ignore the seed."""

    def step(self, action: int) -> tuple[np.ndarray, float, bool, bool, dict]:
        _, _, terminated, truncated, info = super().step(action)
        return UNSEEDED.random(1, np.float32), 1.0, terminated, truncated, info


class Cockpit(gym.Env[Any, Any]):
    """Observes a camera and an altitude, has no renderer, and rewards that ignore the seed."""

    def __init__(self, length: int = 6) -> None:
        self.length, self.action_space = length, Discrete(2)
        self.observation_space = Dict(
            altitude=Box(0, 1, (2,), np.float32), camera=Box(0, 255, (12, 16, 3), np.uint8)
        )

    def _observed(self) -> dict[str, np.ndarray]:
        camera = np.full((12, 16, 3), 10 * self.t, np.uint8)
        return {"altitude": np.full(2, self.t / 10, np.float32), "camera": camera}

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict]:
        super().reset(seed=seed)
        self.t = 0
        return self._observed(), {}

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict]:
        self.t += 1
        return self._observed(), UNSEEDED.random(), self.t == self.length, False, {}
