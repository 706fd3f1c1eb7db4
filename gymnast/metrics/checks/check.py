"""What a check is: something that several numbers together say is wrong, and what to do about it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from gymnast.config.numbers import number_text
from gymnast.config.schedule import Schedule
from gymnast.metrics.checks.patch import permitted
from gymnast.metrics.seen import Phase, RunHistory

Changes = dict[str, Any]
"""Dotted key -> value, as `--set` takes it."""


@dataclass(frozen=True)
class Remedy:
    why: str
    """What it may come from, as a sentence."""
    changes: Changes = field(default_factory=dict[str, Any])

    def for_run(self, settings: Mapping[str, Any]) -> Remedy:
        """The same with only those changes that a run of these settings may be advised."""
        return replace(self, changes=permitted(self.changes, settings))

    def text(self, settings: Mapping[str, Any]) -> str:
        """The reason, then each change as a user would type it."""
        told = [
            f"{key}={value} (now {settings.get(key, 'unset')})"
            for key, value in self.changes.items()
        ]
        return f"{self.why} Try {', '.join(told)}." if told else self.why


@dataclass(frozen=True)
class Check:
    id: str
    """`KEY:what`: the key of the row that shows it best, and what is wrong."""
    needs: tuple[str, ...]
    """Keys that must have been seen."""
    judge: Callable[[RunHistory], str | None]
    """What is wrong, in a clause with its numbers; None where nothing is."""
    remedy: Callable[[RunHistory], Remedy]
    patience: int = 5
    """Bad rows in a row before it is raised."""
    excused: frozenset[Phase] = frozenset()
    """Phases in which it is not judged."""
    of_roles: bool = True
    """Whether it is judged for each role of a match. The return of a role is not evidence: it falls
    when the opponent improves."""


def scaled(seen: RunHistory, key: str, factor: float) -> Changes:
    """This schedule times a factor, in round numbers."""
    schedule = Schedule.parse(seen.setting(key, 0.0))
    return {key: rounded(schedule.scaled(factor)).plain()} if schedule.highest > 0 else {}


def rounded(schedule: Schedule) -> Schedule:
    """With values of two digits."""
    frames = tuple((position, float(f"{value:.2g}")) for position, value in schedule.frames)
    return replace(schedule, frames=frames)


def at_most(seen: RunHistory, key: str, peak: float) -> Changes:
    """This schedule, brought down as a whole so that it never exceeds the peak."""
    highest = Schedule.parse(seen.setting(key, 0.0)).highest
    return scaled(seen, key, peak / highest) if highest > peak else {}


def capped(seen: RunHistory, key: str, cap: float) -> Changes:
    """This schedule where it is below the cap, and the cap where it is not."""
    schedule = Schedule.parse(seen.setting(key, 0.0))
    frames = [(position, min(value, cap)) for position, value in schedule.frames]
    while len(frames) > 2 and frames[0][1] == frames[1][1]:
        del frames[0]  # before its first frame a schedule stands still
    return {key: rounded(replace(schedule, frames=tuple(frames))).plain()}


def shown(value: float) -> str:
    return number_text(float(f"{value:.3g}"))
