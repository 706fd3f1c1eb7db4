"""Sends a command to a run or a job and waits for the answer."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from gymnast.errors import RunError
from gymnast.jobs import queue, record, status
from gymnast.runs import inbox, layout, lock
from gymnast.runs.run import ACTIVE, Run


def send_command(
    ref: str,
    kind: str,
    *,
    assignments: dict[str, Any] | None = None,
    runs_dir: Path,
    seconds: float = 10.0,
) -> dict[str, Any]:
    """Sends a command of this kind (`inbox.KINDS`) to the run or job `ref`, and waits up to `seconds` for the
    run's answer. `assignments`: dotted key -> value, for `set`.

    Returns `id`, `command`, `status` and `answer`: the event with which the run answered; None if it has not
    answered yet. Raises RunError if there is no such run, if no process is training it or if it refuses the
    command, and ConfigError for invalid assignments.
    """
    target = status.find(ref, runs_dir)
    path, deadline = Path(target["path"]), time.monotonic() + seconds
    if target["status"] == "queued":
        return _command_queued_job(target, path, kind)
    while target["status"] == "starting" and time.monotonic() < deadline:
        time.sleep(status.POLL_SECONDS)
        target = status.read_status(path)
    if not layout.RUN.path(path).exists():
        raise RunError(
            f"{target['id']} is {target['status']}: {target['reason'] or 'not a run yet'}"
        )
    run = Run(path)
    # Checked here too, so that a typo is reported at once and not at the next rollout boundary.
    if kind == "set" and target["status"] in ACTIVE:
        check_live_changes(run, assignments or {})
    command = inbox.send(run, kind, assignments=assignments)
    return _wait_for_answer(run, command, max(deadline - time.monotonic(), 0.0))


def check_live_changes(run: Run, assignments: dict[str, Any]) -> None:
    """Raises ConfigError for unknown keys, invalid values and settings that cannot change during a run.
    `assignments`: dotted key -> value."""
    from gymnast.config.live import apply_assignments, with_live_changes

    config = run.config()
    apply_assignments(with_live_changes(config, run.info.get("live", {})), assignments)


def _command_queued_job(job: dict[str, Any], path: Path, kind: str) -> dict[str, Any]:
    """Applies a command to a queued job, which accepts only `stop`: it then never starts. Raises RunError for
    other commands, or if the job has just started. `path`: the directory that is reserved for its run."""
    folder = record.jobs_dir(path.parent)
    # `cancel` fails if the job has just started; then the next attempt reaches its run.
    if kind != "stop" or not queue.cancel(folder, job["id"]):
        raise RunError(f"{job['id']} is queued and does not train yet", fix="gymnast jobs")
    record.update(folder, job["id"], cancelled=True)
    return {"id": job["id"], "command": kind, "status": "stopped", "answer": {"kind": "gone"}}


def _wait_for_answer(run: Run, command: inbox.Command, seconds: float) -> dict[str, Any]:
    """Waits up to `seconds` for the event that answers a command, and returns it as `answer` (None if there
    is none) with the status of the run; after `evaluate`, with the score. Raises RunError if the run ends
    first or refuses the command."""
    wait_for_lock = command.kind == "stop"  # so that the run can be resumed at once
    answer = inbox.wait_for_answer(
        run, command, seconds, lambda: not (wait_for_lock and lock.has_writer(run.path))
    )
    if answer is not None and answer["kind"] == "ended":
        raise RunError(f"{run.id} ended before it could {command.kind}: {answer.get('why')}")
    if answer is not None and answer["kind"] == "command refused":
        raise RunError(f"{run.id} did not {command.kind}: {answer.get('why')}")
    if answer is not None and command.kind == "evaluate":
        answer = {**answer, "score": _score(run, answer.get("env_steps", 0))}
    return {"id": run.id, "command": command.kind, "status": run.status, "answer": answer}


def _score(run: Run, version: int) -> dict[str, float] | None:
    """Returns the recorded result of the evaluation of this policy version (env steps); None if the latest
    100 rows do not have it."""

    names = {"mean": "return", "low": "low", "high": "high", "episodes": "count"}
    with run.metrics() as metrics:
        for row in reversed([*metrics.rows(last=100)]):
            if row.get("eval:clock/env_steps") == version:
                return {key: row[f"eval:episode/{name}"] for key, name in names.items()}
    return None
