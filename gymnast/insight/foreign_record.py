"""The part of a diagnosis that is only about runs of other programs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Verdict = Literal["solved", "learning", "stalled", "collapsed", "unknown"]
ScoreKind = Literal["evaluation", "training"]
"""Whether a return is that of evaluations, or of the episodes of training with sampled actions."""


@dataclass(frozen=True)
class NotChecked:
    """A check that the run does not have the metrics or settings for."""

    check: str
    """The problem that it would find."""
    missing: list[str]
    """The metrics and settings that the run does not have."""


@dataclass(frozen=True)
class ForeignDiagnosis:
    """The part of a diagnosis that applies only to foreign runs."""

    format: str
    """The file format in words."""
    library: str
    """The library whose names the metrics have."""
    files: list[str]
    """The files that were read."""
    env: str
    """Id of the environment; empty if it is unknown."""
    env_steps: int
    """Env steps of the last row."""
    rows: int
    """Number of rows."""
    verdict: Verdict
    """The course of the return."""
    score_kind: ScoreKind
    """The kind of return that the verdict is about."""
    checked: list[str]
    """The problems that were looked for."""
    not_checked: list[NotChecked]
    """The problems that could not be looked for."""
    hyperparameters: dict[str, str]
    """Hyperparameters that are known and that have a setting in gymnast, under the names of the library."""
    problems: list[str]
    """The damage of the files, as sentences."""
