"""For observations that keep a tally: health, ammunition, kills, money."""

from __future__ import annotations

import numpy as np

from gymnast.shaping.steps import Seen, Steps


def change(steps: Steps, component: str, index: int = 0) -> np.ndarray:
    """How much a component rose; `index` chooses one number where it has several, as VizDoom's
    `gamevariables`. With a true end nothing is shown of what it was at last, so nothing is paid."""

    def level(seen: Seen) -> np.ndarray:
        part = seen[component].astype(np.float64)
        return part.reshape(*part.shape[:2], -1)[..., index]

    return np.where(steps.terminated, 0.0, level(steps.after) - level(steps.before))
