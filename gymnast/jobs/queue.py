"""The job queue: a limited number of jobs train at once, first come, first served.

Every job holds a lock on its own file for as long as it lives. The kernel releases the lock when the
process dies, so that a killed job frees its place by itself.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from gymnast.errors import UsageError
from gymnast.runs import lock
from gymnast.runs.machine import usable_cores

QUEUED, RUNNING = "queued", "running"
JOBS_VARIABLE = "GYMNAST_JOBS"
"""Environment variable with the number of jobs at once, used if the command line sets none."""
POLL_SECONDS = 0.2
"""Seconds between two checks of a waiting job whether it is its turn."""


@dataclass
class QueueEntry:
    """A job's place in the queue, held by the process that has the file descriptor `fd` open."""

    folder: Path
    name: str
    """`ARRIVAL-ID`: sorts by arrival."""
    fd: int

    @property
    def is_cancelled(self) -> bool:
        """Whether the job was removed from the queue."""
        # `cancel` deletes the file. The open descriptor stays valid, with no name left.
        return os.fstat(self.fd).st_nlink == 0

    def try_start(self, limit: int) -> bool:
        """Moves the job to running if it is its turn and fewer than `limit` run; True if it did."""
        with _queue_lock(self.folder):
            if self.is_cancelled or _first_alive(self.folder, QUEUED, before=self.name):
                return False
            if len(_alive(self.folder, RUNNING)) >= limit:
                return False
            source, target = (self.folder / state / self.name for state in (QUEUED, RUNNING))
            source.rename(target)  # the lock belongs to the open file, so it moves along
            return True

    def release(self) -> None:
        """Frees the place and releases its lock."""
        for state in (QUEUED, RUNNING):
            (self.folder / state / self.name).unlink(missing_ok=True)
        os.close(self.fd)


def enqueue(folder: Path, job_id: str) -> QueueEntry:
    """Adds a job to the end of the queue; this process holds its place."""
    for state in (QUEUED, RUNNING):
        (folder / state).mkdir(parents=True, exist_ok=True)
    with _queue_lock(folder):
        name = f"{time.time_ns():020d}-{job_id}"
        fd = os.open(folder / QUEUED / name, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o644)
        # Before the queue's lock is released: a file that is not locked counts as that of a dead job.
        fcntl.flock(fd, fcntl.LOCK_EX)
        return QueueEntry(folder, name, fd)


def inherit_entry(folder: Path, name: str, fd: int) -> QueueEntry:
    """Returns the place `name` whose file descriptor `fd` was inherited from the process that started this
    one. Raises UsageError if the descriptor is not open."""
    try:
        os.fstat(fd)
    except OSError:
        fix = "gymnast train ... --detach"
        raise UsageError("this process was not started as a background job", fix=fix) from None
    lock.close_on_fork(fd)
    return QueueEntry(folder, name, fd)


def cancel(folder: Path, job_id: str) -> bool:
    """Removes a waiting job from the queue; False if it is not waiting."""
    with _queue_lock(folder):
        for name in _alive(folder, QUEUED):
            if name.partition("-")[2] == job_id:
                (folder / QUEUED / name).unlink()
                return True
    return False


def job_states(folder: Path) -> dict[str, str]:
    """Returns job id -> `queued` or `running` for every live job: running ones first, each by arrival."""
    return {
        name.partition("-")[2]: state
        for state in (RUNNING, QUEUED)
        for name in _names(folder / state)
        if lock.is_locked(folder / state / name)
    }


def max_jobs(option: int | None) -> int:
    """Returns the number of jobs at once: the option, else GYMNAST_JOBS, else one per core. Raises UsageError
    if GYMNAST_JOBS is not a positive number."""
    configured = os.environ.get(JOBS_VARIABLE, "")
    if option is None and configured:
        if not configured.isdigit() or int(configured) < 1:
            raise UsageError(
                f"{JOBS_VARIABLE} is {configured!r} (expected a number of jobs, 1 or more)"
            )
        return int(configured)
    return option or usable_cores()


@contextmanager
def _queue_lock(folder: Path) -> Iterator[None]:
    """A context in which no other process changes the queue."""
    folder.mkdir(parents=True, exist_ok=True)  # missing before the first job
    with lock.exclusive(folder / "queue-lock"):
        yield


def _names(folder: Path) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except FileNotFoundError:
        return []


def _first_alive(folder: Path, state: str, *, before: str) -> str | None:
    """Returns the first live job in `state` (QUEUED, RUNNING) that arrived before the place named `before`,
    None if there is none; deletes the files of dead jobs on the way."""
    for name in _names(folder / state):
        if name >= before:
            break
        if lock.is_locked(folder / state / name):
            return name
        (folder / state / name).unlink(missing_ok=True)
    return None


def _alive(folder: Path, state: str) -> list[str]:
    """Returns the names of the places in `state` (QUEUED, RUNNING) whose job's process lives, by arrival."""
    return [name for name in _names(folder / state) if lock.is_locked(folder / state / name)]
