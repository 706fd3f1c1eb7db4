"""How pictures are prepared for a network (`env.view: image`), and how a game is begun and held."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from gymnast.config.applies import Applies, Context
from gymnast.config.numbers import Count, Switch, Whole
from gymnast.config.section import Section


def is_atari(env_id: str) -> bool:
    return env_id.startswith("ALE/")


def _plays_atari(on: Context) -> bool:
    env = on.config.env
    return any(map(is_atari, [env.id, *(task.id for task in env.tasks.values())]))


TO_ATARI = Applies("to Atari games (ALE/...)", _plays_atari)


class ImageConfig(Section):
    colour: Literal["gray", "rgb"] = "gray"
    """One plane of brightness, or three of colours."""
    crop: tuple[Whole, Whole, Whole, Whole] = (0, 0, 0, 0)
    """Pixels cut off first: top, bottom, left, right."""
    size: tuple[Count, Count] = (84, 84)
    """Height and width to which it is then shrunk, by averaging."""
    max_pool: Annotated[Switch, TO_ATARI] = True
    """Of an Atari game: the brighter of the last two frames at each pixel, for what is drawn in every
    other frame only."""


class AtariConfig(Section):
    noop_starts: Annotated[Count, Field(le=1000)] = 30
    """An episode begins after 1 to so many frames of doing nothing, so that episodes differ."""
    fire: Literal["off", "start", "life"] = "start"
    """Where FIRE is pressed for the agent, if it is one of its actions: never; in the last of those
    frames; and after every lost life too."""
    life_loss_ends: Switch = False
    """A training episode ends with the first lost life. Scored episodes are whole games."""
