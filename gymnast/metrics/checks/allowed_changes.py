"""The settings that advice may change: those of learning, never those of measurement.

Evaluation, facts, stop conditions, seeds and the environment determine what a score means. Changing them
makes two runs incomparable, so advice must not. This list is the only authority: settings that are not on it
are never advised.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

Value = TypeVar("Value")
SECTIONS = ("algo", "policy", "normalize")
"""Config sections in which every setting concerns learning, except for the name of the algorithm."""
OTHERS = ("env.n_envs",)
"""Settings of other sections that concern learning. Evaluation has its own number of environment copies."""


def concerns_learning(key: str) -> bool:
    """Returns whether the setting `key` (dotted) affects how the agent learns, and not how it is scored."""
    section, _, field = key.partition(".")
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
