"""Known facts about an environment: labels, ranges, optimum and threshold. Preset files declare them, and
tests compare them with the live environment."""

from __future__ import annotations

import math
from typing import Annotated, Literal

from pydantic import AfterValidator, PlainSerializer, PlainValidator

from gymnast.config.numbers import (
    OFF,
    Bound,
    Count,
    Maybe,
    Number,
    PlainField,
    Positive,
    parse_number,
    parse_whole,
)
from gymnast.config.section import Section


def _ordered(interval: tuple[float, float]) -> tuple[float, float]:
    if interval[0] > interval[1]:
        raise ValueError(f"{list(interval)} is reversed (expected [low, high])")
    return interval


Interval = Annotated[tuple[Bound, Bound], AfterValidator(_ordered)]
"""[low, high], both ends included."""


def _key_action(value: object) -> int | tuple[float, ...]:
    if isinstance(value, list | tuple):
        return tuple(map(parse_number, value))
    return parse_whole(value)


def _plain_action(action: int | tuple[float, ...]) -> object:
    return list(action) if isinstance(action, tuple) else action


KeyAction = Annotated[
    int | tuple[float, ...], PlainValidator(_key_action), PlainSerializer(_plain_action)
]
"""An action: the index of a discrete one, or the values of a continuous one."""


class Component(Section):
    """One number of the observation."""

    name: str
    """Name of the component."""
    low: Bound
    """Smallest possible value."""
    high: Bound
    """Largest possible value."""
    unit: str = ""
    """Unit; empty for a dimensionless number."""


class Published(Section):
    """A published result of another project, for comparison. Evaluation protocols differ."""

    score: Number
    """Mean return."""
    env_steps: Maybe[Count] = OFF
    """Number of training env steps."""
    algorithm: str
    """Name of the algorithm."""
    source: str
    """Publication or project that reports the score."""


class Facts(Section):
    actions: tuple[str, ...] = ()
    """Labels: one per action of a Discrete space, or one per element of any other action."""
    options: dict[str, tuple[str, ...]] = {}
    """Label of a discrete element -> labels of its options: `turn: [left, straight, right]`."""
    keys: dict[str, KeyAction] = {}
    """Keyboard key -> action, for `gymnast play`: a number, or one per element. Continuous elements of keys
    held together are added."""
    idle: Maybe[KeyAction] = OFF
    """Action while no key is held. off: the environment waits for a key."""
    observations: tuple[Component, ...] = ()
    """Components of the environment's observation, in order; for a Discrete observation, the state index.
    Components added by `env.stack` and `env.previous_actions` are named automatically."""
    position: tuple[str, ...] = ()
    """Names of the two components of the observation that are the agent's x and y, for trajectories. The y
    axis points up."""
    grid: Maybe[tuple[Count, Count]] = OFF
    """Rows and columns of the grid whose cells a Discrete observation numbers row by row; for
    trajectories."""
    reward: Maybe[Interval] = OFF
    """Range of the raw reward of one step."""
    returns: Maybe[Interval] = OFF
    """Range of the raw return of one episode."""
    optimum: Maybe[Number] = OFF
    """Mean return of an optimal policy, if it is known."""
    threshold: Maybe[Number] = OFF
    """Mean return at which the environment counts as solved."""
    termination: Literal["failure", "unknown"] = "unknown"
    """The cause of terminations. failure: only a failure of the agent terminates an episode, so that a good
    policy lasts to the time limit. unknown: a run whose final episodes all last to the limit is doubtful if
    others terminated."""
    deterministic: Literal["yes", "no", "unknown"] = "unknown"
    """Whether the same seed and actions give the same episode. unknown: this is tested at the start of
    training."""
    deterministic_settings: dict[str, PlainField] = {}
    """Keyword arguments under which the environment is deterministic."""
    fps: Maybe[Positive] = OFF
    """Frames per second at which an episode looks natural."""
    source: str = ""
    """URL of the environment's documentation."""
    published: tuple[Published, ...] = ()
    """Published scores of other projects."""

    def conflicts(self) -> list[tuple[str, str]]:
        """Returns facts that contradict each other, as (field, message)."""
        conflicts: list[tuple[str, str]] = []
        optimum, threshold = self.optimum, self.threshold
        if threshold is not None and optimum is not None and threshold > optimum:
            conflicts.append(("threshold", f"{threshold:g} is above the optimum {optimum:g}"))
        names = [component.name for component in self.observations]
        if self.position and (len(self.position) != 2 or not {*self.position} <= {*names}):
            expected = f"expected x and y, two of {', '.join(names) or 'observations'}"
            conflicts.append(("position", f"{list(self.position)} is unknown ({expected})"))
        low, high = self.returns or (-math.inf, math.inf)
        if threshold is not None and threshold == low:
            text = f"{threshold:g} is the lowest possible return, so that every policy reaches it"
            conflicts.append(("threshold", text))
        for name, value in (("threshold", threshold), ("optimum", optimum)):
            if value is not None and not low <= value <= high:
                conflicts.append((name, f"{value:g} is outside returns [{low:g}, {high:g}]"))
        return conflicts
