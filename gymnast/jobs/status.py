"""The status of jobs: listing them, finding one by reference, waiting for their end."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from gymnast.errors import RunError
from gymnast.jobs import queue, record
from gymnast.jobs.remote.state import remote_status
from gymnast.runs import lock, store
from gymnast.runs.run import ACTIVE, derived_status, read_info

WAITING = ("queued", "starting")
"""Statuses of a job that does not train yet."""
LIVE = (*WAITING, *ACTIVE)
POLL_SECONDS = 0.2


@dataclass(frozen=True)
class RunStatus:
    """The status of a run or a job."""

    id: str
    status: str
    """queued or starting (a job that does not train yet), running, paused, stalled, or how it ended:
    finished, stopped, failed, lost."""
    reason: str
    """The reason for the status; empty if there is none."""
    path: str
    """Directory of the run."""

    @property
    def is_live(self) -> bool:
        return self.status in LIVE


@dataclass(frozen=True)
class JobStatus(RunStatus):
    """A background job. The fields that a damaged record lacks are empty."""

    target: str = ""
    """The preset that it trains."""
    name: str = ""
    seed: int | None = None
    group: str | None = None
    """Id of its group of seeds."""
    created: float = 0.0
    """Time of its start, in seconds since the epoch."""
    pid: int | None = None
    exit_code: int | None = None
    """None until its process has ended, and if it was killed."""
    words: str = ""
    """The final message of its process."""
    on: str = ""
    """The provider that trains it; empty: this machine."""


def jobs(runs_dir: Path) -> list[JobStatus]:
    """Returns every job, newest first."""
    folder = record.jobs_dir(runs_dir)
    states = queue.job_states(folder)
    return [_job_status(runs_dir, job, states) for job in record.read_all(folder)]


def live_jobs(runs_dir: Path) -> list[JobStatus]:
    """Returns the jobs that wait or train."""
    return [job for job in jobs(runs_dir) if job.is_live]


def find(ref: str, runs_dir: Path) -> RunStatus:
    """Returns the status of the run or job that `ref` refers to (see `store.resolve`; a job also by its
    name). Raises RunError if there is none."""
    try:
        run, _ = store.resolve(ref, runs_dir)
    except RunError:
        # Not a run (yet): the reference may be that of a job that waits or failed to start.
        job = _job_named(ref, runs_dir)
        if job is None:
            raise
        return job
    return read_status(run.path)


def group_members(ref: str, runs_dir: Path) -> list[str]:
    """Returns the ids of the runs and jobs of the group `ref`, oldest first; `[ref]` if there is no such
    group."""
    members = [job.id for job in jobs(runs_dir) if job.group == ref]
    members += [run.id for run in store.list_runs(runs_dir) if run.group == ref]
    return [*dict.fromkeys(members)][::-1] or [ref]


def wait(
    refs: Sequence[str],
    runs_dir: Path,
    *,
    timeout: float | None = None,
    look: Callable[[Sequence[Path]], None] = lambda _: None,
) -> Iterator[RunStatus]:
    """Yields the status of each run or job when it ends, in the order of their ends. After `timeout`
    seconds, yields the status of the other ones, and returns. `look` is called before every look at the runs
    in these directories."""
    deadline = None if timeout is None else time.monotonic() + timeout
    waiting = [Path(find(ref, runs_dir).path) for ref in refs]
    while waiting:
        look(waiting)
        for path in [*waiting]:
            if has_ended(path):
                waiting.remove(path)
                yield read_status(path)
        if deadline is not None and time.monotonic() >= deadline:
            yield from map(read_status, waiting)
            return
        if waiting:
            time.sleep(POLL_SECONDS)


def has_ended(path: Path) -> bool:
    """True if the run or job has ended and its process has released the run's lock."""
    return not read_status(path).is_live and not lock.has_writer(path)


def read_status(path: Path) -> RunStatus:
    """Returns the status of the run or job with this directory. Raises RunError if there is neither."""
    folder = record.jobs_dir(path.parent)
    if record.has_record(folder, path.name):
        job = record.read(folder, path.name)
        status, reason = _status(path, job, queue.job_states(folder))
    else:
        info = read_info(path)
        status, reason = derived_status(path, info), info["reason"]
    return RunStatus(path.name, status, reason, str(path))


def _job_named(ref: str, runs_dir: Path) -> JobStatus | None:
    """Returns the job with this id, name or unique id prefix; None if there is not exactly one."""
    readable = [job for job in jobs(runs_dir) if job.status != "unreadable"]
    matching = [job for job in readable if ref in (job.id, job.name)]
    matching = matching or [job for job in readable if ref and job.id.startswith(ref)]
    return matching[0] if len(matching) == 1 else None


def _job_status(
    runs_dir: Path, job: record.JobRecord | record.UnreadableJob, states: Mapping[str, str]
) -> JobStatus:
    """Returns the status of a job with the fields of its record. `states`: the result of
    `queue.job_states`."""
    if isinstance(job, record.UnreadableJob):
        return JobStatus(job.id, "unreadable", job.problem, str(runs_dir / job.id))
    path = runs_dir / job["id"]
    status, reason = _status(path, job, states)
    return JobStatus(
        job["id"],
        status,
        reason,
        str(path),
        target=job["target"],
        name=job["name"],
        seed=job["seed"],
        group=job["group"],
        created=job["created"],
        pid=job.get("pid"),
        exit_code=job.get("exit_code"),
        words=job.get("words", ""),
        on=job["remote"]["on"] if "remote" in job else "",
    )


def _status(path: Path, job: record.JobRecord, states: Mapping[str, str]) -> tuple[str, str]:
    """Returns the status of a job and its reason. `path`: the directory of its run; `states`: the result of
    `queue.job_states`. Sources, best first: the run, if this job has started it; the queue, if the job
    waits or runs; else the job's record."""
    if "remote" in job:
        return remote_status(path, job)
    with suppress(RunError):
        info = read_info(path)
        # A run that is to be resumed still has the status of its previous attempt.
        if job.get("kind") != "resume" or info["attempts"] > job["attempts"]:
            return derived_status(path, info), info["reason"]
    state = states.get(job["id"])
    if state == queue.QUEUED:
        # `states` lists the running jobs first, then the queue in order of arrival.
        earlier = [*states].index(job["id"]) - [*states.values()].count(queue.RUNNING)
        return "queued", f"{earlier} ahead of it" if earlier else "it is next"
    if state == queue.RUNNING:
        return "starting", ""
    if job.get("cancelled"):
        return "stopped", "stopped before it started"
    if job.get("ended") is not None:
        return "failed", (job.get("words", "").splitlines() or [""])[0]
    return "lost", "its process ended without recording why"
