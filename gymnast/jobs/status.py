"""The status of jobs: listing them, finding one by reference, waiting for their end."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gymnast.errors import RunError
from gymnast.jobs import queue, record
from gymnast.runs import lock, store
from gymnast.runs.run import ACTIVE, derived_status, read_info

WAITING = ("queued", "starting")
"""Statuses of a job that has not created its run yet."""
LIVE = (*WAITING, *ACTIVE)
POLL_SECONDS = 0.2
_LISTED_FIELDS = ("id", "target", "name", "seed", "group", "created", "pid", "exit_code", "words")


def jobs(runs_dir: Path) -> list[dict[str, Any]]:
    """Returns every job, newest first, with its `status` and, if there is one, the `reason` for it."""
    folder = record.jobs_dir(runs_dir)
    states = queue.job_states(folder)
    return [_with_status(runs_dir, job, states) for job in record.read_all(folder)]


@dataclass(frozen=True)
class JobInfo:
    """A background job. If its record cannot be read, `reason` says why."""

    id: str
    """The id of the job and of its run."""
    status: str
    """queued, starting, the status of its run, lost or unreadable."""
    reason: str
    """The reason for this status; may be empty."""
    path: str
    """Directory of its run."""
    created: float
    """Seconds since the epoch."""
    target: str = ""
    """The preset or environment that it trains: ENV[:VARIANT]."""
    name: str = ""
    seed: int | None = None
    group: str | None = None
    """Id of its group of seeds."""
    pid: int | None = None
    exit_code: int | None = None
    words: str = ""
    """The final message of its process."""


def list_jobs(runs_dir: Path) -> list[JobInfo]:
    """Returns every job, newest first."""
    return [
        JobInfo(
            id=job["id"],
            status=job["status"],
            reason=job["reason"],
            path=job["path"],
            created=job["created"],
            target=job.get("target") or "",
            name=job.get("name") or "",
            seed=job.get("seed"),
            group=job.get("group"),
            pid=job.get("pid"),
            exit_code=job.get("exit_code"),
            words=job.get("words") or "",
        )
        for job in jobs(runs_dir)
    ]


def live_jobs(runs_dir: Path) -> list[dict[str, Any]]:
    """Returns the jobs that wait or train."""
    return [job for job in jobs(runs_dir) if job["status"] in LIVE]


def find(ref: str, runs_dir: Path) -> dict[str, Any]:
    """Returns `id`, `status`, `reason` and `path` of the run or job that `ref` refers to (see
    `store.resolve`; a job also by its name). Raises RunError if there is none."""
    try:
        run, _ = store.resolve(ref, runs_dir)
    except RunError:
        # Not a run (yet): the reference may be that of a job that waits or failed to start.
        job = _job_named(ref, runs_dir)
        if job is None:
            raise
        return job
    info = run.info
    status = derived_status(run.path, info)
    return {"id": run.id, "status": status, "reason": info["reason"], "path": str(run.path)}


def group_members(ref: str, runs_dir: Path) -> list[str]:
    """Returns the ids of the jobs of the group `ref`, oldest first; `[ref]` if there is no such group."""
    members = [job["id"] for job in jobs(runs_dir) if job.get("group") == ref]
    return members[::-1] or [ref]


def wait(refs: Sequence[str], runs_dir: Path) -> Iterator[dict[str, Any]]:
    """Yields the status (see `find`) of each run or job when it ends, in the order of their ends."""
    waiting = [find(ref, runs_dir)["path"] for ref in refs]
    while waiting:
        for path in [*waiting]:
            if has_ended(Path(path)):
                waiting.remove(path)
                yield read_status(Path(path))
        if waiting:
            time.sleep(POLL_SECONDS)


def has_ended(path: Path) -> bool:
    """True if the run or job has ended and its process has released the run's lock."""
    return read_status(path)["status"] not in LIVE and not lock.has_writer(path)


def read_status(path: Path) -> dict[str, Any]:
    """Returns `id`, `status`, `reason` and `path` of the run or job with this directory. Raises RunError if
    there is neither."""
    with suppress(RunError):
        info = read_info(path)
        status = derived_status(path, info)
        return {"id": path.name, "status": status, "reason": info["reason"], "path": str(path)}
    folder = record.jobs_dir(path.parent)
    return _with_status(path.parent, record.read(folder, path.name), queue.job_states(folder))


def _job_named(ref: str, runs_dir: Path) -> dict[str, Any] | None:
    """Returns the job with this id, name or unique id prefix; None if there is not exactly one."""
    readable = [job for job in jobs(runs_dir) if "problem" not in job]
    matching = [job for job in readable if ref in (job["id"], job["name"])]
    matching = matching or [job for job in readable if ref and job["id"].startswith(ref)]
    return matching[0] if len(matching) == 1 else None


def _with_status(runs_dir: Path, job: record.Record, states: dict[str, str]) -> dict[str, Any]:
    """Returns the listed fields of a job's record, with its status, reason and path. `states`: the result of
    `queue.job_states`."""
    path = runs_dir / job["id"]
    if "problem" in job:
        return {**job, "status": "unreadable", "reason": job["problem"], "path": str(path)}
    status, reason = _status(path, job, states)
    fields = {key: job.get(key) for key in _LISTED_FIELDS}
    return {**fields, "status": status, "reason": reason, "path": str(path)}


def _status(path: Path, job: record.Record, states: dict[str, str]) -> tuple[str, str]:
    """Returns the status of a job and its reason. `path`: the directory of its run; `states`: the result of
    `queue.job_states`. Sources, best first: the run, if it can be read; the queue, if the job waits or runs;
    else the job's record."""
    with suppress(RunError):
        info = read_info(path)
        return derived_status(path, info), info["reason"]
    state = states.get(job["id"])
    if state == queue.QUEUED:
        # `states` lists the running jobs first, then the queue in order of arrival.
        earlier = [*states].index(job["id"]) - [*states.values()].count(queue.RUNNING)
        return "queued", f"{earlier} ahead of it" if earlier else "it is next"
    if state == queue.RUNNING:
        return "starting", ""
    if job["cancelled"]:
        return "stopped", "stopped before it started"
    if job["ended"] is not None:
        # `words` is the final message of its process.
        return "failed", (job["words"].splitlines() or [""])[0]
    return "lost", "its process ended without recording why"
