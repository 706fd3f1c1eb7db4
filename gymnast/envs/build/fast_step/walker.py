"""BipedalWalker with a new Box2D world for every episode, so that an episode depends only on its seed.

Gymnasium reuses the world of the previous episode, in which Box2D keeps hidden state (the same bug was
fixed for LunarLander: https://github.com/Farama-Foundation/Gymnasium/issues/728).
"""

from __future__ import annotations

from typing import Any

import Box2D
from gymnasium.envs.box2d.bipedal_walker import BipedalWalker


class SeededBipedalWalker(BipedalWalker):
    """Replaces the world before Gymnasium's reset fills it."""

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        self._destroy()  # bodies belong to the old world
        self.world = Box2D.b2World()
        return super().reset(seed=seed, options=options)
