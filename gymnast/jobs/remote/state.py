"""The status of a remote job, from its record, the last answer of its provider and the files of its run."""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path

from gymnast.errors import RunError
from gymnast.jobs import record
from gymnast.runs.info import RunInfo
from gymnast.runs.run import ACTIVE, derived_status, read_info
from gymnast.text import formatting

PATIENCE_SECONDS = 600.0
"""Time without an answer of a provider after which its jobs count as lost."""


def remote_status(path: Path, job: record.JobRecord) -> tuple[str, str]:
    """Returns the status of a remote job and its reason. `path`: the directory of its run here."""
    info = _info_of(path, job)
    if info is None:
        return _status_without_run(job)
    if is_preempted(path, job):
        if job.get("state") in ("waiting", "running"):
            return "queued", f"preempted; {_name(job)} continues it"
        return "stopped", f"preempted: {info['reason']}"
    if info["status"] not in ACTIVE:
        if _is_copied(job) and job.get("state") == "running" and not _is_silent(job):
            return "running", "its last files are not copied yet"
        return info["status"], info["reason"]
    return _status_of_active(path, job, info)


def is_preempted(path: Path, job: record.JobRecord) -> bool:
    """Returns whether a job that is to be continued was ended by a signal which its user did not send."""
    info, remote = _info_of(path, job), job.get("remote")
    if info is None or remote is None or not remote["requeue"] or job.get("stop_asked"):
        return False
    return info["status"] == "stopped" and info.get("reason_kind") == "interrupted"


def waits_to_continue(runs_dir: Path, job: record.JobRecord) -> bool:
    """Returns whether a job was preempted and its provider does not start it again by itself."""
    return job.get("state") == "gone" and is_preempted(runs_dir / job["id"], job)


def _info_of(path: Path, job: record.JobRecord) -> RunInfo | None:
    """Returns run.json if this job has written it; None if there is no run yet, or if the run still has the
    status of an earlier attempt."""
    with suppress(RunError):
        info = read_info(path)
        if job["attempts"] == 0 or info["attempts"] > job["attempts"]:
            return info
    return None


def _status_of_active(path: Path, job: record.JobRecord, info: RunInfo) -> tuple[str, str]:
    """Returns the status of a job whose run.json says that it trains."""
    state, reason = job.get("state"), job.get("late") or info["reason"]
    if _is_copied(job):
        alive = state != "gone" and not _is_silent(job)
    else:
        alive = derived_status(path, info) != "lost"
    if alive:
        return info["status"], reason
    if _is_silent(job):
        return "lost", job.get("late", "")
    if state == "waiting":
        return "queued", f"it was killed; {_name(job)} starts it again"
    if state == "running":
        return "stalled", f"it has no heartbeat, but {_name(job)} says that it runs"
    return "lost", job.get("late") or f"it was killed, and {_name(job)} does not list it"


def _status_without_run(job: record.JobRecord) -> tuple[str, str]:
    state, late = job.get("state"), job.get("late", "")
    if job.get("cancelled") and state in (None, "gone"):
        return "stopped", "stopped before it started"
    if job.get("ended") is not None and state != "waiting":
        return "failed", (job.get("words", "").splitlines() or [""])[0]
    if late and _is_silent(job):
        return "lost", late
    if state == "gone":
        return "lost", f"{_name(job)} does not list it, and it has not recorded why it ended"
    if state == "running":
        return "starting", late
    return "queued", late or f"submitted to {_name(job)}"


def _is_silent(job: record.JobRecord) -> bool:
    """Returns whether the provider has not answered for so long that its jobs count as lost."""
    last = job.get("answered") or job["created"]
    return bool(job.get("late")) and time.time() - last > PATIENCE_SECONDS


def late_text(job: record.JobRecord, problem: str) -> str:
    """Returns a sentence about a provider that did not answer. `problem`: why."""
    last = time.time() - (job.get("answered") or job["created"])
    return f"no answer for {formatting.age(last)}: {problem}"


def _is_copied(job: record.JobRecord) -> bool:
    remote = job.get("remote")
    return remote is not None and remote["store"] == "copy"


def _name(job: record.JobRecord) -> str:
    remote = job.get("remote")
    return remote["on"] if remote is not None else "this machine"
