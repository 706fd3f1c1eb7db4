"""The record of a job, `.jobs/ID.json`: what it was asked to do, and how its process ended."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypedDict, Unpack

from gymnast.errors import RunError
from gymnast.runs import document, durable, lock

VERSION = 1
JobKind = Literal["train", "resume"]


class JobProgress(TypedDict, total=False):
    """The fields of a record that change."""

    pid: int | None
    cancelled: bool
    """Whether it was removed from the queue before it started."""
    ended: float | None
    """Time of its end, in seconds since the epoch."""
    exit_code: int | None
    words: str
    """The final message of its process."""


class JobRequest(TypedDict):
    """The fields of a record that say what to do."""

    kind: JobKind
    request: Mapping[str, object]
    """The fields of the TrainRequest or ResumeRequest."""
    target: str
    """The preset that it trains."""
    name: str
    group: str | None
    seed: int | None
    attempts: int
    """How often the run had been started before this job; 0 for a new run."""
    place: str
    """Name of its file in the queue."""
    limit: int
    """Number of jobs that may train at once."""


class JobRecord(JobProgress, JobRequest):
    version: int
    id: str
    created: float


@dataclass(frozen=True)
class UnreadableJob:
    """A record that cannot be read."""

    id: str
    problem: str


def jobs_dir(runs_dir: Path) -> Path:
    """Returns the folder with the records and the queue of all jobs."""
    return runs_dir / ".jobs"


def write(folder: Path, job_id: str, job: JobRequest) -> JobRecord:
    """Writes and returns the record of a new job."""
    record: JobRecord = {
        "version": VERSION,
        "id": job_id,
        "created": time.time(),
        "pid": None,
        "cancelled": False,
        "ended": None,
        "exit_code": None,
        "words": "",
        **job,
    }
    folder.mkdir(parents=True, exist_ok=True)
    durable.replace(_file(folder, job_id), document.dumps(record, indent=1).encode())
    return record


def update(folder: Path, job_id: str, **fields: Unpack[JobProgress]) -> None:
    """Changes fields of a job's record; safe if other processes update it at the same time. Raises RunError
    if there is no readable record."""
    # Read and write under one lock: otherwise a job that ends while it is cancelled loses one change.
    with lock.exclusive(folder / "record-lock"):
        changed = {**read(folder, job_id), **fields}
        durable.replace(_file(folder, job_id), document.dumps(changed, indent=1).encode())


def read(folder: Path, job_id: str) -> JobRecord:
    """Returns the record of a job; raises RunError if it cannot be read or has another format."""
    file = _file(folder, job_id)
    try:
        record = document.loads(file.read_bytes())
        version = record.get("version")
    except (OSError, ValueError, AttributeError) as error:
        raise RunError(f"cannot be read: {error}", at=str(file)) from None
    if version != VERSION:
        problem = f"unknown job format {version} (this gymnast reads format {VERSION})"
        raise RunError(problem, at=str(file), fix="update gymnast")
    return record


def has_record(folder: Path, job_id: str) -> bool:
    return _file(folder, job_id).exists()


def read_all(folder: Path) -> list[JobRecord | UnreadableJob]:
    """Returns all job records, newest first; unreadable ones come last."""
    try:
        names = [name for name in os.listdir(folder) if name.endswith(".json")]
    except FileNotFoundError:
        return []
    readable: list[JobRecord] = []
    unreadable: list[JobRecord | UnreadableJob] = []
    for job_id in sorted(name.removesuffix(".json") for name in names if name[0] != "."):
        try:
            readable.append(read(folder, job_id))
        except RunError as error:
            unreadable.append(UnreadableJob(job_id, str(error)))
    readable.sort(key=lambda record: (record["created"], record["id"]), reverse=True)
    return [*readable, *unreadable]


def output_file(folder: Path, job_id: str) -> Path:
    """Returns the path of the file with the job's output."""
    return folder / f"{job_id}.txt"


def _file(folder: Path, job_id: str) -> Path:
    return folder / f"{job_id}.json"
