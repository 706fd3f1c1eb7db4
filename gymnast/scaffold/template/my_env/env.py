"""Reach a target on a line: a small environment to turn into your own.

Training relies on this: the same seed and actions give the same episode (draw every random number
from `self.np_random`), observations and actions stay inside the declared spaces, `terminated` means
that no further reward is possible, and `truncated` that the episode was merely cut off.
"""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.spaces import Box, Discrete

STEP, NEAR, MAX_STEPS = 0.1, 0.06, 40


class MyEnv(gym.Env[np.ndarray, int]):
    """Observe your position and the target, step left or right, stop at the target."""

    metadata = {"render_modes": ["rgb_array"], "render_fps": 10}

    def __init__(self, render_mode: str | None = None) -> None:
        """Further arguments can be set as env.kwargs in the preset."""
        self.render_mode = render_mode
        self.observation_space = Box(-1.0, 1.0, (2,), np.float32)  # position, target
        self.action_space = Discrete(3)  # left, stay, right

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Starts an episode; returns the first observation and the info. The same seed gives the
        same episode."""
        super().reset(seed=seed, options=options)  # seeds self.np_random
        self.position, self.target = self.np_random.uniform(-1.0, 1.0, 2)
        self.steps = 0
        return self._observation(), self._info()

    def step(self, action: int) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Moves left (action 0), not at all (1) or right (2); returns the observation, the reward,
        whether the target was reached, whether the time is up, and the info."""
        self.position = float(np.clip(self.position + STEP * (action - 1), -1.0, 1.0))
        self.steps += 1
        terminated = self._is_near()
        truncated = self.steps >= MAX_STEPS
        reward = 1.0 if terminated else -0.05  # reach the target, quickly
        return self._observation(), reward, terminated, truncated, self._info()

    def render(self) -> np.ndarray | None:
        """Returns an image [height, width, 3] of the current state, for films."""
        if self.render_mode != "rgb_array":
            return None
        import pygame

        image = pygame.Surface((400, 100))
        image.fill((255, 255, 255))
        pygame.draw.line(image, (180, 180, 180), (20, 50), (380, 50), 2)
        for x, color, radius in (
            (self.target, (60, 160, 80), 14),
            (self.position, (40, 90, 200), 8),
        ):
            pygame.draw.circle(image, color, (200 + 180 * x, 50), radius)
        return np.transpose(pygame.surfarray.array3d(image), (1, 0, 2))

    def _observation(self) -> np.ndarray:
        return np.array([self.position, self.target], dtype=np.float32)

    def _is_near(self) -> bool:
        return bool(abs(self.position - self.target) < NEAR)

    def _info(self) -> dict[str, Any]:
        """Returns numbers that the preset can declare as metrics; they are read at the end of an episode."""
        info: dict[str, Any] = {"success": float(self._is_near())}
        # If some actions are not allowed in the current state, provide a mask:
        # info["action_mask"] = np.array([self.position > -1, True, self.position < 1])
        return info
