"""Reward terms for CartPole."""

from __future__ import annotations

import numpy as np

from gymnast.shaping.steps import Steps

EDGE = 2.4
"""Distance from the center at which an episode ends, in meters."""


def center_penalty(steps: Steps) -> np.ndarray:
    """Returns minus the distance from the center, from 0 to -1. This is a cost, not a potential: it is meant
    to change which policy is best, so that the cart stays near the center."""
    return -np.abs(steps.obs["cart position"]) / EDGE
