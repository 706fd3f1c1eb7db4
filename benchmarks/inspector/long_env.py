"""An environment with long episodes, many observations and large pictures, to measure the inspector."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np

HEIGHT, WIDTH = 400, 600
COMPONENTS = 16


class LongEnv(gym.Env[np.ndarray, np.int64]):
    """A point that the agent moves over a landscape. Every episode has the same length."""

    metadata = {"render_modes": ["rgb_array"], "render_fps": 50}

    def __init__(self, length: int = 5000, render_mode: str | None = None) -> None:
        self.observation_space = gym.spaces.Box(-1.0, 1.0, (COMPONENTS,), np.float32)
        self.action_space = gym.spaces.Discrete(4)
        self.render_mode = render_mode
        self._length, self._step = length, 0
        self._place = np.zeros(2)
        self._noise = np.zeros(COMPONENTS)
        # Smooth and noisy parts, as in rendered games: pictures of one color would compress too well.
        y, x = np.mgrid[0:HEIGHT, 0:WIDTH]
        grain = np.random.default_rng(0).integers(0, 24, (HEIGHT, WIDTH))
        shades = (np.sin(x / 40) * np.cos(y / 30) * 60 + 120 + grain, 90 + x // 8, 60 + y // 4)
        self._landscape = np.stack([shade.astype(np.uint8) for shade in shades], axis=-1)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        super().reset(seed=seed)
        self._step, self._place = 0, self.np_random.uniform(-0.5, 0.5, 2)
        return self._obs(), {}

    def step(self, action: np.int64) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        move = np.array([(1, 0), (-1, 0), (0, 1), (0, -1)][int(action)])
        self._place = np.clip(self._place + 0.02 * move + self.np_random.normal(0, 0.01, 2), -1, 1)
        self._step += 1
        reward = 1.0 - float(np.linalg.norm(self._place))
        is_last = self._step >= self._length
        return self._obs(), reward, False, is_last, {"distance": 1.0 - reward}

    def render(self) -> np.ndarray:
        picture = self._landscape.copy()
        row = int((self._place[1] + 1) / 2 * (HEIGHT - 21))
        column = int((self._place[0] + 1) / 2 * (WIDTH - 21))
        picture[row : row + 20, column : column + 20] = (240, 240, 240)
        return picture

    def _obs(self) -> np.ndarray:
        self._noise = self.np_random.uniform(-1, 1, COMPONENTS)
        self._noise[:2] = self._place
        return self._noise.astype(np.float32)
