"""For episodes that may drag on: a lander that hovers, a snake in a circle."""

from __future__ import annotations

import numpy as np

from gymnast.shaping.steps import Steps


def late(steps: Steps, after: int = 200) -> np.ndarray:
    """-1 for every step that an episode takes beyond its first so many."""
    return -(steps.age >= after).astype(np.float64)
