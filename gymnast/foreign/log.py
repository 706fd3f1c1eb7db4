"""The content of the files of a foreign run, under the names of the program that wrote them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

ENV_STEPS = "clock/env_steps"
"""The clock that every foreign run must have."""


@dataclass(frozen=True)
class Logged:
    """The values that a program logged at once."""

    values: Mapping[str, float]
    """Name of the program -> value; NaN if it logged NaN."""
    step: float | None = None
    """The step of the file format; None if it has none. What it counts depends on the program."""
    time: float | None = None
    """Seconds since the epoch; None if the file has no times."""


@dataclass(frozen=True)
class RunLog:
    """The content of the files of one run."""

    format: str
    """The file format in words."""
    files: tuple[str, ...]
    """Paths of the files that were read."""
    logged: tuple[Logged, ...]
    """All values, in the order in which they were logged; of those logged again by a later attempt, the later
    ones."""
    hyperparameters: Mapping[str, object] = field(default_factory=dict[str, object])
    """Name of the program -> value, as far as the files have them."""
    env: str = ""
    """Id of the environment; empty if the files do not have it."""
    steps_are_calls: bool = False
    """Whether steps only count calls, as those of W&B do, so that they are no env steps."""
    ended: bool | None = None
    """Whether training ended by itself; None if the files do not say."""
    problems: tuple[str, ...] = ()
    """The damage of the files, as sentences."""

    @property
    def names(self) -> list[str]:
        """The names of all values, in the order of their first appearance."""
        return list(dict.fromkeys(name for entry in self.logged for name in entry.values))
