"""Reward terms for VizDoom, computed from game variables: ammunition, hits, kills, health.

The observation contains the variables next to the screen, in an order that only the game knows.
"""

from __future__ import annotations

from contextlib import closing

import numpy as np

from gymnast.envs.build.make import make_env
from gymnast.errors import ConfigError
from gymnast.shaping.change import component_change
from gymnast.shaping.steps import Steps, TermContext

Array = np.ndarray
ENTRY = "gamevariables"


class MissedShots:
    """Pays -1 for each round that was fired and hit nothing."""

    def __init__(self, context: TermContext, ammunition: str = "AMMO2") -> None:
        """`ammunition`: game variable that counts the weapon's rounds; AMMO2 is the pistol's."""
        self._rounds, self._hits = _indices(context, ammunition, "HITCOUNT")

    def __call__(self, steps: Steps) -> Array:
        # An increase of the ammunition is a pickup, not a shot.
        fired = np.maximum(-component_change(steps, ENTRY, self._rounds), 0.0)
        return -np.maximum(fired - component_change(steps, ENTRY, self._hits), 0.0)


class Kills:
    """Pays 1 for each monster killed."""

    def __init__(self, context: TermContext) -> None:
        (self._kills,) = _indices(context, "KILLCOUNT")

    def __call__(self, steps: Steps) -> Array:
        return np.maximum(component_change(steps, ENTRY, self._kills), 0.0)


class HealthLoss:
    """Pays minus the health that was lost; regained health pays nothing."""

    def __init__(self, context: TermContext) -> None:
        (self._health,) = _indices(context, "HEALTH")

    def __call__(self, steps: Steps) -> Array:
        return np.minimum(component_change(steps, ENTRY, self._health), 0.0)


def _indices(context: TermContext, *names: str) -> list[int]:
    """Returns the index of each of these variables in the observation. Creates a game to ask for them. Raises
    ConfigError if the game or the observation lacks them."""
    if context.env.tasks:
        raise ConfigError("this term needs a single task: each may order its variables differently")
    with closing(make_env(context.env)) as env:
        game = getattr(env.unwrapped, "game", None)
        variables = getattr(game, "get_available_game_variables", None)
        if variables is None:
            what = f"{context.env.id} is not a VizDoom scenario: it has no game variables"
            raise ConfigError(what)
        available = [variable.name for variable in variables()]
    if missing := [name for name in names if name not in available]:
        what = f"the game has the variables {', '.join(available) or 'none'}, but not {', '.join(missing)}"
        every = ", ".join([*available, *missing])
        raise ConfigError(what, fix=f"--set 'env.kwargs.available_game_variables=[{every}]'")
    if ENTRY not in context.names:
        what = f"the observation has no entry {ENTRY}"
        raise ConfigError(what, fix=f"--set 'env.keep=[screen, {ENTRY}]'")
    return [available.index(name) for name in names]
