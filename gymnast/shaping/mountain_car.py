"""For MountainCar."""

from __future__ import annotations

import numpy as np

from gymnast.shaping.steps import Seen, Steps

GRAVITY, FLAG = 0.0025, 0.5
"""The car's velocity changes by -GRAVITY * cos(3 * position) in a step; the flag's position."""


def energy(steps: Steps) -> np.ndarray:
    """Potential: 0 at rest in the valley, 1 at rest at the flag."""
    return steps.potential(_energy)


def _energy(seen: Seen) -> np.ndarray:
    height = _lifted(seen["car position"])
    return (height + seen["car velocity"] ** 2 / 2) / _lifted(FLAG)


def _lifted(position: np.ndarray | float) -> np.ndarray:
    """What it takes to get there from the valley's floor, by the integral of gravity."""
    return GRAVITY / 3 * (np.sin(3 * np.asarray(position, dtype=np.float64)) + 1)
