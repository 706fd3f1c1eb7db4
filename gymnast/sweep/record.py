"""Records about studies, as programs and pages see them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from gymnast.insight.improvement import MeanInterval

StudyStatus = Literal["running", "interrupted", "finished"]
TrialState = Literal["training", "waiting", "complete", "failed"]
"""training: a unit of it is under way; waiting: it stopped at a rung, and continues if it is among the best
there; complete: a seed has trained to the end; failed: no usable result."""


@dataclass(frozen=True)
class SweepSummary:
    """A study in a list."""

    name: str
    path: str
    status: StudyStatus
    """running: a process works on it; interrupted: it can be resumed; finished: it is over."""
    reason: str
    """The reason why it is over, or the error that interrupted it; empty otherwise."""
    target: str
    """`ENV[:variant]` that its trials train."""
    mode: str
    """search or pbt."""
    sampler: str
    created: float
    """Time of its start, in seconds since the epoch."""
    trials: int
    """Number of trials so far, the baseline included."""
    planned_trials: int
    """Number of trials when it is over, the baseline included."""
    units: int
    """Pieces of work that are done: seeds trained to a rung."""
    running_units: int
    """Pieces of work under way."""
    env_steps: int
    """Env steps of all of its runs, without the confirmation."""
    planned_env_steps: int
    """Estimated env steps when it is over, without the confirmation."""
    seconds: float
    """Wall time so far."""
    best: int | None
    """Number of the best trial; None before the first result."""
    best_value: float | None
    """Estimated objective of the best trial, over many seeds."""
    baseline_value: float | None
    """The same of the target without changes; None in population-based training, where no member trains
    without changes for as long as the best one."""
    confirmed: bool
    """Whether its best trial was confirmed on fresh seeds."""
    problem: str
    """The failure of most of its trials, with a reason; empty if most have results."""


@dataclass(frozen=True)
class SeedRecord:
    """One seed of a trial."""

    seed: int
    """Root seed of its run."""
    run: str
    """Id of its run; empty while it waits for its turn."""
    name: str
    """Name of its run."""
    state: str
    """training, reached (its rung), finished, pruned or failed."""
    env_steps: int
    value: float | None
    """The objective at the rung that its trial has reached; None without a result."""
    problem: str
    """The reason of a failure."""
    points: tuple[tuple[float, float], ...] = ()
    """Its evaluation curve, env steps and mean return; empty unless curves were asked for."""


@dataclass(frozen=True)
class TrialRecord:
    """One trial of a study."""

    number: int
    is_baseline: bool
    """Whether it is the target without changes."""
    assignment: Mapping[str, object]
    """Parameter -> value; empty for the baseline."""
    overrides: Mapping[str, object]
    """Config key -> value that this trial changes."""
    state: TrialState
    rung: int
    """Number of rungs that its first seed has reached."""
    rank: int
    """Place among all trials, from 1."""
    value: float | None
    """Estimated objective over many seeds, at its rung."""
    mean: float | None
    """Mean objective of its seeds, at its rung."""
    spread: float
    """Standard deviation of `value`; 0 below the last rung."""
    seeds: tuple[SeedRecord, ...]
    env_steps: int
    """Env steps of all of its runs."""
    problem: str
    """The reason why it failed."""
    source: int | None = None
    """The trial whose checkpoint it started from, in population-based training."""


@dataclass(frozen=True)
class ParameterRecord:
    """One parameter of a space."""

    name: str
    kind: Literal["float", "int", "choice"]
    low: float | None
    high: float | None
    log: bool
    choices: tuple[object, ...]
    """The values in order, for a choice."""
    ordered: bool
    """Whether neighbors are similar: a range, or increasing numbers."""


@dataclass(frozen=True)
class SweepStatus:
    """A study with all of its trials."""

    summary: SweepSummary
    objective: str
    """The number by which trials are judged: area, score, threshold or cost."""
    rungs: tuple[int, ...]
    """Env steps at which trials are compared."""
    parameters: tuple[ParameterRecord, ...]
    trials: tuple[TrialRecord, ...]
    """All trials, by number."""


@dataclass(frozen=True)
class ConfirmedTrial:
    """A trial, or the baseline, on fresh seeds."""

    trial: int
    is_baseline: bool
    values: tuple[float, ...]
    """The objective of each seed; one that failed counts as the worst of all."""
    value: MeanInterval
    """Their mean, with a 95 % interval."""
    scores: tuple[float, ...]
    """Mean return on held-out episodes, per seed that finished."""
    score: MeanInterval | None
    """Their mean, with a 95 % interval."""
    runs: tuple[str, ...]
    """Ids of the runs."""


@dataclass(frozen=True)
class Confirmation:
    """The best trials and the baseline, trained again on seeds that no decision has seen."""

    trials: tuple[ConfirmedTrial, ...]
    """The best first; the baseline is among them if the study has one."""
    winner: int
    """Number of the best trial on fresh seeds; that of the baseline if none was better."""
    difference: MeanInterval | None
    """Interquartile mean of the objective of the winner minus that of the baseline."""
    exceeds_noise: bool | None
    """Whether the 95 % interval of the difference excludes 0; None if it is unknown."""
    verdict: str
    """The result as a sentence."""
    env_steps: int
    """Env steps of the confirmation."""
    seconds: float
    """Training time of the confirmation, summed over its runs."""
    shortened: str = ""
    """The reason why it has fewer seeds than planned; empty if it has all of them."""


@dataclass(frozen=True)
class BestTrial:
    """The best trial of a study, and how to use it."""

    study: str
    trial: TrialRecord
    command: str
    """The command that trains with its settings."""
    patch: str
    """Its settings as a variant of a preset, in YAML."""
    confirmation: Confirmation | None
    """None if it was not confirmed on fresh seeds."""
    unconfirmed: str
    """The reason why it was not; empty if it was."""
    env_steps: int
    """Env steps of the search, without the confirmation."""
    seconds: float


@dataclass(frozen=True)
class ParameterImportance:
    """The importance of one parameter."""

    name: str
    importance: float
    """Its share of what distinguishes the best quarter of the trials from the others, 0 to 1 (PED-ANOVA)."""
    low: float
    """Lower end of its 95 % bootstrap interval over trials."""
    high: float


@dataclass(frozen=True)
class SweepImportance:
    """The importance of each parameter of a study, and how certain it is."""

    study: str
    trials: int
    """Number of trials that the estimate uses."""
    parameters: tuple[ParameterImportance, ...]
    """The most important first."""
    caution: str
    """The reason why the estimate is unreliable; empty if there is none."""


@dataclass(frozen=True)
class SweepPlan:
    """A search that could be started. Nothing has been written."""

    target: str
    trials: int
    """Number of trials, the baseline included."""
    rungs: tuple[int, ...]
    parameters: tuple[str, ...]
    assignments: int | None
    """Number of different assignments; None if there are infinitely many."""
    env_steps: int
    """Estimated env steps of the search."""
    confirm_env_steps: int
    """Env steps of the confirmation."""
    minutes: float
    """Estimated wall time of both, from the measured speed of the first updates."""
    bytes: int
    """Estimated disk space while the search runs."""
    free_bytes: int
    """Free disk space."""
    jobs: int
    warnings: tuple[str, ...] = ()
    """One sentence each."""


@dataclass(frozen=True)
class SweepProgress:
    """The progress of a study while it runs."""

    summary: SweepSummary
    confirm_done: int
    """Number of runs of the confirmation that are done."""
    confirm_total: int
    """Number of runs of the confirmation; 0 before it starts."""


@dataclass(frozen=True)
class StartedSweep:
    """A study that runs in the background."""

    name: str
    path: str
    pid: int
    plan: SweepPlan | None = None
    """Its plan; None for a resumed one."""
    commands: tuple[str, ...] = field(default_factory=tuple)
    """Commands that show and stop it."""
