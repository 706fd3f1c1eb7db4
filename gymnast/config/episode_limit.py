"""Step limits after which episodes are truncated: as written in a config, and as applied."""

from __future__ import annotations

from typing import Annotated, Literal, NamedTuple

from pydantic import PlainSerializer, PlainValidator

from gymnast.config.numbers import Maybe, parse_count

DEFAULT_EPISODE_STEPS = 1_000
"""Limit for environments that declare none. Without it, an evaluation of a greedy policy that walks in a
circle would never finish. 1,000 is the most common limit in Gymnasium's registry. A higher limit would slow
down every evaluation of a policy that loops: 20 episodes take up to 20 times this many steps, and all of them
stay in memory until the traces are written."""


class EpisodeLimit(NamedTuple):
    """The limit that an environment is created with."""

    steps: int | None = None
    """Replaces the environment's own limit."""
    default: int | None = None
    """Applies if `steps` is not set and the environment has no limit of its own."""

    @classmethod
    def from_settings(cls, setting: StepSetting, other: StepSetting) -> EpisodeLimit:
        """Returns the limit for one of training and evaluation. `other` is the setting of the other one,
        which is a better guess than the default if the environment declares no limit."""
        if setting is None:  # off: neither a limit of ours nor the default
            return cls()
        if setting != "auto":
            return cls(steps=setting)
        return cls(default=DEFAULT_EPISODE_STEPS if other in (None, "auto") else other)


def _auto_or_count(value: object) -> int | Literal["auto"]:
    return "auto" if value == "auto" else parse_count(value)


AutoSteps = Maybe[
    Annotated[
        int | Literal["auto"], PlainValidator(_auto_or_count), PlainSerializer(lambda value: value)
    ]
]
"""Type of a config field: a number of steps, `auto` or `off`."""
StepSetting = int | Literal["auto"] | None
"""The validated value of such a field; None is `off`."""
ENV_LIMIT = EpisodeLimit()
"""Only the limit that the environment declares, if any."""
