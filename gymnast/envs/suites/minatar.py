"""MinAtar's games with two fixes: episodes depend only on their seed, and rendering needs no seaborn.

MinAtar has sticky actions, and at the first step of an episode it may repeat the last action of the
previous episode. Its own renderer needs seaborn and returns floats; here a fixed palette is used.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

import gymnasium as gym
import numpy as np

from gymnast.envs.env_types import Info, Options


@contextmanager
def _no_import_warning() -> Iterator[None]:
    """Silences MinAtar's import warning about plotting libraries that are not needed here."""
    root, silence = logging.getLogger(), logging.NullHandler()
    # `logging.warning` installs a handler that prints everything, unless the root logger has one already.
    root.addHandler(silence)
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        yield
    finally:
        logging.disable(before)
        root.removeHandler(silence)


with _no_import_warning():
    from minatar.gym import BaseEnv

GAMES = ("asterix", "breakout", "freeway", "seaquest", "space_invaders")
_COLORS = np.array(
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
"""RGB of an empty cell, then of each channel."""


class MinAtar(BaseEnv):
    """MinAtar's environment with a seeded first step and a renderer of its own."""

    metadata = {"render_modes": ["rgb_array"], "render_fps": 10}

    def reset(self, seed: int | None = None, options: Options = None) -> tuple[np.ndarray, Info]:
        self.game.last_action = 0  # a sticky action must not carry over from the previous episode
        return super().reset(seed=seed, options=options)

    def render(self) -> np.ndarray | None:
        """Returns one pixel per cell, [10, 10, 3], in the color of the highest channel that is set there."""
        if self.render_mode is None:
            return None
        channels = self.game.state()  # bool [10, 10, channels]
        return _COLORS[(channels * np.arange(1, channels.shape[-1] + 1)).max(axis=-1)]


def _register() -> None:
    """Registers each game as `MinAtar/NAME-v0`, with all actions, and `-v1`, with the actions that have an
    effect."""
    for game in GAMES:
        name = game.title().replace("_", "")
        for version, minimal in ((0, False), (1, True)):  # MinAtar's convention for its own ids
            kwargs = {"game": game, "use_minimal_action_set": minimal}
            gym.register(
                id=f"MinAtar/{name}-v{version}", entry_point=f"{__name__}:MinAtar", kwargs=kwargs
            )


_register()
