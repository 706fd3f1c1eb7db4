"""Sends a command to a run or a job and waits for the answer."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gymnast.errors import RunError
from gymnast.jobs import queue, record, status
from gymnast.jobs.remote.refresh import cancel as cancel_remote
from gymnast.jobs.remote.refresh import is_remote, refresh, takes_commands
from gymnast.metrics.score import RunScore
from gymnast.runs import inbox, layout, lock
from gymnast.runs.inbox import CommandKind
from gymnast.runs.run import ACTIVE, Run


@dataclass(frozen=True)
class SettingChange:
    """A setting that a command has changed."""

    key: str
    before: object
    after: object


@dataclass(frozen=True)
class CommandAnswer:
    """The answer of a run to a command."""

    id: str
    """Id of the run."""
    command: CommandKind
    status: str
    """Status of the run after the command."""
    answered: bool
    """False if the run has not answered in time: the command takes effect at its next rollout boundary."""
    env_steps: int | None = None
    """Env steps of the run when it applied the command."""
    changes: tuple[SettingChange, ...] = ()
    """The settings that `set` has changed."""
    score: RunScore | None = None
    """The score of the current policy, for `evaluate`."""
    dequeued: bool = False
    """True if `stop` removed a job from the queue before it started."""


def send_command(
    ref: str,
    kind: CommandKind,
    *,
    assignments: Mapping[str, object] | None = None,
    by: str,
    runs_dir: Path,
    seconds: float = 10.0,
) -> CommandAnswer:
    """Sends a command of this kind to the run or job `ref`, and waits up to `seconds` for the run's answer.
    `assignments`: dotted key -> value, for `set`; `by`: the sender.

    Raises RunError if there is no such run, if no process is training it or if it refuses the command, and
    ConfigError for invalid assignments.
    """
    target = status.find(ref, runs_dir)
    path, deadline = Path(target.path), time.monotonic() + seconds
    if is_remote(path.parent, target.id):
        refresh(path.parent, [target.id])
        target = status.read_status(path)
        if target.is_live and not takes_commands(path.parent, target.id):
            return _command_remote(target, kind, deadline)
    if target.status == "queued":
        if kind != "stop":
            raise RunError(f"{target.id} is queued and does not train yet", fix="gymnast jobs")
        cancel_queued(target)
        return CommandAnswer(target.id, kind, "stopped", answered=True, dequeued=True)
    while target.status == "starting" and time.monotonic() < deadline:
        time.sleep(status.POLL_SECONDS)
        target = status.read_status(path)
    if not layout.RUN.path(path).exists():
        raise RunError(f"{target.id} is {target.status}: {target.reason or 'not a run yet'}")
    run = Run(path)
    # Checked here too, so that a typo is reported at once and not at the next rollout boundary.
    if kind == "set" and target.status in ACTIVE:
        check_live_changes(run, assignments or {})
    command = inbox.send(run, kind, by=by, assignments=assignments)
    return _wait_for_answer(run, command, max(deadline - time.monotonic(), 0.0))


def _command_remote(job: status.RunStatus, kind: CommandKind, deadline: float) -> CommandAnswer:
    """Stops a remote job that does not read commands from here: because it waits, or because its run is on
    another host. Raises RunError for other commands, and CommandFailed if its provider does not answer."""
    path = Path(job.path)
    if kind != "stop":
        where = f"{job.id} is {job.status} elsewhere and reads no commands from here"
        raise RunError(where, fix="use this command on its host, or share the runs directory")
    if not cancel_remote(path.parent, job.id):
        raise RunError(f"{job.id} is {job.status}, and its provider has no cancel command")
    while not status.has_ended(path) and time.monotonic() < deadline:
        time.sleep(status.POLL_SECONDS)
        refresh(path.parent, [job.id])
    now = status.read_status(path)
    has_run = layout.RUN.path(path).exists()
    steps = int(Run(path).info["clocks"].get("env_steps", 0)) if has_run else None
    return CommandAnswer(
        job.id,
        kind,
        now.status,
        answered=not now.is_live,
        env_steps=steps,
        dequeued=not has_run,
    )


def cancel_queued(job: status.RunStatus) -> None:
    """Removes a job from the queue, so that it never starts. Raises RunError if it does not wait there."""
    folder = record.jobs_dir(Path(job.path).parent)
    if is_remote(Path(job.path).parent, job.id):
        if job.status != "queued" or not cancel_remote(Path(job.path).parent, job.id):
            raise RunError(f"{job.id} is {job.status}", fix=f"gymnast stop {job.id}")
        return
    # `cancel` fails if the job has just started; then the next attempt reaches its run.
    if not queue.cancel(folder, job.id):
        state = "does not wait in the queue"
        raise RunError(f"{job.id} is {job.status} and {state}", fix=f"gymnast stop {job.id}")
    record.update(folder, job.id, cancelled=True)


def check_live_changes(run: Run, assignments: Mapping[str, object]) -> None:
    """Raises ConfigError for unknown keys, invalid values and settings that cannot change during a run.
    `assignments`: dotted key -> value."""
    from gymnast.config.live import apply_assignments, with_live_changes

    config = run.trusted_config()
    apply_assignments(with_live_changes(config, run.info.get("live", {})), assignments)


def _wait_for_answer(run: Run, command: inbox.Command, seconds: float) -> CommandAnswer:
    """Waits up to `seconds` for the event that answers a command. Raises RunError if the run ends first or
    refuses the command."""
    wait_for_lock = command.kind == "stop"  # so that the run can be resumed at once
    event = inbox.wait_for_answer(
        run, command, seconds, lambda: not (wait_for_lock and lock.has_writer(run.path))
    )
    if event is None:
        return CommandAnswer(run.id, command.kind, run.status, answered=False)
    if event["kind"] == "ended":
        raise RunError(f"{run.id} ended before it could {command.kind}: {event.get('why')}")
    if event["kind"] == "command refused":
        raise RunError(f"{run.id} did not {command.kind}: {event.get('why')}")
    return _answer(run, command, event)


def _answer(run: Run, command: inbox.Command, event: Mapping[str, Any]) -> CommandAnswer:
    """Returns the content of the event with which the run answered a command."""
    changes = tuple(
        SettingChange(change["key"], change["from"], change["to"])
        for change in event.get("changes", ())
    )
    steps = event["env_steps"]
    score = _score(run, steps) if command.kind == "evaluate" else None
    return CommandAnswer(
        run.id,
        command.kind,
        run.status,
        answered=True,
        env_steps=steps,
        changes=changes,
        score=score,
    )


def _score(run: Run, version: int) -> RunScore | None:
    """Returns the recorded result of the evaluation of this policy version (env steps); None if it is neither
    in the latest 100 rows nor that of the start."""
    with run.metrics() as metrics:
        for row in reversed([*metrics.rows(last=100)]):
            if row.get("eval:clock/env_steps") == version:
                mean, low, high = (
                    row[f"eval:episode/{name}"] for name in ("return", "low", "high")
                )
                episodes = int(row["eval:episode/count"])
                return RunScore(mean, low, high, episodes, env_steps=version, kind="evaluated")
    start = run.info.get("start_score")
    return (
        RunScore.from_info(start, "evaluated")
        if start and start.get("env_steps") == version
        else None
    )
