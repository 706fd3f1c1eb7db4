"""Reward terms for MountainCar."""

from __future__ import annotations

import numpy as np

from gymnast.shaping.steps import ObsBatch, Steps

GRAVITY, FLAG = 0.0025, 0.5
"""The car's velocity changes by -GRAVITY * cos(3 * position) per step; FLAG is the position of the goal."""


def energy(steps: Steps) -> np.ndarray:
    """Returns the shaping term of a potential, the car's mechanical energy: 0 at rest in the valley, 1 at
    rest at the flag."""
    return steps.potential(_energy)


def _energy(obs: ObsBatch) -> np.ndarray:
    """Returns the energy for each observation, [T, N], relative to that at rest at the flag."""
    # The car cannot climb directly: it has to swing, and each swing gains energy although it moves away
    # from the flag half of the time. So energy is a better guide than the position.
    height = _potential_energy(obs["car position"])
    return (height + obs["car velocity"] ** 2 / 2) / _potential_energy(FLAG)


def _potential_energy(position: np.ndarray | float) -> np.ndarray:
    """Returns the potential energy relative to the valley floor, the integral of gravity."""
    return GRAVITY / 3 * (np.sin(3 * np.asarray(position, dtype=np.float64)) + 1)
