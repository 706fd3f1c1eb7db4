"""For Pong, over the places of ball and paddles."""

from __future__ import annotations

import numpy as np

from gymnast.errors import ConfigError
from gymnast.shaping.steps import Scene, Steps


class Hit:
    """1 for each step in which the ball, on the player's half and level with the paddle, turns from
    right to left. Where a point was made it does not count: the next ball may come from anywhere."""

    def __init__(self, scene: Scene, reach: float = 0.15) -> None:
        """`reach`: how far the ball's height may be from the paddle's, as a share of the court's."""
        ranges = {part.name: (part.low, part.high) for part in scene.components}
        (left, right), (low, high) = ranges["ball x"], ranges["ball y"]
        self._middle, self._reach = (left + right) / 2, reach * (high - low)
        if not np.isfinite([self._middle, self._reach]).all():
            raise ConfigError("facts.observations gives no finite range of ball x and ball y")

    def __call__(self, steps: Steps) -> np.ndarray:
        before, after = steps.before, steps.after
        turned = (before["ball x velocity"] > 0) & (after["ball x velocity"] < 0)
        ours = (before["ball x"] > self._middle) & (after["ball x"] > self._middle)
        level = np.abs(after["ball y"] - after["player y"]) <= self._reach
        same_ball = (steps.reward == 0) & ~steps.terminated
        return (turned & ours & level & same_ball).astype(np.float64)
