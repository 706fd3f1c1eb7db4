"""Two ways in which an environment itself is at fault, around CartPole."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.envs.classic_control import CartPoleEnv


class InMillimetres(gym.ObservationWrapper[np.ndarray, int, np.ndarray]):
    """Measured in mm and mrad from a point five metres to the left: right, but far from 1."""

    def __init__(self, render_mode: str | None = None) -> None:
        super().__init__(gym.wrappers.TimeLimit(CartPoleEnv(render_mode=render_mode), 500))
        self.observation_space = gym.spaces.Box(-np.inf, np.inf, (4,), np.float32)

    def observation(self, observation: np.ndarray) -> np.ndarray:
        scaled = 1000 * observation
        scaled[0] += 5000
        return scaled.astype(np.float32)


class Deaf(gym.Wrapper[np.ndarray, int, np.ndarray, int]):
    """Draws its own action, whatever it is told."""

    def __init__(self, render_mode: str | None = None) -> None:
        super().__init__(gym.wrappers.TimeLimit(CartPoleEnv(render_mode=render_mode), 500))

    def step(self, action: int) -> Any:
        return super().step(int(self.unwrapped.np_random.integers(2)))
