"""The settings that advice may change: those of learning, never those of measurement. And the direction in
which a change moves a setting.

Evaluation, facts, stop conditions, seeds and the environment determine what a score means. Changing them
makes two runs incomparable, so advice must not. This list is the only authority: settings that are not on it
are never advised.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from gymnast.config.schedule import Schedule

Value = TypeVar("Value")
SECTIONS = ("algo", "policy", "normalize")
"""Config sections in which every setting concerns learning, except for the name of the algorithm."""
OTHERS = ("env.n_envs",)
"""Settings of other sections that concern learning. Evaluation has its own number of environment copies."""


def concerns_learning(key: str) -> bool:
    """Returns whether the setting `key` (dotted) affects how the agent learns, and not how it is scored."""
    section, _, field = key.partition(".")
    if section == "roles":  # roles.NAME.set.KEY
        return concerns_learning(field.partition(".set.")[2])
    if section == "shaping":  # scores exclude shaping terms
        return key.endswith(".weight")
    return key in OTHERS or (section in SECTIONS and field not in ("", "name"))


def advisable_changes(
    changes: Mapping[str, Value], settings: Mapping[str, object]
) -> dict[str, Value]:
    """Returns the changes that concern learning, that exist for the run's algorithm, and that differ from the
    run's `settings` (dotted config key -> plain value)."""
    return {
        key: value
        for key, value in changes.items()
        if concerns_learning(key) and key in settings and settings[key] != value
    }


def direction(before: object, after: object) -> int:
    """Returns 1 if a change from `before` to `after` raises a setting, -1 if it lowers it, and 0 if it does
    neither: the values are equal, or not both numbers or schedules."""
    a, b = size(before), size(after)
    return 0 if a is None or b is None else (b > a) - (b < a)


def size(value: object) -> tuple[float, float] | None:
    """Returns what numbers and schedules are ordered by: the highest value and, among schedules with the same
    one, the mean of their key frames. None for anything else."""
    try:
        schedule = Schedule.parse(value)
    except (ValueError, TypeError):
        return None
    return schedule.highest, sum(v for _, v in schedule.frames) / len(schedule.frames)


def role_settings(settings: Mapping[str, Value], role: str) -> dict[str, Value]:
    """Returns the settings as they are for a role: its own (`roles.ROLE.set`) replace the shared ones."""
    own = f"roles.{role}.set."
    return {
        **settings,
        **{k.removeprefix(own): v for k, v in settings.items() if k.startswith(own)},
    }


def role_key(key: str, role: str, settings: Mapping[str, object]) -> str:
    """Returns the key with which to change a setting of a role: that of its own value if it has one, else the
    shared one."""
    own = f"roles.{role}.set.{key}"
    return own if own in settings else key
