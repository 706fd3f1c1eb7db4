"""Numbers of a request that would take too long or too much memory."""

from __future__ import annotations

from collections.abc import Mapping

from gymnast.errors import Failure

LIMITS: dict[str, tuple[float, float]] = {
    "timeout": (0, 60),  # seconds; ask again for longer
    "points": (1, 100_000),
    "seeds": (1, 1_000),
    "confirm_seeds": (0, 1_000),
    "width": (1, 4_096),  # pixels
    "trials": (1, 10_000),
    "minutes": (0.1, 7 * 24 * 60),
    "total_env_steps": (1, 10**12),
    "jobs": (1, 64),
}
"""Argument -> smallest and largest value."""
LARGEST_INTEGER = 2**53
"""Integers up to here are exact in JSON; larger ones would not fit into the database either."""


def limit_refusal(operation: str, arguments: Mapping[str, object]) -> Failure | None:
    """Returns the error for a number outside its limits; None if there is none. Numbers of a query string
    are texts."""
    for argument, value in arguments.items():
        low, high = LIMITS.get(argument, (-LARGEST_INTEGER, LARGEST_INTEGER))
        number = _number(value) if argument in LIMITS or isinstance(value, int) else _integer(value)
        if number is not None and not low <= number <= high:
            problem = f"{argument} must be between {low:,} and {high:,}"
            return Failure("usage", problem, at=operation)
    return None


def _number(value: object) -> float | None:
    """Returns a number or the number that a text is; None for anything else."""
    try:
        return float(value) if isinstance(value, int | float | str) else None
    except (ValueError, OverflowError):
        return None


def _integer(value: object) -> int | None:
    """Returns the integer that a text of a query string is; None for anything else."""
    if isinstance(value, str) and len(value) > 15 and value.strip().lstrip("+-").isdecimal():
        return int(value) if len(value) < 1000 else LARGEST_INTEGER + 1
    return None
