"""The protocol of whatever trains the units of a study. The runner knows nothing else about training."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from gymnast.config.plain_value import PlainValue
from gymnast.sweep.history import Measurement, Unit
from gymnast.sweep.state import Phase


@dataclass(frozen=True)
class Work:
    """One unit with everything that is needed to train it."""

    unit: Unit
    settings: Mapping[str, PlainValue]
    """Config key -> value of all overrides of the trial."""
    assignment: Mapping[str, PlainValue] | None
    """Parameter -> value; None: the baseline."""
    seed: int
    """Root seed of the run."""
    budget: int
    """Env steps of a whole run, which schedules in percent refer to."""
    source: str = ""
    """The run or RUN:CHECKPOINT whose weights the run starts from; empty: from scratch."""
    name: str = ""
    """Name of the run, unique within the study: the first unit of a seed creates it, later ones continue
    it."""
    is_final: bool = False
    """Whether it is a confirmation, whose score is measured on held-out episodes."""


class Executor(Protocol):
    """Trains units. All methods are idempotent: a resumed study calls them again for work that is under way
    or done."""

    def start(self, work: Work) -> None:
        """Makes sure that the work is under way, or done already. Returns at once."""
        ...

    def poll(self, work: Work) -> Measurement | None:
        """Returns the result of work that was started; None while it is being trained."""
        ...

    def points(self, work: Work) -> list[tuple[float, float]]:
        """Returns the evaluation curve of work that is being trained, as far as it is known."""
        ...

    def prune(self, work: Work) -> Measurement | None:
        """Stops work that is not worth finishing; returns what it measured once it has stopped, until then
        None."""
        ...

    def interrupt(self, work: Work) -> None:
        """Stops work so that a later `start` continues it."""
        ...

    def discard(self, name: str) -> None:
        """Deletes what only a continuation of the run with this name would need: it has lost."""
        ...


def run_name(study: str, phase: Phase, trial: int, seed: int) -> str:
    """Returns the name of the run of a seed of a trial."""
    letter = "s" if phase == "search" else "c"
    return f"{study}-{trial:03d}-{letter}{seed}"
