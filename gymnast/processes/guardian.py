"""Kills what a process with environments leaves running: `guardian.py PID MARK DETACHED`.

Started by `guard.py` as a program of its own that imports nothing of ours. It waits until PID has ended,
however it did. Then it kills every process that has the variable MARK, or named itself on standard
input, and does not have the variable DETACHED. It reads /proc, and so works on Linux only.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import time
from contextlib import suppress

ROUNDS = 100
"""How often it is looked again for processes that were started meanwhile."""
PAUSE = 0.02
STARTED = 19
"""Where the system tells when a process was started."""
POLL_SECONDS = 0.5
"""How often a system without pidfd is asked whether the process lives."""


def main() -> None:
    owner, mark, detached = int(sys.argv[1]), sys.argv[2].encode(), sys.argv[3].encode()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, signal.SIG_IGN)
    forked = wait_for_end_of(owner)
    for _ in range(ROUNDS):
        found = {pid for pid in _processes() if mark in _variables(pid)} | _still(forked)
        left = [pid for pid in found if _lives(pid) and detached not in _variables(pid)]
        for pid in left:
            with suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        if not left:
            break
        time.sleep(PAUSE)


def wait_for_end_of(owner: int) -> bytes:
    """Returns what forked processes wrote meanwhile: a line each, its number and when it was started."""
    wait, end, said = select.poll(), None, b""
    with suppress(AttributeError, OSError):  # not Linux, or an old one, or it has ended
        end = os.pidfd_open(owner)
        wait.register(end, select.POLLIN)
    wait.register(0, select.POLLIN)
    os.set_blocking(0, False)
    while os.getppid() == owner:
        for file, _ in wait.poll(None if end is not None else POLL_SECONDS * 1000):
            if file == 0:
                said += _read()
    return said + _read()


def _read() -> bytes:
    with suppress(BlockingIOError):
        return os.read(0, 65536)
    return b""


def _still(forked: bytes) -> set[int]:
    """Those of the forked processes that are the same as then."""
    lines = (line.split() for line in forked.splitlines())
    return {int(pid) for pid, started in lines if _stat(int(pid))[STARTED:][:1] == [started]}


def _processes() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def _variables(pid: int) -> list[bytes]:
    """As the process was started with."""
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return file.read().split(b"\0")
    except OSError:  # it has ended, or is somebody else's
        return []


def _lives(pid: int) -> bool:
    """Not as a zombie, which only its parent can remove."""
    return pid != os.getpid() and _stat(pid)[:1] not in ([], [b"Z"], [b"X"])


def _stat(pid: int) -> list[bytes]:
    """What the system tells of a process, behind its name."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()
    except OSError:
        return []


if __name__ == "__main__":
    main()
