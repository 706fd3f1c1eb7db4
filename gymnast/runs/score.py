"""The score of a policy: the mean raw return of an evaluation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields


@dataclass(frozen=True)
class Score:
    mean: float
    """Mean raw return over the episodes."""
    low: float
    """Lower bound of the 95 % confidence interval of the mean; -inf for a single episode."""
    high: float
    """Upper bound of the interval; inf for a single episode."""
    episodes: int
    """Number of episodes that finished."""
    iqm: float | None = None
    """Interquartile mean."""
    env_steps: int | None = None
    """Env steps of the policy version."""
    planned: int | None = None
    """Number of episodes that were planned, if some of them are missing."""
    missing: str = ""
    """The reason why they are missing."""


_KEYS = frozenset(field.name for field in fields(Score))


def read_score(document: Mapping[str, object] | None) -> Score | None:
    """Returns the score that run.json stores; None if there is none."""
    if document is None:
        return None
    return Score(**{key: value for key, value in document.items() if key in _KEYS})  # pyright: ignore[reportArgumentType]  # fields of a JSON document
