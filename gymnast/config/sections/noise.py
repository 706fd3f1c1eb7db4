"""What goes wrong between a policy and its environment: in training, evaluation, play and films alike."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import PlainSerializer, PlainValidator

from gymnast.config.applies import Applies
from gymnast.config.facts import KeyAction
from gymnast.config.numbers import (
    OFF,
    Maybe,
    Share,
    Whole,
    is_percent,
    parse_number,
    show,
)
from gymnast.config.section import Section


def _scale(value: Any) -> float | Share:
    share = is_percent(value) or isinstance(value, Share)
    scale = Share.parse(value) if share else parse_number(value)
    if scale < 0:
        raise ValueError(f"{show(value)} is too small (expected a deviation from 0)")
    return scale


def _scales(value: Any) -> float | Share | tuple[float | Share, ...]:
    return tuple(map(_scale, value)) if isinstance(value, list | tuple) else _scale(value)


def _written(scales: Any) -> Any:
    if isinstance(scales, tuple):
        return [_written(scale) for scale in scales]
    return str(scales) if isinstance(scales, Share) else scales


Scales = Annotated[
    float | Share | tuple[float | Share, ...],
    PlainValidator(_scales),
    PlainSerializer(_written),
]
"""One for all components, or one each; a number as it is, or a share of the way from low to high."""


def is_noisy(scales: Any) -> bool:
    """Whether a setting of this kind asks for any noise."""
    given = scales if isinstance(scales, tuple) else (scales,)
    return any(given)


WITH_A_DELAY = Applies("with env.noise.delay", lambda on: on.config.env.noise.delay > 0)


class NoiseConfig(Section):
    obs: Maybe[Scales] = OFF
    """Deviation of Gaussian noise on observations: `0.1`, `2%` of what lies between the bounds of a
    component, or a list with one for each. Kept within the bounds."""
    action: Maybe[Scales] = OFF
    """For Box actions the same, kept within the bounds; for all others the chance that another action
    is taken."""
    sticky: Share = Share(0)
    """Chance that the last action is taken again instead of the one chosen."""
    delay: Whole = 0
    """Steps after which an action takes effect."""
    idle: Annotated[Maybe[KeyAction], WITH_A_DELAY] = OFF
    """What is done until the first one does; off: action 0, or no amounts."""
    drop: Share = Share(0)
    """Chance that the last observation is shown again instead of the new one."""

    @property
    def has_any(self) -> bool:
        return is_noisy(self.obs) or is_noisy(self.action) or self.sticky > 0 or self.drop > 0
