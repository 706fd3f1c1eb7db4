"""Reach a target on a line: a small environment to change into your own.

What training relies on: the same seed and actions give the same episode (draw every random number
from `self.np_random`), observations and actions stay inside the spaces declared here, `terminated`
means that nothing follows, and `truncated` that somebody merely stopped looking.
"""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.spaces import Box, Discrete

STEP, NEAR, MAX_STEPS = 0.1, 0.06, 40


class MyEnv(gym.Env[np.ndarray, int]):
    """See where you and the target are, step left or right, stop when you are there."""

    metadata = {"render_modes": ["rgb_array"], "render_fps": 10}

    def __init__(self, render_mode: str | None = None) -> None:
        """Further arguments can be set as env.kwargs in the preset."""
        self.render_mode = render_mode
        self.observation_space = Box(-1.0, 1.0, (2,), np.float32)  # position, target
        self.action_space = Discrete(3)  # left, stay, right

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        super().reset(seed=seed, options=options)  # seeds self.np_random
        self.position, self.target = self.np_random.uniform(-1.0, 1.0, 2)
        self.steps = 0
        return self._observation(), self._info()

    def step(self, action: int) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        self.position = float(np.clip(self.position + STEP * (action - 1), -1.0, 1.0))
        self.steps += 1
        terminated = self._is_near()
        truncated = self.steps >= MAX_STEPS
        reward = 1.0 if terminated else -0.05  # arrive, and do not dawdle
        return self._observation(), reward, terminated, truncated, self._info()

    def render(self) -> np.ndarray | None:
        """A picture [height, width, 3] of how it stands, for films."""
        if self.render_mode != "rgb_array":
            return None
        import pygame

        picture = pygame.Surface((400, 100))
        picture.fill((255, 255, 255))
        pygame.draw.line(picture, (180, 180, 180), (20, 50), (380, 50), 2)
        for place, colour, radius in (
            (self.target, (60, 160, 80), 14),
            (self.position, (40, 90, 200), 8),
        ):
            pygame.draw.circle(picture, colour, (200 + 180 * place, 50), radius)
        return np.transpose(pygame.surfarray.array3d(picture), (1, 0, 2))

    def _observation(self) -> np.ndarray:
        return np.array([self.position, self.target], dtype=np.float32)

    def _is_near(self) -> bool:
        return bool(abs(self.position - self.target) < NEAR)

    def _info(self) -> dict[str, Any]:
        """Numbers that the preset may declare as metrics, read at the end of an episode."""
        info: dict[str, Any] = {"success": float(self._is_near())}
        # Where some actions are forbidden now, say which ones are allowed:
        # info["action_mask"] = np.array([self.position > -1, True, self.position < 1])
        return info
