"""After how many steps an episode is truncated: as it is written in a config, and as it is applied."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NamedTuple

from pydantic import PlainSerializer, PlainValidator

from gymnast.config.numbers import Maybe, parse_count

DEFAULT_EPISODE_STEPS = 1_000
"""Truncates episodes of an environment that declares no limit. Without it, a greedy policy that walks in a
circle would never finish an evaluation. 1,000 is the most common limit in Gymnasium's registry. A higher
one would be paid for in every evaluation of a policy that loops: an evaluation of 20 episodes takes up to
20 times this many steps, and keeps all of them in memory until its traces are written."""


class EpisodeLimit(NamedTuple):
    """Which limit an environment is made with."""

    steps: int | None = None
    """Replaces the environment's own limit."""
    default: int | None = None
    """Applies where `steps` is not set and the environment has no limit of its own."""

    @classmethod
    def of(cls, setting: StepSetting, other: StepSetting) -> EpisodeLimit:
        """`setting` of training or evaluation; `other`: that of the other one, which is the better guess
        where the environment declares nothing."""
        if setting is None:
            return cls()
        if setting != "auto":
            return cls(steps=setting)
        return cls(default=DEFAULT_EPISODE_STEPS if other in (None, "auto") else other)


def _auto_or_count(value: Any) -> int | Literal["auto"]:
    return "auto" if value == "auto" else parse_count(value)


AutoSteps = Maybe[
    Annotated[
        int | Literal["auto"], PlainValidator(_auto_or_count), PlainSerializer(lambda value: value)
    ]
]
"""A number of steps, `auto` or `off`."""
StepSetting = int | Literal["auto"] | None
"""The same as a value; None is `off`."""
OWN_LIMIT = EpisodeLimit()
"""Only the limit that the environment declares, if any."""
