"""The record of a job, `.jobs/ID.json`: its command, and how its process ended."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

from gymnast.errors import RunError
from gymnast.runs import document, durable, lock

VERSION = 1

Record = dict[str, Any]


def jobs_dir(runs_dir: Path) -> Path:
    """Returns the folder with the records and the queue of all jobs."""
    return runs_dir / ".jobs"


def write(folder: Path, job_id: str, **fields: Any) -> Record:
    """Writes and returns the record of a new job. `fields` add to or replace the default ones."""
    record = {
        "version": VERSION,
        "id": job_id,
        "created": time.time(),
        "pid": None,
        "cancelled": False,
        "ended": None,
        "exit_code": None,
        "words": "",
        **fields,
    }
    folder.mkdir(parents=True, exist_ok=True)
    durable.replace(_file(folder, job_id), document.dumps(record, indent=1).encode())
    return record


def update(folder: Path, job_id: str, **fields: Any) -> None:
    """Changes fields of a job's record; safe if other processes update it at the same time. Raises RunError
    if there is no readable record."""
    # Read and write under one lock: otherwise a job that ends while it is cancelled loses one change.
    with lock.exclusive(folder / "record-lock"):
        changed = read(folder, job_id) | fields
        durable.replace(_file(folder, job_id), document.dumps(changed, indent=1).encode())


def read(folder: Path, job_id: str) -> Record:
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


def read_all(folder: Path) -> list[Record]:
    """Returns all job records, newest first; an unreadable one has a `problem` instead of its fields."""
    try:
        names = [name for name in os.listdir(folder) if name.endswith(".json")]
    except FileNotFoundError:
        return []
    records: list[Record] = []
    for job_id in (name.removesuffix(".json") for name in names if not name.startswith(".")):
        try:
            records.append(read(folder, job_id))
        except RunError as error:
            records.append({"id": job_id, "created": 0.0, "problem": str(error)})
    return sorted(records, key=lambda record: (record["created"], record["id"]), reverse=True)


def output_file(folder: Path, job_id: str) -> Path:
    """Returns the path of the file with the job's output."""
    return folder / f"{job_id}.txt"


def _file(folder: Path, job_id: str) -> Path:
    return folder / f"{job_id}.json"
