"""Kills what a process with environments leaves running, and the process itself if it hangs:
`guardian.py PID TOKEN MARK DETACHED`.

`guard.py` starts it as a separate program, which imports nothing of gymnast. It waits until PID has
ended, for whatever reason. Then it kills every process that has TOKEN in the variable MARK, or that reported
itself on standard input, unless TOKEN is in its variable DETACHED. At last it removes the folders that
standard input names. It reads /proc, so it works on Linux only.

A process in which C code holds the interpreter lock for ever cannot end itself. If a line of standard input
announces the next one within some seconds and none arrives, PID is killed.
"""

from __future__ import annotations

import os
import select
import shutil
import signal
import sys
import time
from contextlib import suppress

ROUNDS = 100
"""Maximum number of passes: a process may start others before it is killed."""
PAUSE_SECONDS = 0.02
"""Seconds between two passes."""
PARENT = 1
"""Index of the parent's pid in /proc/PID/stat, counted after the process name."""
STARTED = 19
"""Index of the start time in /proc/PID/stat, counted after the process name. The same as in `guard.py`,
which cannot be imported here."""
REMOVE = b"remove "
"""Beginning of a line on standard input that names a folder to remove. The same as in `guard.py`."""
ALIVE = b"alive "
"""Beginning of a line on standard input with the seconds until the next one; 0 announces none. The same as in
`guard.py`."""
POLL_SECONDS = 0.5
"""Seconds between two checks whether the process hangs or, on systems without pidfd, whether it lives."""


def main() -> None:
    """Waits until the owner has ended, then kills the processes that it left running, until there are none
    and no forked one can report itself any more, or ROUNDS passes were made."""
    owner = int(sys.argv[1])
    token, mark, detached = (argument.encode() for argument in sys.argv[2:])
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, signal.SIG_IGN)
    forked = wait_for_end_of(owner)
    for _ in range(ROUNDS):
        written = _read()
        forked += _without_signs_of_life(written or b"")[0]
        marked = {pid for pid in _processes() if token in _tokens(pid, mark)}
        ours = {pid for pid in marked | _still_alive(forked) if token not in _tokens(pid, detached)}
        # A program that changes its title, as Ray's do, overwrites its variables in /proc.
        ours |= {pid for pid in _descendants(ours) if token not in _tokens(pid, detached)}
        left = [pid for pid in ours if _is_running(pid)]
        for pid in left:
            with suppress(OSError):  # it has ended in the meantime
                os.kill(pid, signal.SIGKILL)
        if not left and written is None:
            break
        time.sleep(PAUSE_SECONDS)
    for line in forked.splitlines():
        if line.startswith(REMOVE):
            shutil.rmtree(os.fsdecode(line.removeprefix(REMOVE)), ignore_errors=True)


def wait_for_end_of(owner: int) -> bytes:
    """Waits until a process has ended. Returns the lines that were written meanwhile: pid and start time of
    forked processes, and folders to remove."""
    poll, end, written = select.poll(), None, b""
    with suppress(AttributeError, OSError):  # no pidfd on this system, or the process has ended
        end = os.pidfd_open(owner)
        poll.register(end, select.POLLIN)
    poll.register(0, select.POLLIN)
    os.set_blocking(0, False)
    limit = silence = 0.0  # seconds; a limit of 0: none
    before = time.monotonic()
    # A process whose parent has ended gets another parent. Unlike a pid, this cannot be mistaken.
    while os.getppid() == owner:
        for file, _ in poll.poll(None if end is not None and not limit else POLL_SECONDS * 1000):
            if file == 0:
                more, announced = _without_signs_of_life(_read() or b"")
                written += more
                limit, silence = (limit, silence) if announced is None else (announced, 0.0)
        # Capped, and not while the process is stopped: time in which one of both is suspended does not count.
        elapsed, before = min(time.monotonic() - before, 2 * POLL_SECONDS), time.monotonic()
        silence += 0.0 if _stat(owner)[:1] == [b"T"] else elapsed
        if limit and silence > limit:
            text = f"error: C code has held Python's interpreter lock for {silence:.0f} s: killed\n"
            with suppress(OSError), open(f"/proc/{owner}/fd/2", "a") as stderr:
                stderr.write(text)
            os.kill(owner, signal.SIGKILL)
            limit = 0.0
    return written


def _without_signs_of_life(written: bytes) -> tuple[bytes, float | None]:
    """Returns the other lines, and the seconds that the last sign of life announces, None without one."""
    lines = written.splitlines(keepends=True)
    signs = [line for line in lines if line.startswith(ALIVE)]
    others = b"".join(line for line in lines if not line.startswith(ALIVE))
    return others, float(signs[-1].removeprefix(ALIVE)) if signs else None


def _read() -> bytes | None:
    """Returns what has been written to standard input, without waiting; None if nobody is left to write. A
    forked process holds the other end, and on a busy machine it may be forked long before it runs."""
    try:
        return os.read(0, 65536) or None
    except BlockingIOError:
        return b""


def _still_alive(forked: bytes) -> set[int]:
    """Returns the pids of the forked processes that still exist, with the same start time."""
    lines = (line.split() for line in forked.splitlines() if not line.startswith(REMOVE))
    return {int(pid) for pid, started in lines if _stat(int(pid))[STARTED:][:1] == [started]}


def _descendants(of: set[int]) -> set[int]:
    """Returns the processes that some processes have started, directly or not."""
    children: dict[int, list[int]] = {}
    for pid in _processes():
        for parent in _stat(pid)[PARENT:][:1]:
            children.setdefault(int(parent), []).append(pid)
    found, left = set[int](), list(of)
    while left:
        for child in children.get(left.pop(), ()):
            if child not in found:
                found.add(child)
                left.append(child)
    return found


def _processes() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def _tokens(pid: int, variable: bytes) -> list[bytes]:
    """Returns the tokens in an environment variable that the process was started with."""
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            variables = file.read().split(b"\0")
    except OSError:  # it has ended, or belongs to another user
        return []
    start = variable + b"="
    return [
        token
        for entry in variables
        if entry.startswith(start)
        for token in entry.removeprefix(start).split(b"/")
    ]


def _is_running(pid: int) -> bool:
    """True if the process runs and is not us. A zombie does not count: only its parent can remove it."""
    return pid != os.getpid() and _stat(pid)[:1] not in ([], [b"Z"], [b"X"])


def _stat(pid: int) -> list[bytes]:
    """Returns the fields of /proc/PID/stat after the process name; empty if the process has ended."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()
    except OSError:
        return []


if __name__ == "__main__":
    main()
