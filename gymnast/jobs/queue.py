"""Who may train now: so many jobs at once, in order of arrival.

A job holds a lock on a file of its own for as long as it lives. The kernel lets go when the process
dies, so a killed job frees its place without anybody's help.
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
VARIABLE = "GYMNAST_JOBS"
"""How many at once, where the command line does not say."""
LOOK_SECONDS = 0.2
"""How often a job that waits looks whether it is its turn."""


@dataclass
class Place:
    """A job's place in the queue, held by the process that has the handle open."""

    folder: Path
    name: str
    """`ARRIVAL-ID`: sorts by arrival."""
    handle: int

    @property
    def given_up(self) -> bool:
        """Somebody took the job out of the queue."""
        return os.fstat(self.handle).st_nlink == 0

    def start(self, limit: int) -> bool:
        """Go from waiting to running, if it is this job's turn and fewer than `limit` run."""
        with _one_at_a_time(self.folder):
            if self.given_up or _first_alive(self.folder, QUEUED, before=self.name):
                return False
            if len(_alive(self.folder, RUNNING)) >= limit:
                return False
            source, goal = (self.folder / where / self.name for where in (QUEUED, RUNNING))
            source.rename(goal)
            return True

    def leave(self) -> None:
        for where in (QUEUED, RUNNING):
            (self.folder / where / self.name).unlink(missing_ok=True)
        os.close(self.handle)


def arrive(folder: Path, job_id: str) -> Place:
    """Take the last place in the queue."""
    for where in (QUEUED, RUNNING):
        (folder / where).mkdir(parents=True, exist_ok=True)
    with _one_at_a_time(folder):
        name = f"{time.time_ns():020d}-{job_id}"
        handle = os.open(folder / QUEUED / name, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o644)
        fcntl.flock(handle, fcntl.LOCK_EX)
        return Place(folder, name, handle)


def inherited(folder: Path, name: str, handle: int) -> Place:
    """The place whose handle this process was started with."""
    try:
        os.fstat(handle)
    except OSError:
        fix = "gymnast train ... --detach"
        raise UsageError("only a job that was started as one can go on as one", fix=fix) from None
    lock.own(handle)
    return Place(folder, name, handle)


def give_up(folder: Path, job_id: str) -> bool:
    """Take a job that still waits out of the queue; False if it does not wait."""
    with _one_at_a_time(folder):
        for name in _alive(folder, QUEUED):
            if name.partition("-")[2] == job_id:
                (folder / QUEUED / name).unlink()
                return True
    return False


def places(folder: Path) -> dict[str, str]:
    """Job id -> `queued` or `running`, of every job that lives, in order of arrival."""
    return {
        name.partition("-")[2]: where
        for where in (RUNNING, QUEUED)
        for name in _names(folder / where)
        if lock.is_locked(folder / where / name)
    }


def limit(option: int | None) -> int:
    """How many jobs at once: as said, or by GYMNAST_JOBS, or one per core."""
    given = os.environ.get(VARIABLE, "")
    if option is None and given:
        if not given.isdigit() or int(given) < 1:
            raise UsageError(f"{VARIABLE} is {given!r} (expected a number of jobs, 1 or more)")
        return int(given)
    return option or usable_cores()


@contextmanager
def _one_at_a_time(folder: Path) -> Iterator[None]:
    with lock.briefly(folder / "queue-lock"):
        yield


def _names(folder: Path) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except FileNotFoundError:
        return []


def _first_alive(folder: Path, where: str, *, before: str) -> str | None:
    """The first of those that came earlier; the dead are removed. Mostly one look."""
    for name in _names(folder / where):
        if name >= before:
            break
        if lock.is_locked(folder / where / name):
            return name
        (folder / where / name).unlink(missing_ok=True)
    return None


def _alive(folder: Path, where: str) -> list[str]:
    return [n for n in _names(folder / where) if lock.is_locked(folder / where / n)]
