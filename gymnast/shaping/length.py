"""A reward term against episodes that drag on: a lander that hovers, a snake that circles."""

from __future__ import annotations

import numpy as np

from gymnast.shaping.steps import Steps


def late_penalty(steps: Steps, after: int = 200) -> np.ndarray:
    """Returns -1 for every step of an episode beyond the first `after` steps."""
    return -(steps.age >= after).astype(np.float64)
