"""Preprocessing of image observations (`env.view: image`), and start and end of Atari episodes."""

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


Side = Annotated[Count, Field(le=4096)]


class ImageConfig(Section):
    color: Literal["gray", "rgb"] = "gray"
    """One grayscale channel, or three RGB channels."""
    crop: tuple[Whole, Whole, Whole, Whole] = (0, 0, 0, 0)
    """Pixels cropped before resizing: top, bottom, left, right."""
    size: tuple[Side, Side] = (84, 84)
    """Height and width after resizing, which averages over areas."""
    max_pool: Annotated[Switch, TO_ATARI] = True
    """Pixel-wise maximum over the last two frames of an Atari game, because some games draw sprites only in
    every other frame."""


class AtariConfig(Section):
    noop_starts: Annotated[Count, Field(le=1000)] = 30
    """Maximum number of no-op frames at the start of an episode; the number is sampled from 1 to this, so
    that episodes differ."""
    fire: Literal["off", "start", "life"] = "start"
    """When FIRE is pressed for the agent, in games that have this action: never (off), in the last no-op
    frame of an episode (start), or there and after every lost life (life)."""
    life_loss_ends: Switch = False
    """End a training episode at the first lost life. Evaluation episodes are always whole games."""
