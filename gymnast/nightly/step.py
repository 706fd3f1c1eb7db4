"""The steps of a night in general: a plan yields jobs, each of which is a task in a child process."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field


class StepSkipped(Exception):
    """Raised by the plan of a step that cannot be run here; its text is the reason."""


@dataclass(frozen=True)
class Job:
    """A function that is called in a child process."""

    title: str
    """Its title for the progress, such as `check CartPole-v1:ppo`."""
    function: str
    """`module:function`, as for `gymnast.tasks.start`; returns a JobResult."""
    arguments: Mapping[str, object]
    deadline: float
    """Seconds after which it is ended."""
    command: str
    """The command with which a user does the same."""


@dataclass
class Clock:
    """The time that a step may use."""

    seconds: float
    """Its length, from the start of the step."""
    _started: float = field(default_factory=time.monotonic)

    @property
    def left(self) -> float:
        return max(0.0, self.seconds - (time.monotonic() - self._started))


@dataclass(frozen=True)
class StepContext:
    """The circumstances on which the plan of a step may depend."""

    seed: int
    """Number of the night."""
    clock: Clock
    """Its jobs should fit into the time that is left."""
    left_out: list[str] = field(default_factory=list[str])
    """The plan adds sentences about what it left out, and why."""


@dataclass(frozen=True)
class NightlyStep:
    """A check that is made every night."""

    name: str
    title: str
    """The claim that it checks, in words."""
    share: float
    """Its share of the time, relative to the other steps; what it does not use is left for the others."""
    noun: str
    """The things that its jobs count, such as `preset`."""
    plan: Callable[[StepContext], Iterator[Job]]
    """Yields the jobs one after the other, so that it can stop when the time is used up. Raises
    StepSkipped before the first one if the step cannot be run here."""
    sample: bool = False
    """Whether it only means to check a sample, so that what does not fit into the time is no gap."""


def rotated(items: list[str], seed: int) -> list[str]:
    """Returns the items in their order, starting at another one every night: in as many nights as there are
    items, each comes first once."""
    start = seed % len(items) if items else 0
    return items[start:] + items[:start]
