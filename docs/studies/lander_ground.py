"""The shaping term of the study lander-ground.md."""

from __future__ import annotations

import numpy as np

from gymnast.shaping.steps import Steps


def engine_on_ground(steps: Steps) -> np.ndarray:
    """Returns -1 for every step in which both legs touch the ground and an engine fires."""
    landed = (steps.obs["left leg touches"] > 0.5) & (steps.obs["right leg touches"] > 0.5)
    return -(landed & (steps.action != 0)).astype(np.float64)


def quiet_on_ground(steps: Steps) -> np.ndarray:
    """Returns 1 for every step in which both legs touch the ground and no engine fires."""
    landed = (steps.obs["left leg touches"] > 0.5) & (steps.obs["right leg touches"] > 0.5)
    return (landed & (steps.action == 0)).astype(np.float64)
