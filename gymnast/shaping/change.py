"""A reward term for counters in the observation: health, ammunition, kills, money."""

from __future__ import annotations

import numpy as np

from gymnast.shaping.steps import ObsBatch, Steps


def component_change(steps: Steps, component: str, index: int = 0) -> np.ndarray:
    """Returns the increase of a component in each step. `index` selects one number of a component that has
    several, such as VizDoom's `gamevariables`."""

    def level(obs: ObsBatch) -> np.ndarray:
        part = obs[component].astype(
            np.float64
        )  # [T, N] or [T, N, k]; unsigned counters would wrap
        return part.reshape(*part.shape[:2], -1)[..., index]

    return level(steps.next_obs) - level(steps.obs)
