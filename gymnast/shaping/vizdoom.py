"""For VizDoom, over the game's own variables: ammunition, hits, kills, health.

They are shown beside the screen, in an order that only the game knows. With a step that ends the
episode the game shows no more of them, so nothing is paid there.
"""

from __future__ import annotations

import numpy as np

from gymnast.envs.build.make import make_env
from gymnast.errors import ConfigError
from gymnast.shaping.change import change
from gymnast.shaping.steps import Scene, Steps

Array = np.ndarray
ENTRY = "gamevariables"


class Missed:
    """Minus the rounds that were fired and hit nobody."""

    def __init__(self, scene: Scene, ammunition: str = "AMMO2") -> None:
        """`ammunition`: the variable that counts the weapon's rounds; AMMO2 is the pistol's."""
        self._rounds, self._hits = _places(scene, ammunition, "HITCOUNT")

    def __call__(self, steps: Steps) -> Array:
        fired = np.maximum(-change(steps, ENTRY, self._rounds), 0.0)  # more is picked up, not fired
        return -np.maximum(fired - change(steps, ENTRY, self._hits), 0.0)


class Kills:
    """Monsters killed."""

    def __init__(self, scene: Scene) -> None:
        (self._kills,) = _places(scene, "KILLCOUNT")

    def __call__(self, steps: Steps) -> Array:
        return np.maximum(change(steps, ENTRY, self._kills), 0.0)


class Hurt:
    """Minus the health that was lost; what is healed is not paid for."""

    def __init__(self, scene: Scene) -> None:
        (self._health,) = _places(scene, "HEALTH")

    def __call__(self, steps: Steps) -> Array:
        return np.minimum(change(steps, ENTRY, self._health), 0.0)


def _places(scene: Scene, *names: str) -> list[int]:
    """Where these variables stand among those that the game shows."""
    if scene.env.tasks:
        raise ConfigError("of several tasks each may show its variables in another order")
    env = make_env(scene.env)
    variables = getattr(getattr(env.unwrapped, "game", None), "get_available_game_variables", None)
    if variables is None:
        raise ConfigError(f"{scene.env.id} is no scenario of VizDoom: it has no game variables")
    shown = [variable.name for variable in variables()]
    env.close()
    if missing := [name for name in names if name not in shown]:
        what = f"the game shows {', '.join(shown) or 'no variable'}, but not {', '.join(missing)}"
        every = ", ".join([*shown, *missing])
        raise ConfigError(what, fix=f"--set 'env.kwargs.available_game_variables=[{every}]'")
    if ENTRY not in scene.names:
        what = f"{ENTRY} are not among the observations"
        raise ConfigError(what, fix=f"--set 'env.keep=[screen, {ENTRY}]'")
    return [shown.index(name) for name in names]
