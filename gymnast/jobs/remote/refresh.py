"""Brings the records of remote jobs up to date. If there are none, it only reads the records."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from gymnast.errors import RunError
from gymnast.jobs import record
from gymnast.jobs.remote.state import remote_status, waits_to_continue
from gymnast.runs.run import ACTIVE

LIVE = ("queued", "starting", *ACTIVE)
"""Statuses of a job that trains or waits."""
MAX_AGE = 2.0
"""Seconds for which the answer of a provider is used again instead of asking it."""
WAIT_AGE = 5.0
"""The same while somebody waits for the end of jobs, perhaps for days."""


def refresh(
    runs_dir: Path,
    ids: Iterable[str] | None = None,
    *,
    files: bool = False,
    max_age: float | None = None,
) -> None:
    """Asks the providers of the remote jobs that have not ended, and records their answers. `ids`: only of
    these jobs. `files`: also copy the files that show how a run is, if its host does not share the runs
    directory; a run that has ended is copied completely in any case. `max_age`: seconds for which the last
    answer is recent enough."""
    age = MAX_AGE if max_age is None else max_age
    now = time.time()
    by_provider: dict[str, list[record.JobRecord]] = {}
    for job in _unsettled(runs_dir, ids):
        if "remote" in job and now - job.get("checked", 0.0) >= age:
            by_provider.setdefault(job["remote"]["on"], []).append(job)
    if by_provider:
        from gymnast.jobs.remote.watch import ask_providers

        ask_providers(runs_dir, by_provider, files=files)


def refresh_all(paths: Sequence[Path]) -> None:
    """Brings the jobs with these run directories up to date while somebody waits for them, and continues
    the preempted ones whose provider does not do so by itself. Raises CommandFailed if it refuses one."""
    by_directory: dict[Path, list[str]] = {}
    for path in paths:
        by_directory.setdefault(path.parent, []).append(path.name)
    for runs_dir, ids in by_directory.items():
        refresh(runs_dir, ids, max_age=WAIT_AGE)
        for job in _unsettled(runs_dir, ids):
            if waits_to_continue(runs_dir, job):
                from gymnast.jobs.remote.watch import continue_job

                continue_job(runs_dir, job["id"])


def cancel(runs_dir: Path, job_id: str) -> bool:
    """Asks the provider to end a job, which saves a checkpoint first if it trains. Returns False if the
    provider has no command for it. Raises CommandFailed if that fails."""
    from gymnast.jobs.remote.watch import cancel_job

    return cancel_job(runs_dir, job_id)


def is_remote(runs_dir: Path, job_id: str) -> bool:
    """Returns whether this is a remote job that has not ended for good."""
    return bool([*_unsettled(runs_dir, [job_id])])


def refuse_live(runs_dir: Path, run_id: str) -> None:
    """Raises RunError if a remote job trains this run, or waits to train it: its copy here is not locked."""
    refresh(runs_dir, [run_id])
    for job in _unsettled(runs_dir, [run_id]):
        status, reason = remote_status(runs_dir / run_id, job)
        if "remote" in job and status in LIVE:
            where = f"{run_id} is {status} on {job['remote']['on']}"
            raise RunError(f"{where} ({reason})" if reason else where, fix=f"gymnast stop {run_id}")


def takes_commands(runs_dir: Path, job_id: str) -> bool:
    """Returns whether the run of a remote job reads commands that are written here: it trains, and its host
    shares the runs directory."""
    job = record.read(record.jobs_dir(runs_dir), job_id)
    status, _ = remote_status(runs_dir / job_id, job)
    return status in ACTIVE and "remote" in job and job["remote"]["store"] == "shared"


def _unsettled(runs_dir: Path, ids: Iterable[str] | None) -> Iterator[record.JobRecord]:
    """Yields the remote jobs of this user that have not ended for good. `ids`: only these."""
    folder = record.jobs_dir(runs_dir)
    if ids is None:
        found = [
            job for job in record.read_all(folder) if not isinstance(job, record.UnreadableJob)
        ]
    else:
        found = [record.read(folder, name) for name in ids if record.has_record(folder, name)]
    live = [job for job in found if "remote" in job and not job.get("settled")]
    if live:
        from gymnast.runs import trust  # imports the settings file's parser

        for job in live:
            if trust.is_signature(job.get("signature", ""), record.submission(job)):
                yield job
