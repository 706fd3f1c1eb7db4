"""BipedalWalker with a new Box2D world for every episode, so that an episode depends only on its seed.

Gymnasium reuses the world of the previous episode, in which Box2D keeps hidden state (the same bug was
fixed for LunarLander: https://github.com/Farama-Foundation/Gymnasium/issues/728).
"""

from __future__ import annotations

import Box2D
import numpy as np
from gymnasium.envs.box2d.bipedal_walker import BipedalWalker

from gymnast.envs.env_types import Info, Options


class SeededBipedalWalker(BipedalWalker):
    """Replaces the world before Gymnasium's reset fills it."""

    def reset(self, *, seed: int | None = None, options: Options = None) -> tuple[np.ndarray, Info]:
        self._destroy()  # bodies belong to the old world
        self.world = Box2D.b2World()
        return super().reset(seed=seed, options=options)
