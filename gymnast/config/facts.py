"""What an environment declares about itself. Preset files state it; tests hold it against the
live environment."""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, PlainSerializer, PlainValidator

from gymnast.config.numbers import (
    OFF,
    Bound,
    Count,
    Maybe,
    Number,
    PlainValue,
    Positive,
    parse_number,
    parse_whole,
)
from gymnast.config.section import Section


def _ordered(interval: tuple[float, float]) -> tuple[float, float]:
    if interval[0] > interval[1]:
        raise ValueError(f"{list(interval)} is upside down (expected [low, high])")
    return interval


Interval = Annotated[tuple[Bound, Bound], AfterValidator(_ordered)]
"""[low, high], both ends included."""


def _key_action(value: Any) -> int | tuple[float, ...]:
    if isinstance(value, list | tuple):
        return tuple(map(parse_number, value))
    return parse_whole(value)


def _written(action: int | tuple[float, ...]) -> Any:
    return list(action) if isinstance(action, tuple) else action


KeyAction = Annotated[
    int | tuple[float, ...], PlainValidator(_key_action), PlainSerializer(_written)
]
"""A discrete action's number, or the amounts of a continuous one."""


class Component(Section):
    """One number of the observation."""

    name: str
    """What it is, in words."""
    low: Bound
    """Smallest possible value."""
    high: Bound
    """Largest possible value."""
    unit: str = ""
    """Its unit; empty for a pure number."""


class Published(Section):
    """Another project's result, to measure ours against. Protocols differ."""

    score: Number
    """Mean return."""
    env_steps: Maybe[Count] = OFF
    """Env steps it was trained for."""
    algorithm: str
    """Which algorithm reached it."""
    source: str
    """Who published it."""


class Facts(Section):
    actions: tuple[str, ...] = ()
    """A label per discrete action, or per dimension of a continuous one."""
    keys: dict[str, KeyAction] = {}
    """Key -> action, for a person who plays. Amounts of keys held together are added."""
    idle: Maybe[KeyAction] = OFF
    """The action while no key is held; off: the environment waits for one."""
    observations: tuple[Component, ...] = ()
    """The parts of an observation, in order; for a Discrete one, the state's index. Those of a stack and
    of the last actions beside it are named after them and `actions`."""
    reward: Maybe[Interval] = OFF
    """Range of one step's raw reward."""
    returns: Maybe[Interval] = OFF
    """Range of an episode's raw return."""
    optimum: Maybe[Number] = OFF
    """Mean return of the best possible policy, where it is known."""
    threshold: Maybe[Number] = OFF
    """Mean return from which the environment counts as solved."""
    deterministic: Literal["yes", "no", "unknown"] = "unknown"
    """Whether the same seed and actions give the same episode. Unknown: it is tried at the start."""
    deterministic_settings: dict[str, PlainValue] = {}
    """The keyword arguments that make it so."""
    fps: Maybe[Positive] = OFF
    """Frames per second at which an episode looks natural."""
    source: str = ""
    """Where the environment is documented."""
    published: tuple[Published, ...] = ()
    """Scores of other projects."""

    def conflicts(self) -> list[tuple[str, str]]:
        """Facts that contradict each other: (field, what is wrong)."""
        found: list[tuple[str, str]] = []
        optimum, threshold = self.optimum, self.threshold
        if threshold is not None and optimum is not None and threshold > optimum:
            found.append(("threshold", f"{threshold:g} is above the optimum {optimum:g}"))
        low, high = self.returns or (-math.inf, math.inf)
        for name, value in (("threshold", threshold), ("optimum", optimum)):
            if value is not None and not low <= value <= high:
                found.append((name, f"{value:g} is outside returns [{low:g}, {high:g}]"))
        return found
