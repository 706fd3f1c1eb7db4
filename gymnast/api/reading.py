"""Jobs, and commands to runs that are training."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gymnast.jobs import status
from gymnast.jobs.status import JobInfo
from gymnast.runs import store
from gymnast.runs.store import RunsDir


def jobs(*, runs_dir: RunsDir = None) -> list[JobInfo]:
    """Lists every background job with its status, newest first."""
    return status.list_jobs(store.runs_dir(runs_dir))


def send_command(
    ref: str,
    kind: str,
    assignments: Mapping[str, Any] | None = None,
    *,
    seconds: float = 30.0,
    runs_dir: RunsDir = None,
) -> dict[str, Any]:
    """Sends a run a command: stop, pause, unpause, checkpoint, evaluate, or `set` with assignments.

    `answer` in the result is the run's answer; None if there is none within `seconds`."""
    from gymnast.jobs import commands

    directory = store.runs_dir(runs_dir)
    return commands.send_command(
        ref, kind, assignments=dict(assignments or {}), runs_dir=directory, seconds=seconds
    )
