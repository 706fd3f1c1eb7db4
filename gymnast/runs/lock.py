"""One writer per run: a lock that dies with its process, and a heartbeat for other machines."""

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
from gymnast.runs import document

BEAT = 2.0
"""Seconds between two heartbeats."""
SILENCE = 30.0
"""Seconds without a heartbeat after which a writer on another machine counts as dead."""
_PATIENCE = 0.5
"""Seconds a writer waits for readers, who take the lock for an instant to see if it is free."""

_held: set[int] = set()


@contextmanager
def hold(run_dir: Path) -> Iterator[None]:
    """Be the writer of a run while inside; raises RunError when another process is."""
    handle = os.open(run_dir / "lock", os.O_RDWR | os.O_CREAT, 0o644)
    try:
        if not _acquire(handle, _PATIENCE):
            raise _refusal(run_dir)
        _held.add(handle)
        owner = document.dumps({"pid": os.getpid(), "host": socket.gethostname()}).encode()
        os.ftruncate(handle, 0)
        os.pwrite(handle, owner, 0)
        with _heartbeat(run_dir / "heartbeat"):
            yield
    finally:
        _held.discard(handle)
        os.close(handle)


@contextmanager
def briefly(path: Path) -> Iterator[None]:
    """Wait for a short turn at a read-change-write that several processes may do."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def is_held(run_dir: Path) -> bool:
    """Whether a process of this machine is the writer now."""
    return is_locked(run_dir / "lock")


def is_locked(file: Path) -> bool:
    """Whether a living process of this machine holds the lock of a file."""
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


def is_gone(pid: int) -> bool:
    """Whether there is no such process on this machine."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except PermissionError:  # somebody else's
        return False
    return False


def own(handle: int) -> None:
    """Children that this process forks must not keep the lock of this open file."""
    _held.add(handle)


def silence(run_dir: Path) -> float | None:
    """Seconds since the last heartbeat; None when there never was one."""
    try:
        return time.time() - (run_dir / "heartbeat").stat().st_mtime
    except FileNotFoundError:
        return None


def _acquire(handle: int, patience: float) -> bool:
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


def _refusal(run_dir: Path) -> RunError:
    try:
        owner = document.loads((run_dir / "lock").read_bytes())
        who = f"process {owner['pid']} on {owner['host']}"
    except (OSError, ValueError, KeyError, TypeError):
        who = "another process"
    fix = "wait for it or stop it; two processes never write one run"
    return RunError(f"is being written by {who}", at=str(run_dir), fix=fix)


@contextmanager
def _heartbeat(path: Path) -> Iterator[None]:
    stop = threading.Event()

    def beat() -> None:
        while not stop.wait(BEAT):
            with suppress(OSError):  # a missed beat is what readers look for
                os.utime(path)

    path.touch()
    thread = threading.Thread(target=beat, name="heartbeat", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def _let_go_in_child() -> None:
    """A forked child must not keep the lock of a parent that was killed."""
    for handle in _held:
        with suppress(OSError):
            os.close(handle)
    _held.clear()


os.register_at_fork(after_in_child=_let_go_in_child)
