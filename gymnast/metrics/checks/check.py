"""The definition of a check: a condition on several metrics that indicates a problem, and its remedy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from gymnast.config.numbers import format_number
from gymnast.config.schedule import Schedule
from gymnast.metrics.checks.allowed_changes import advisable_changes
from gymnast.metrics.run_history import Phase, RunHistory

Changes = dict[str, Any]
"""Dotted config key -> value, as `--set` takes it."""


@dataclass(frozen=True)
class Remedy:
    cause: str
    """The likely cause, as a sentence."""
    changes: Changes = field(default_factory=dict[str, Any])

    def for_run(self, settings: Mapping[str, Any]) -> Remedy:
        """Returns the remedy with only the changes that may be advised for a run with these settings."""
        return replace(self, changes=advisable_changes(self.changes, settings))

    def text(self, settings: Mapping[str, Any]) -> str:
        """Returns the cause, followed by each change in the form that `--set` takes."""
        assignments = [
            f"{key}={value} (now {settings.get(key, 'unset')})"
            for key, value in self.changes.items()
        ]
        return f"{self.cause} Try {', '.join(assignments)}." if assignments else self.cause


@dataclass(frozen=True)
class Check:
    id: str
    """`KEY:problem`: the key of the row that shows the problem best, and a word for the problem."""
    required_keys: tuple[str, ...]
    """Keys that must have appeared in a row before the check is run."""
    find_problem: Callable[[RunHistory], str | None]
    """Returns a description of the problem, with its numbers; None if there is no problem."""
    remedy: Callable[[RunHistory], Remedy]
    """Returns the cause and the advised changes, for a run that has the problem."""
    patience: int = 5
    """Number of bad rows in succession that raise the alert."""
    skipped_phases: frozenset[Phase] = frozenset()
    """Phases of training in which the check is not run."""
    per_role: bool = True
    """Whether the check is run for each role of a match. Checks of the return are not: the return of a role
    also falls when its opponent improves."""


def scale_setting(history: RunHistory, key: str, factor: float) -> Changes:
    """Returns the change that multiplies a schedule by a factor, rounded to two digits; empty if it is 0."""
    schedule = Schedule.parse(history.setting(key, 0.0))
    return {key: round_schedule(schedule.scaled(factor)).to_plain()} if schedule.highest > 0 else {}


def round_schedule(schedule: Schedule) -> Schedule:
    """Returns the schedule with its values rounded to two significant digits."""
    frames = tuple((position, float(f"{value:.2g}")) for position, value in schedule.frames)
    return replace(schedule, frames=frames)


def limit_peak(history: RunHistory, key: str, peak: float) -> Changes:
    """Returns the change that scales a schedule down to this peak; empty if it is already below."""
    highest = Schedule.parse(history.setting(key, 0.0)).highest
    return scale_setting(history, key, peak / highest) if highest > peak else {}


def cap_setting(history: RunHistory, key: str, cap: float) -> Changes:
    """Returns the change that limits every value of a schedule to the cap."""
    schedule = Schedule.parse(history.setting(key, 0.0))
    frames = [(position, min(value, cap)) for position, value in schedule.frames]
    while len(frames) > 2 and frames[0][1] == frames[1][1]:
        del frames[0]  # a schedule is constant before its first frame
    return {key: round_schedule(replace(schedule, frames=tuple(frames))).to_plain()}


def rounded_text(value: float) -> str:
    """Returns a number with three significant digits."""
    return format_number(float(f"{value:.3g}"))
