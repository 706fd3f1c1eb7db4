"""Long operations, each in a child process: they return a `Task` at once. And the list of tasks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gymnast.audit.record import AuditReport
from gymnast.check.finding import CheckReport, PresetsReport, check_names
from gymnast.errors import Failure, UsageError
from gymnast.evaluation.record import EvaluationReport
from gymnast.film.record import FilmReport
from gymnast.network_report.record import NetworkReport
from gymnast.records import to_json
from gymnast.runs import store
from gymnast.runs.episode_kinds import Kind
from gymnast.runs.store import RunsDir
from gymnast.tasks import Task, TaskInfo, TaskState, default_runner, start
from gymnast.tune.record import ScaleResult, TuningResult


@dataclass(frozen=True)
class TaskOutcome:
    """The outcome of a task."""

    id: str
    """Id of the task."""
    state: TaskState
    """The state of the task."""
    result: object = None
    """The result in its JSON form; None unless the state is `done`."""
    failure: Failure | None = None
    """The reason why there is no result; None unless the task ended without one."""


def tasks() -> list[TaskInfo]:
    """Returns the tasks of this process, newest first: all that run or wait, and the last that ended."""
    return [task.info() for task in default_runner().tasks()]


def task(id: str) -> TaskInfo:
    """Returns the state and the progress of a task."""
    return default_runner().find(id).info()


def task_log(id: str) -> str:
    """Returns what the environment of a task has printed, and the traceback of an unexpected error."""
    return default_runner().find(id).log


def task_result(id: str, *, timeout: float = 0.0) -> TaskOutcome:
    """Returns the result of a task, or its error, or only its state if it has not ended within `timeout`
    seconds."""
    found = default_runner().find(id)
    if not found.wait(timeout):
        return TaskOutcome(id, found.state)
    outcome = found.outcome()
    if isinstance(outcome, Failure):
        return TaskOutcome(id, found.state, failure=outcome)
    return TaskOutcome(id, found.state, to_json(outcome))


def cancel_task(id: str, *, timeout: float = 10.0) -> TaskInfo:
    """Stops a task and everything that it started; waits up to `timeout` seconds until it has ended."""
    found = default_runner().find(id)
    found.cancel()
    found.wait(timeout)
    return found.info()


def eval(
    ref: str = "@last",
    *,
    episodes: int | None = None,
    seed: int | None = None,
    sampled: bool = False,
    roles: Mapping[str, str] | None = None,
    deadline: float | None = None,
    runs_dir: RunsDir = None,
) -> Task[EvaluationReport]:
    """Evaluates a checkpoint of a run on held-out episode seeds: the one that `RUN:CHECKPOINT` names, else
    the best, else the latest.

    `episodes`: their number, by default as in the final evaluation of training; `seed`: root seed of the
    episodes; `sampled`: sample actions instead of taking the most likely ones. In environments with several
    roles, each learned role plays against scripted opponents; `roles` (role -> player) chooses the players:
    learner, scripted:NAME, random, step:N or RUN[:CHECKPOINT]."""
    arguments = {"ref": ref, "episodes": episodes, "seed": seed, "sampled": sampled, "roles": roles}
    return start(
        "gymnast.evaluation.task:evaluate",
        arguments | {"runs_dir": store.runs_dir(runs_dir)},
        EvaluationReport,
        title=f"evaluate {ref}",
        deadline=deadline,
    )


def check(
    target: str,
    *,
    steps: int | None = None,
    seed: int = 0,
    overrides: Mapping[str, object] | None = None,
    allow: Sequence[str] = (),
    deadline: float | None = None,
) -> Task[CheckReport]:
    """Steps an environment (`ENV[:VARIANT]`) with random actions and reports what is wrong with it, where,
    and what that means for training. `steps`: their number, by default 2,000; `overrides`: dotted config
    key -> value; `allow`: checks whose errors are reported as notes."""
    check_names(allow)
    arguments = {"target": target, "steps": steps, "seed": seed, "overrides": overrides or {}}
    return start(
        "gymnast.check.task:check",
        arguments | {"allow": allow},
        CheckReport,
        title=f"check {target}",
        deadline=deadline,
    )


def check_all(
    targets: Sequence[str] = (),
    *,
    steps: int | None = None,
    seed: int = 0,
    allow: Sequence[str] = (),
    deadline: float | None = None,
) -> Task[PresetsReport]:
    """Tests presets: trains each for a second, evaluates it, replays its episodes and compares its facts
    with the environment. `targets`: presets `ENV[:VARIANT]`, by default all that are shipped; `steps`:
    random steps per environment, by default 300; `allow`: checks whose errors count as notes."""
    check_names(allow)
    return start(
        "gymnast.check.task:check_all",
        {"targets": targets, "steps": steps, "seed": seed, "allow": allow},
        PresetsReport,
        title=f"check the presets {', '.join(targets)}" if targets else "check all presets",
        deadline=deadline,
    )


def net(
    target: str,
    *,
    overrides: Mapping[str, object] | None = None,
    deadline: float | None = None,
    runs_dir: RunsDir = None,
) -> Task[NetworkReport]:
    """Reports the network of an environment (`ENV[:VARIANT]`, untrained) or of a run's checkpoint layer by
    layer, with activations and gradients on a short rollout. `overrides`: dotted config key -> value, for
    environments only."""
    directory = store.runs_dir(runs_dir)
    is_run = store.find_run(target, directory) is not None
    if is_run and overrides:
        fix = "omit the overrides (--set), or name an environment"
        raise UsageError(f"{target} is a run, and the network of a run cannot be changed", fix=fix)
    arguments = {"target": target, "is_run": is_run, "overrides": overrides or {}}
    return start(
        "gymnast.network_report.task:net",
        arguments | {"runs_dir": directory},
        NetworkReport,
        title=f"report the network of {target}",
        deadline=deadline,
    )


def audit(
    ref: str = "@last",
    *,
    episodes: int = 100,
    deadline: float | None = None,
    runs_dir: RunsDir = None,
) -> Task[AuditReport]:
    """Audits the reward of a run: how much each term contributes, and which can be farmed, i.e. collected
    without winning until winning is not worth it. `episodes`: matches per cast, in environments with several
    roles."""
    return start(
        "gymnast.audit.audit:audit",
        {"ref": ref, "episodes": episodes, "runs_dir": store.runs_dir(runs_dir)},
        AuditReport,
        title=f"audit {ref}",
        deadline=deadline,
    )


def video(
    ref: str = "@last",
    *,
    episode: str = "best",
    kind: Kind = "eval",
    learning: bool = False,
    grid: str | None = None,
    out: str | None = None,
    fps: float | None = None,
    deadline: float | None = None,
    runs_dir: RunsDir = None,
) -> Task[FilmReport]:
    """Makes a film of a stored episode, of matches, or of learning progress. `episode`: `best`, `last` or a
    number from 0; `learning`: several evaluations in sequence; `grid`: a PNG file for eight frames instead
    of a film; `out`: the .mp4 file, by default in the run; `fps`: frames per second."""
    if learning and (grid or episode != "best"):
        raise UsageError("--learning cannot be combined with --grid or --episode")
    arguments = {"ref": ref, "episode": episode, "kind": kind, "learning": learning}
    arguments |= {"grid": grid, "out": out, "fps": fps, "runs_dir": store.runs_dir(runs_dir)}
    return start(
        "gymnast.film.task:video",
        arguments,
        FilmReport,
        title=f"film {ref}",
        deadline=deadline,
    )


def tune_envs(
    target: str,
    *,
    backends: Sequence[str] = (),
    copies: Sequence[int] = (),
    seconds: float = 2.0,
    overrides: Mapping[str, object] | None = None,
    deadline: float | None = None,
) -> Task[TuningResult]:
    """Measures which environment backend, with how many copies, collects experience fastest on this machine,
    and returns a patch for the config. `backends` and `copies`: what is measured, by default all backends
    with 4, 8, 16 and 32 copies; `seconds`: maximum per measurement; `overrides`: dotted config key ->
    value."""
    arguments = {"target": target, "backends": backends, "copies": copies, "seconds": seconds}
    return start(
        "gymnast.tune.task:tune_envs",
        arguments | {"overrides": overrides or {}},
        TuningResult,
        title=f"measure {target}",
        deadline=deadline,
    )


def tune_scale(
    target: str,
    *,
    seconds: float = 3.0,
    overrides: Mapping[str, object] | None = None,
    deadline: float | None = None,
) -> Task[ScaleResult]:
    """Measures where the time of a run goes, predicts its speed on several hosts, and recommends a number of
    hosts and a mode, or one process. `seconds`: maximum per measurement; `overrides`: dotted config key ->
    value."""
    return start(
        "gymnast.tune.task:tune_scale",
        {"target": target, "seconds": seconds, "overrides": overrides or {}},
        ScaleResult,
        title=f"measure hosts for {target}",
        deadline=deadline,
    )
