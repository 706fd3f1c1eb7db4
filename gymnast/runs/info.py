"""The documents of a run as they are stored: run.json, events, and the parts of them."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

from gymnast.clock import ClockName
from gymnast.metrics.score import Score, StartScore

BRANCH, WEIGHTS = "branch", "weights"
"""`parent_kind`: the whole state of the parent was continued, or only its weights (`--from`)."""
Doubt = Literal["not better", "solved at start", "no spread", "all truncated"]
"""A reason why a score may not show that the task was learned (`gymnast.runs.doubts`)."""


class CpuInfo(TypedDict):
    model: str
    cores: int
    instructions: list[str]
    """Instruction sets that affect sums of floats."""


class MachineInfo(TypedDict):
    """The fields of run.json about a process, its machine and its installation."""

    host: str
    pid: int
    revision: str
    """Commit of gymnast's code, with `-dirty` if files were changed since; empty if it is unknown."""
    versions: dict[str, str]
    """Package -> installed version."""
    cpu: CpuInfo


class CheckpointSteps(TypedDict):
    best: int | None
    latest: int | None


class AlertInfo(TypedDict):
    """An alert (`gymnast.metrics.alert.Alert`) as it is stored."""

    id: str
    level: str
    message: str
    advice: str
    first: int
    last: int
    count: int
    active: bool


class LearningInfo(TypedDict):
    """A learning summary (`gymnast.runs.curve.Learning`) as it is stored."""

    area: float | None
    unused: NotRequired[float]
    mean_return: float
    steps_to_threshold: int | None
    seconds_to_threshold: float | None


class CurveInfo(TypedDict):
    """The evaluation curve with at most `runs.curve.CURVE_POINTS` points, as two lists: pairs load slower."""

    env_steps: list[float]
    mean_return: list[float]


class RunInfo(MachineInfo):
    """The content of run.json."""

    version: int
    id: str
    name: str
    preset: str
    env: str
    algo: str
    seed: int
    status: str
    """The last one written; `gymnast.runs.run.derived_status` is what readers show."""
    reason: str
    solved: bool | None
    score: Score | None
    threshold: float | None
    created: float
    updated: float
    parent: str | None
    group: str | None
    tags: list[str]
    note: str
    clocks: dict[str, int | float]
    """Clock -> count; empty before the first rollout."""
    attempts: int
    """How often a process has trained it."""
    checkpoints: CheckpointSteps
    alerts: list[AlertInfo]
    reason_kind: NotRequired[str]
    confirmed: NotRequired[bool]
    """Whether the score was measured on held-out seeds, at the end."""
    start_score: NotRequired[StartScore | None]
    """The score of the version that it started with, evaluated like every later one; None before that, and
    without evaluations."""
    doubts: NotRequired[list[Doubt]]
    learning: NotRequired[LearningInfo | None]
    live: NotRequired[dict[str, object]]
    """Settings changed during training: dotted key -> value."""
    limits: NotRequired[dict[str, float]]
    """The budget after live changes: clock -> limit, the main one first."""
    rates: NotRequired[dict[str, float]]
    """The present speed: clock -> counts per second."""
    curve: NotRequired[CurveInfo]
    data: NotRequired[str]
    """The data directory, absolute or relative to the runs directory (`runs.run_data`)."""
    tracked_over: NotRequired[ClockName]
    engine: NotRequired[str]
    repeatable: NotRequired[bool]
    """False if the run depends on the wall clock."""
    parent_step: NotRequired[int | None]
    parent_kind: NotRequired[str | None]


def branch_point(info: RunInfo) -> int | None:
    """Returns the env steps at which a run branched off its parent; None for a run that is not a branch."""
    return info.get("parent_step") if info.get("parent_kind") == BRANCH else None


# The functional form: "from" is a keyword.
Change = TypedDict("Change", {"key": str, "from": object, "to": object})
"""A change of a setting in an event."""


class EventInfo(TypedDict):
    """One line of events.jsonl: `kind`, `time` and the clocks, and further fields that depend on the kind, of
    which these are the ones that other code reads."""

    kind: str
    time: NotRequired[float]
    env_steps: NotRequired[int]
    rollouts: NotRequired[int]
    id: NotRequired[str]
    """Id of the command that it answers."""
    keys: NotRequired[list[str]]
    changes: NotRequired[list[Change]]
    checkpoint: NotRequired[int]
    rule: NotRequired[str]
    message: NotRequired[str]
    reason: NotRequired[str]
    reason_kind: NotRequired[str]
    why: NotRequired[str]


class Manifest(TypedDict):
    """The content of a checkpoint's manifest.json."""

    version: int
    step: int
    reason: str
    time: float
    files: dict[str, str]
    """File name -> sha256."""
    sizes: NotRequired[dict[str, int]]
    """File name -> bytes."""
