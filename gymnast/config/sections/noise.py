"""Noise and delays between policy and environment, applied in training, evaluation, play and videos alike."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, PlainSerializer, PlainValidator

from gymnast.config.applies import Applies
from gymnast.config.facts import KeyAction
from gymnast.config.numbers import (
    FLOAT32_LIMIT,
    OFF,
    Maybe,
    Share,
    Whole,
    is_percent,
    parse_number,
    quote_value,
)
from gymnast.config.section import Section


def _scale(value: object) -> float | Share:
    """Returns a standard deviation: a Share for a text such as `2%`, else a number. Raises ValueError if it
    is negative or too large for float32."""
    is_share = is_percent(value) or isinstance(value, Share)
    scale = Share.parse(value) if is_share else parse_number(value)
    if scale < 0:
        raise ValueError(
            f"{quote_value(value)} is too small (expected a standard deviation, 0 or more)"
        )
    if scale > FLOAT32_LIMIT:
        raise ValueError(f"{quote_value(value)} is too large (expected at most {FLOAT32_LIMIT:g})")
    return scale


def _scales(value: object) -> float | Share | tuple[float | Share, ...]:
    return tuple(map(_scale, value)) if isinstance(value, list | tuple) else _scale(value)


def _plain_scales(scales: float | tuple[float, ...]) -> object:
    if isinstance(scales, tuple):
        return [_plain_scales(scale) for scale in scales]
    return str(scales) if isinstance(scales, Share) else scales


Scales = Annotated[
    float | Share | tuple[float | Share, ...],
    PlainValidator(_scales),
    PlainSerializer(_plain_scales),
]
"""One scale for all components, or one per component: an absolute number, or a share of high - low."""


def is_noisy(scales: float | tuple[float, ...] | None) -> bool:
    """True if a setting of type `Scales` has a scale other than 0."""
    return any(scales if isinstance(scales, tuple) else (scales,))


WITH_A_DELAY = Applies("with env.noise.delay", lambda on: on.config.env.noise.delay > 0)


class NoiseConfig(Section):
    obs: Maybe[Scales] = OFF
    """Standard deviation of Gaussian noise on observations: a number such as `0.1`, a share of high - low
    such as `2%`, or a list with one entry per component. The result is clipped to the bounds."""
    action: Maybe[Scales] = OFF
    """Noise on actions. Box: standard deviation of Gaussian noise, as in `obs`, clipped to the bounds.
    Discrete, MultiDiscrete and MultiBinary: probability that each element is replaced by another valid
    option, chosen uniformly."""
    sticky: Share = Share(0)
    """Probability that the previous action is repeated instead of the chosen one (sticky actions)."""
    delay: Annotated[Whole, Field(le=10_000)] = 0
    """Number of steps after which an action takes effect."""
    idle: Annotated[Maybe[KeyAction], WITH_A_DELAY] = OFF
    """Action executed until the first delayed action takes effect. off: action 0, or zeros for a Box."""
    drop: Share = Share(0)
    """Probability that the previous observation is returned again instead of the new one."""

    @property
    def is_random(self) -> bool:
        return is_noisy(self.obs) or is_noisy(self.action) or self.sticky > 0 or self.drop > 0
