"""Tell a run or a job something, and say what came of it."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from gymnast.errors import RunError
from gymnast.jobs import queue, record, standing
from gymnast.runs import inbox, lock
from gymnast.runs.run import ACTIVE, Run


def send_command(
    ref: str,
    kind: str,
    *,
    assignments: dict[str, Any] | None = None,
    runs_dir: Path,
    seconds: float = 10.0,
) -> dict[str, Any]:
    """Send a command and wait this long for the run's answer.

    `answer` is the event by which the run answered, None where it has not yet.
    """
    found = standing.find(ref, runs_dir)
    path, deadline = Path(found["path"]), time.monotonic() + seconds
    if found["status"] == "queued":
        return _tell_queued(found, path, kind)
    while found["status"] == "starting" and time.monotonic() < deadline:
        time.sleep(standing.LOOK_SECONDS)
        found = standing.of_path(path)
    if not (path / "run.json").exists():
        raise RunError(f"{found['id']} is {found['status']}: {found['reason'] or 'not a run yet'}")
    run = Run(path)
    if kind == "set" and found["status"] in ACTIVE:
        refuse_what_cannot_change(run, assignments or {})
    command = inbox.send(run, kind, assignments=assignments)
    return _answered(run, command, max(deadline - time.monotonic(), 0.0))


def refuse_what_cannot_change(run: Run, assignments: dict[str, Any]) -> None:
    """Unknown keys, wrong values and settings that are fixed while a run goes on."""
    from gymnast.config.live import changed, with_live_changes
    from gymnast.config.saved import load

    config = load(run.config(), at=str(run.path / "config.yaml"))
    changed(with_live_changes(config, run.info.get("live", {})), assignments)


def _tell_queued(found: dict[str, Any], path: Path, kind: str) -> dict[str, Any]:
    """A job that waits can only be stopped, which is to say that it never starts."""
    folder = record.folder_of(path.parent)
    if kind != "stop" or not queue.give_up(folder, found["id"]):
        raise RunError(f"{found['id']} is queued: it does not train yet", fix="gymnast jobs")
    record.update(folder, found["id"], cancelled=True)
    return {"id": found["id"], "command": kind, "status": "stopped", "answer": {"kind": "gone"}}


def _answered(run: Run, command: inbox.Command, seconds: float) -> dict[str, Any]:
    released = command.kind == "stop"  # then it can be resumed at once
    answer = inbox.answer(run, command, seconds, lambda: not (released and lock.is_held(run.path)))
    if answer is not None and answer["kind"] == "ended":
        raise RunError(f"{run.id} ended before it could {command.kind}: {answer['why']}")
    if answer is not None and answer["kind"] == "command refused":
        raise RunError(f"{run.id} did not {command.kind}: {answer['why']}")
    if answer is not None and command.kind == "evaluate":
        answer = {**answer, "score": _score(run, answer["env_steps"])}
    return {"id": run.id, "command": command.kind, "status": run.status, "answer": answer}


def _score(run: Run, version: int) -> dict[str, float] | None:
    """What the evaluation of this version came to, as the record has it."""
    from gymnast.metrics.store import MetricStore

    names = {"mean": "return", "low": "low", "high": "high", "episodes": "count"}
    with MetricStore(run.path / "metrics.db") as record_of_run:
        for row in reversed([*record_of_run.rows(last=100)]):
            if row.get("eval:clock/env_steps") == version:
                return {key: row[f"eval:episode/{name}"] for key, name in names.items()}
    return None
