"""For Pong, over the places of ball and paddles."""

from __future__ import annotations

import numpy as np

from gymnast.errors import ConfigError
from gymnast.shaping.steps import Scene, Steps


class Hit:
    """1 for each step in which the ball, in the player's quarter of the court on the right and level
    with the paddle, turns round to the left. Where a point was made it does not count: the next ball
    may come from anywhere."""

    def __init__(self, scene: Scene, reach: float = 0.15) -> None:
        """`reach`: how far the ball's height may be from the paddle's, as a share of the court's."""
        ranges = {part.name: (part.low, part.high) for part in scene.components}
        (left, right), (low, high) = ranges["ball x"], ranges["ball y"]
        self._middle, self._quarter = (left + right) / 2, (left + 3 * right) / 4
        self._reach = reach * (high - low)
        if not np.isfinite([self._middle, self._reach]).all():
            raise ConfigError("facts.observations gives no finite range of ball x and ball y")

    def __call__(self, steps: Steps) -> np.ndarray:
        before, after = steps.before, steps.after
        # a step may be several frames: a ball hit in the middle of one can end where it began, at speed 0
        turned = (before["ball x velocity"] >= 0) & (after["ball x velocity"] < 0)
        ours = (before["ball x"] > self._quarter) & (after["ball x"] > self._middle)
        gap = np.minimum(*(np.abs(seen["ball y"] - seen["player y"]) for seen in (before, after)))
        same_ball = (steps.reward == 0) & ~steps.terminated
        return (turned & ours & (gap <= self._reach) & same_ball).astype(np.float64)
