"""BipedalWalker, whose episodes are a function of their seed: each in a world of its own.

Gymnasium's goes on with the world of the episode before, of which Box2D remembers something (as
https://github.com/Farama-Foundation/Gymnasium/issues/728 says of the lander, where it is mended).
"""

from __future__ import annotations

from typing import Any

import Box2D
from gymnasium.envs.box2d.bipedal_walker import BipedalWalker


class SeededBipedalWalker(BipedalWalker):
    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        self._destroy()
        self.world = Box2D.b2World()
        return super().reset(seed=seed, options=options)
