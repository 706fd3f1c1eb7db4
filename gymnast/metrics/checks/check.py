"""The definition of a check: a condition on several metrics that indicates a problem, and its remedy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from gymnast.config.numbers import format_number
from gymnast.config.plain_value import PlainValue
from gymnast.config.schedule import Schedule
from gymnast.metrics.checks.allowed_changes import advisable_changes, direction
from gymnast.metrics.run_history import Phase, RunHistory

Changes = dict[str, PlainValue]
"""Dotted config key -> value, as `--set` takes it."""


@dataclass(frozen=True)
class Remedy:
    cause: str
    """The likely cause, as a sentence."""
    changes: Changes = field(default_factory=dict[str, PlainValue])
    """The settings to change, with the values that the metrics of this run suggest. An alert gives only
    their direction; `gymnast.insight.advice` decides on the value that is advised."""

    def for_run(self, settings: Mapping[str, PlainValue]) -> Remedy:
        """Returns this remedy without changes that advice may not make, that do not exist for the run's
        algorithm, or that its settings already have. `settings`: dotted config key -> plain value."""
        return replace(self, changes=advisable_changes(self.changes, settings))

    def text(self, settings: Mapping[str, PlainValue]) -> str:
        """Returns the cause, followed by the direction of each change and the present value of its setting
        from `settings` (dotted config key -> plain value)."""
        verbs = {1: "raise", -1: "lower", 0: "change"}
        steps = [
            f"{verbs[direction(settings.get(key), value)]} {key} (now {settings.get(key, 'unset')})"
            for key, value in self.changes.items()
        ]
        text = ", ".join(steps)
        return f"{self.cause} {text[0].upper()}{text[1:]}." if text else self.cause


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
    required_settings: tuple[str, ...] = ()
    """Settings (dotted keys) without which the check finds nothing. A run of gymnast has all that its
    algorithm has; the files of another program may lack them."""
    per_role: bool = True
    """Whether the check is run for each role of a match. Checks of the return are not: the return of a role
    also falls when its opponent improves."""


def scale_setting(history: RunHistory, key: str, factor: float) -> Changes:
    """Returns the change that multiplies the setting `key`, a number or a schedule, by `factor`, rounded to
    two significant digits. Returns no change if the setting is 0 or missing."""
    schedule = Schedule.parse(history.setting(key, 0.0))
    return {key: round_schedule(schedule.scaled(factor)).to_plain()} if schedule.highest > 0 else {}


def round_schedule(schedule: Schedule) -> Schedule:
    """Returns the schedule with its values rounded to two significant digits."""
    frames = tuple((position, float(f"{value:.2g}")) for position, value in schedule.frames)
    return replace(schedule, frames=frames)


def limit_peak(history: RunHistory, key: str, peak: float) -> Changes:
    """Returns the change that scales the setting `key`, a number or a schedule, so that its highest value is
    `peak`. Returns no change if it is not higher than that."""
    highest = Schedule.parse(history.setting(key, 0.0)).highest
    return scale_setting(history, key, peak / highest) if highest > peak else {}


def cap_setting(history: RunHistory, key: str, cap: float) -> Changes:
    """Returns the change that limits every value of the setting `key`, a number or a schedule, to `cap`.
    Values below it are kept, and all are rounded to two significant digits."""
    schedule = Schedule.parse(history.setting(key, 0.0))
    frames = [(position, min(value, cap)) for position, value in schedule.frames]
    while len(frames) > 2 and frames[0][1] == frames[1][1]:
        del frames[0]  # a schedule is constant before its first frame
    return {key: round_schedule(replace(schedule, frames=tuple(frames))).to_plain()}


def rounded_text(value: float) -> str:
    """Returns a number as text, rounded to three significant digits."""
    return format_number(float(f"{value:.3g}"))
