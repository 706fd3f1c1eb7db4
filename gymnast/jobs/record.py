"""The record of a job, `.jobs/ID.json`: what it was asked to do, and how its process ended."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NotRequired, TypedDict, Unpack

from gymnast.errors import RunError
from gymnast.runs import document, durable, lock

VERSION = 1
JobKind = Literal["train", "resume"]
RemoteState = Literal["waiting", "running", "gone"]
"""The answer of a provider about a job: `gone` if it does not list it (any more)."""


class RemoteRequest(TypedDict):
    """The place of a job that does not train on this machine, and what it needs there."""

    on: str
    """The provider: a name in the settings file, or `ssh:HOST`, `slurm`, ..."""
    store: Literal["shared", "copy"]
    """Whether the runs directory there is the one here, or the run is copied."""
    runs: str
    """The runs directory there."""
    cwd: str
    """The working directory of the job there; empty: a directory with copies of the user's files."""
    facts: Mapping[str, object]
    """The HostFacts of the machine that submitted it."""
    requeue: bool
    """Whether it continues after a preemption."""
    max_jobs: int
    """Number of jobs that may train at once on that host; 0: as many as it has cores."""


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
    remote_id: str
    """The id that the provider gave to a remote job."""
    state: RemoteState
    """The last answer of the provider."""
    late: str
    """The reason why the provider has not answered; empty if it has."""
    checked: float
    """Time of the last question to the provider, in seconds since the epoch."""
    answered: float
    """Time of its last answer."""
    settled: bool
    """Whether a remote job has ended for good, so that nobody asks about it any more."""
    stop_asked: bool
    """Whether the user stopped a remote job, so that it is not continued."""
    requeues: int
    """How often a preempted job was submitted again."""
    fruitless: int
    """How many of the latest of these made no progress."""
    steps_at_requeue: int
    """Env steps of the run when it was submitted again last."""
    queue: str
    """Folder of the queue of its host, relative to the folder of the jobs."""
    place: str
    """Name of its file in the queue."""
    limit: int
    """Number of jobs that may train at once."""
    signature: str
    """Proof that the user of this machine submitted a remote job: the record of any other could name commands
    to run here."""


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
    remote: NotRequired[RemoteRequest]
    """The place where it trains, if that is not this machine."""


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


def write(folder: Path, job_id: str, job: JobRequest, **progress: Unpack[JobProgress]) -> JobRecord:
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
        **progress,
    }
    folder.mkdir(parents=True, exist_ok=True)
    durable.replace(file(folder, job_id), document.dumps(record, indent=1).encode())
    return record


def update(folder: Path, job_id: str, **fields: Unpack[JobProgress]) -> None:
    """Changes fields of a job's record; safe if other processes update it at the same time. Raises RunError
    if there is no readable record."""
    # Read and write under one lock: otherwise a job that ends while it is cancelled loses one change.
    with lock.exclusive(folder / "record-lock"):
        changed = {**read(folder, job_id), **fields}
        durable.replace(file(folder, job_id), document.dumps(changed, indent=1).encode())


def read(folder: Path, job_id: str) -> JobRecord:
    """Returns the record of a job; raises RunError if it cannot be read or has another format."""
    path = file(folder, job_id)
    try:
        record = document.loads(path.read_bytes())
        version = record.get("version") if isinstance(record, dict) else None  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
        if version != VERSION:
            problem = f"unknown job format {version} (this gymnast reads format {VERSION})"
            raise RunError(problem, at=str(path), fix="update gymnast")
        return document.checked(JobRecord, record)
    except (OSError, ValueError) as error:
        raise RunError(f"cannot be read: {error}", at=str(path)) from None


def submission(job: JobRecord) -> str:
    """Returns what the signature of a remote job is about: what it runs, and where."""
    return document.dumps(["job", job["id"], job["kind"], job["request"], job.get("remote")])


def has_record(folder: Path, job_id: str) -> bool:
    return file(folder, job_id).exists()


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


def delete(folder: Path, job_id: str) -> None:
    """Deletes the record of a job that was never started."""
    file(folder, job_id).unlink(missing_ok=True)


def file(folder: Path, job_id: str) -> Path:
    """Returns the path of the record."""
    return folder / f"{job_id}.json"
