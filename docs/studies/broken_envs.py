"""Two versions of CartPole in which the environment itself is the problem."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.envs.classic_control import CartPoleEnv


class InMillimetres(gym.ObservationWrapper[np.ndarray, int, np.ndarray]):
    """CartPole in millimeters and milliradians, measured from a point five meters to the left: correct, but
    the observations are in the thousands."""

    def __init__(self, render_mode: str | None = None) -> None:
        super().__init__(gym.wrappers.TimeLimit(CartPoleEnv(render_mode=render_mode), 500))
        self.observation_space = gym.spaces.Box(-np.inf, np.inf, (4,), np.float32)

    def observation(self, observation: np.ndarray) -> np.ndarray:
        scaled = 1000 * observation
        scaled[0] += 5000
        return scaled.astype(np.float32)


class Deaf(gym.Wrapper[np.ndarray, int, np.ndarray, int]):
    """CartPole that ignores the given action and takes a random one."""

    def __init__(self, render_mode: str | None = None) -> None:
        super().__init__(gym.wrappers.TimeLimit(CartPoleEnv(render_mode=render_mode), 500))

    def step(self, action: int) -> Any:
        return super().step(int(self.unwrapped.np_random.integers(2)))
