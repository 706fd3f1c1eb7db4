"""The options of searches, for every function that takes them: each is declared and described here only."""

from __future__ import annotations

from pydantic import ConfigDict, with_config
from typing_extensions import TypedDict  # pydantic cannot read that of `typing` before Python 3.12

from gymnast.api.overrides import Overrides
from gymnast.sweep.objective import TuningGoal


@with_config(ConfigDict(extra="forbid"))
class SweepOptions(TypedDict, total=False):
    """The options of a search. What is left out or None is decided by its space."""

    trials: int | None
    """Number of assignments to try."""
    seeds: int | None
    """How many seeds the best trials get."""
    confirm_seeds: int | None
    """Number of fresh seeds on which the best trial is confirmed; 0: it is not."""
    sampler: str | None
    """How trials are proposed: tpe, surrogate, gp, cmaes, random or grid."""
    proposer: str | None
    """Instead of a sampler, the name of a command in the settings file that proposes trials."""
    mode: str | None
    """search, or pbt for population-based training."""
    minutes: float | None
    """Wall time of the study, the confirmation included."""
    run_minutes: float | None
    """Wall time of one run, unless the space sets `stop.minutes`."""
    total_env_steps: int | None
    """Env steps of all trials together."""
    source: str
    """A run or RUN:CHECKPOINT whose weights all trials start from."""
    jobs: int
    """How many runs train at once, 1 by default."""


@with_config(ConfigDict(extra="forbid"))
class TuningOptions(TypedDict, total=False):
    """The options of tuning a preset."""

    minutes: float
    """Wall time, the confirmation included; 30 by default."""
    overrides: Overrides | None
    """Settings that all trials have in common."""
    jobs: int
    """How many runs train at once, 1 by default."""
    seed: int
    """Seed of the proposals, and the first one of the trials."""
    objective: TuningGoal
    """The goal: the area under the evaluation curve (the default), which rewards fast learning, or the
    return at the end of whole runs."""
