"""Reward terms for Pong, computed from the positions of ball and paddles (`env.view=objects`)."""

from __future__ import annotations

import numpy as np

from gymnast.errors import ConfigError
from gymnast.shaping.steps import Steps, TermContext


class PaddleHits:
    """Pays 1 for each step in which the player returns the ball: it is in the right quarter of the court, at
    the height of the paddle, and its horizontal velocity changes from right to left. A step that scores
    a point does not count, since the next ball starts anywhere."""

    def __init__(self, context: TermContext, reach: float = 0.15) -> None:
        """`reach`: maximum vertical distance between ball and paddle, as a fraction of the court's height."""
        ranges = {part.name: (part.low, part.high) for part in context.components}
        (left, right), (low, high) = ranges["ball x"], ranges["ball y"]
        self._middle, self._quarter = (left + right) / 2, (left + 3 * right) / 4
        self._reach = reach * (high - low)
        if not np.isfinite([self._middle, self._reach]).all():
            raise ConfigError("facts.observations gives no finite range of ball x and ball y")

    def __call__(self, steps: Steps) -> np.ndarray:
        """Returns 1 for each step in which the player hits the ball, else 0, [T, N]."""
        before, after = steps.obs, steps.next_obs
        # A step is several frames: a ball that is hit in the middle of one can end where it started, with
        # velocity 0, hence >= 0 before.
        turned = (before["ball x velocity"] >= 0) & (after["ball x velocity"] < 0)
        ours = (before["ball x"] > self._quarter) & (after["ball x"] > self._middle)
        gap = np.minimum(*(np.abs(obs["ball y"] - obs["player y"]) for obs in (before, after)))
        same_ball = steps.reward == 0
        return (turned & ours & (gap <= self._reach) & same_ball).astype(np.float64)
