"""Arrays of several roles in one file, named `ROLE/name`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

T = TypeVar("T")

POLICY, LEARNER = "policy", "learner"
"""Stems of a checkpoint's files with the arrays of all policies and of all learners."""


def add_role_prefix(by_role: Mapping[str, Mapping[str, T]]) -> dict[str, T]:
    """Returns the arrays of all roles (role -> name -> array) in one mapping, named `ROLE/name`."""
    return {f"{role}/{name}": a for role, arrays in by_role.items() for name, a in arrays.items()}


def arrays_of_role(role: str, arrays: Mapping[str, T]) -> dict[str, T]:
    """Returns the arrays of one role, named without the prefix `ROLE/`."""
    return strip_prefix(f"{role}/", arrays)


def strip_prefix(prefix: str, arrays: Mapping[str, T]) -> dict[str, T]:
    """Returns the arrays whose names start with `prefix`, with that prefix removed."""
    return {name[len(prefix) :]: a for name, a in arrays.items() if name.startswith(prefix)}
