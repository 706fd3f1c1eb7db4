"""For CartPole."""

from __future__ import annotations

import numpy as np

from gymnast.shaping.steps import Steps

EDGE = 2.4
"""Metres from the middle at which an episode ends."""


def centred(steps: Steps) -> np.ndarray:
    """Minus the distance from the middle, 0 to -1. A cost and no potential: who stays near the middle
    is to be preferred to who does not."""
    return -np.abs(steps.before["cart position"]) / EDGE
