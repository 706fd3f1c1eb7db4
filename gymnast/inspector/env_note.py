"""The reason why the environment of a stored episode cannot be opened."""

from __future__ import annotations

from collections.abc import Callable

from gymnast.errors import EnvError


def opening_problem(open_env: Callable[[], object]) -> str:
    """Opens an environment; returns why that is not possible, empty if it is."""
    try:
        open_env()
    except EnvError as problem:
        return f"the environment cannot be opened: {problem.message}"
    return ""
