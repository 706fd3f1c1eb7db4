"""One writer per run: a file lock, which the kernel releases with its process, and a heartbeat."""

from __future__ import annotations

import fcntl
import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from gymnast.errors import RunError
from gymnast.runs import document, durable, files, layout

HEARTBEAT_INTERVAL = 2.0
"""Seconds between two heartbeats."""
HEARTBEAT_TIMEOUT = 30.0
"""Seconds without a heartbeat after which a writer on another machine counts as dead."""
_PATIENCE = 0.5
"""Seconds a writer waits for readers, which take the lock for a moment to see if it is free."""

_open_locks: set[int] = set()
_held: set[Path] = set()
"""Runs that this process writes."""
_held_by_parent: set[Path] = set()
"""Runs that the process writes from which this one was forked."""


@contextmanager
def hold(run_dir: Path) -> Iterator[None]:
    """Makes this process the writer of the run in `run_dir` while inside; raises RunError if another process
    is."""
    with durable.explain_os_errors(run_dir):
        handle = os.open(layout.LOCK.path(run_dir), os.O_RDWR | os.O_CREAT, 0o644)
    try:
        if not _acquire(handle, _PATIENCE):
            raise _already_locked(run_dir)
        _open_locks.add(handle)
        _held.add(run_dir)
        owner = document.dumps({"pid": os.getpid(), "host": socket.gethostname()}).encode()
        os.ftruncate(handle, 0)
        os.pwrite(handle, owner, 0)
        with _heartbeat(layout.HEARTBEAT.path(run_dir)):
            yield
    finally:
        _open_locks.discard(handle)
        _held.discard(run_dir)
        os.close(handle)


def refuse_fork(run_dir: Path) -> None:
    """Raises RunError if this process was forked from the writer of the run and may not write it."""
    if run_dir in _held_by_parent:
        problem = f"process {os.getpid()} was forked from the writer of this run"
        raise RunError(problem, at=str(run_dir), fix="end forked processes with os._exit()")


@contextmanager
def exclusive(path: Path) -> Iterator[None]:
    """Holds an exclusive lock on the file `path`, which is created, for a short read-modify-write; waits
    until it is free."""
    with durable.explain_os_errors(path):
        handle = os.open(files.refuse_link(path), os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o644)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


@contextmanager
def exclusive_if_free(path: Path) -> Iterator[bool]:
    """Holds an exclusive lock on the file `path`, which is created, and yields True; yields False, without
    waiting for it, if another process holds it."""
    handle = os.open(files.refuse_link(path), os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o644)
    try:
        yield _acquire(handle, _PATIENCE)
    finally:
        os.close(handle)


def has_writer(run_dir: Path) -> bool:
    """True if a process on this machine is the writer of the run."""
    return is_locked(layout.LOCK.path(run_dir))


def is_locked(file: Path) -> bool:
    """True if a living process on this machine holds the lock of a file."""
    try:
        handle = os.open(file, os.O_RDONLY)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(handle)
    return False


def is_process_dead(pid: int) -> bool:
    """True if no process with this id runs on this machine."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except PermissionError:  # it exists and belongs to another user
        return False
    return False


def close_on_fork(handle: int) -> None:
    """Registers an open lock file to be closed in forked children, which would keep it locked."""
    _open_locks.add(handle)


def heartbeat_age(run_dir: Path) -> float | None:
    """Returns the seconds since the last heartbeat; None if there never was one."""
    try:
        return time.time() - (layout.HEARTBEAT.path(run_dir)).stat().st_mtime
    except FileNotFoundError:
        return None


def _acquire(handle: int, patience: float) -> bool:
    """Locks an open file exclusively; tries again for `patience` seconds, and returns False if it is still
    locked."""
    deadline = time.monotonic() + patience
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                return False
            time.sleep(0.02)
        else:
            return True


def _already_locked(run_dir: Path) -> RunError:
    """Returns the error for a run that another process is writing, with the process id and host if the lock
    file has them."""
    try:
        owner = document.loads(files.read(layout.LOCK.path(run_dir)))
        writer = f"process {owner['pid']} on {owner['host']}"
    except (OSError, ValueError, KeyError, TypeError):
        writer = "another process"
    fix = "wait for it or stop it; only one process may write a run"
    return RunError(f"is being written by {writer}", at=str(run_dir), fix=fix)


@contextmanager
def _heartbeat(path: Path) -> Iterator[None]:
    """Updates the modification time of the file `path` every HEARTBEAT_INTERVAL seconds while inside, in a
    thread."""
    stop = threading.Event()

    def beat() -> None:
        while not stop.wait(HEARTBEAT_INTERVAL):
            with suppress(OSError):  # a missed heartbeat is what readers check for
                os.utime(path)

    path.touch()
    thread = threading.Thread(target=beat, name="heartbeat", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def _release_in_child() -> None:
    """Closes the lock files in a forked child, which would keep them locked after its parent is killed."""
    for handle in _open_locks:
        with suppress(OSError):
            os.close(handle)
    _open_locks.clear()
    _held_by_parent.update(_held)


os.register_at_fork(after_in_child=_release_in_child)
