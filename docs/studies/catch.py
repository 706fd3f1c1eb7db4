"""A small game with pixel observations that is learned within seconds."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np

TASK = "py:catch:Catch"
SIDE, CELL = 5, 8
SETTINGS: dict[str, Any] = {
    "stop.env_steps": 16_384,
    "eval.every": "1024 env_steps",
    "env.n_envs": 8,
    "algo.n_steps": 128,
    "algo.batch_size": 256,
    "algo.lr": 1e-3,
    "algo.entropy_coef": 0.01,
    "policy.hidden": [],
    "facts.deterministic": "yes",
}


class Catch(gym.Env[np.ndarray, np.int64]):
    """A ball falls from a random column of five; a paddle in the lowest row moves left, stays or moves
    right. The reward is 1 for catching the ball and -1 otherwise. Observations are 40 x 40 pixels."""

    def __init__(self) -> None:
        size = SIDE * CELL
        self.observation_space = gym.spaces.Box(0, 255, (size, size, 1), np.uint8)
        self.action_space = gym.spaces.Discrete(3)
        self.row = self.ball = self.paddle = 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[np.ndarray, dict]:
        super().reset(seed=seed)
        self.row, self.ball = 0, int(self.np_random.integers(SIDE))
        self.paddle = int(self.np_random.integers(SIDE))
        return self._picture(), {}

    def step(self, action: np.int64) -> tuple[np.ndarray, float, bool, bool, dict]:
        self.row += 1
        self.paddle = min(max(self.paddle + int(action) - 1, 0), SIDE - 1)
        over = self.row == SIDE - 1
        reward = (1.0 if self.ball == self.paddle else -1.0) if over else 0.0
        return self._picture(), reward, over, False, {}

    def _picture(self) -> np.ndarray:
        cells = np.zeros((SIDE, SIDE), dtype=np.uint8)
        cells[SIDE - 1, self.paddle] = 128
        cells[self.row, self.ball] = 255
        return np.kron(cells, np.ones((CELL, CELL), dtype=np.uint8))[:, :, None]
