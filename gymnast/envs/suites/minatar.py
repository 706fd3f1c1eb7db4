"""MinAtar's games, mended: an episode is a function of its seed, and can be drawn.

MinAtar repeats the last action now and then, and at the first step of an episode that of the episode
before. It draws with seaborn, as fractions; here a palette of our own is enough.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import gymnasium as gym
import numpy as np


@contextmanager
def _no_warning() -> Iterator[None]:
    """MinAtar warns that it cannot draw without libraries of which nothing here has a use."""
    root, silence = logging.getLogger(), logging.NullHandler()
    root.addHandler(silence)
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        yield
    finally:
        logging.disable(before)
        root.removeHandler(silence)


with _no_warning():
    from minatar.gym import BaseEnv

GAMES = ("asterix", "breakout", "freeway", "seaquest", "space_invaders")
_COLOURS = np.array(
    [
        (0, 0, 0),
        (86, 180, 233),
        (230, 159, 0),
        (120, 90, 20),
        (0, 158, 115),
        (204, 121, 167),
        (240, 228, 66),
        (213, 94, 0),
        (0, 114, 178),
        (255, 255, 255),
        (150, 150, 150),
    ],
    dtype=np.uint8,
)
"""Nothing, then a colour per plane."""


class MinAtar(BaseEnv):
    metadata = {"render_modes": ["rgb_array"], "render_fps": 10}

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        self.game.last_action = 0
        return super().reset(seed=seed, options=options)

    def render(self) -> Any:
        """The topmost plane that is set at each place, a pixel each, [10, 10, 3]."""
        if self.render_mode is None:
            return None
        planes = self.game.state()
        return _COLOURS[(planes * np.arange(1, planes.shape[-1] + 1)).max(axis=-1)]


def _register() -> None:
    for game in GAMES:
        name = game.title().replace("_", "")
        for version, minimal in ((0, False), (1, True)):
            kwargs = {"game": game, "use_minimal_action_set": minimal}
            gym.register(
                id=f"MinAtar/{name}-v{version}", entry_point=f"{__name__}:MinAtar", kwargs=kwargs
            )


_register()
