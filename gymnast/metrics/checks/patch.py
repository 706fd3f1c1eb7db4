"""Which settings advice may change: how the agent learns, never how it is measured.

Evaluation, facts, stop conditions, seeds and the environment decide what a score means. A change there
makes two runs incomparable, so advice cannot contain one: this is the only list, and what is not on it
is not advised.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

SECTIONS = ("algo", "policy", "normalize")
"""Every setting in these concerns learning, except for the algorithm's name."""
OTHERS = ("env.n_envs",)
"""Evaluation has its own number of environment copies."""


def concerns_learning(key: str) -> bool:
    """Whether a setting changes how the agent learns, and nothing about how it is scored."""
    section, _, field = key.partition(".")
    if section == "shaping":  # scores are without shaping terms
        return key.endswith(".weight")
    return key in OTHERS or (section in SECTIONS and field not in ("", "name"))


def permitted(changes: Mapping[str, Any], settings: Mapping[str, Any]) -> dict[str, Any]:
    """Those changes that concern learning, that the run's algorithm has a setting for, and that
    differ from the run's `settings` (dotted key -> plain value)."""
    return {
        key: value
        for key, value in changes.items()
        if concerns_learning(key) and key in settings and settings[key] != value
    }
