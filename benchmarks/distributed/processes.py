"""CPU time and memory of a command with everything that it starts, also of processes that leave its process
group, as those of Ray do."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from benchmarks.memory import pss

_PR_SET_CHILD_SUBREAPER = 36
END_SECONDS = 10.0
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Process:
    """One line of /proc: a process and its CPU seconds, with those of its children that have ended."""

    pid: int
    parent: int
    cpu: float


class ProcessTree:
    """A running command and all of its descendants."""

    def __init__(self, command: Sequence[str], folder: str, environ: dict[str, str]) -> None:
        self._log = (Path(folder) / "output.txt").open("w+")
        self._child = subprocess.Popen(
            command, cwd=folder, env=environ, stdout=self._log, stderr=subprocess.STDOUT, text=True
        )

    def cpu(self) -> float:
        """Returns the CPU seconds of all processes so far, ended ones included."""
        return sum(process.cpu for process in self._processes())

    def memory(self) -> int:
        """Returns the PSS of all processes in bytes: shared pages count once."""
        return sum(pss(process.pid) for process in self._processes())

    def pids(self, words: str) -> list[int]:
        """Returns the descendants whose command line contains `words`."""
        return [p.pid for p in self._processes() if words in _command_line(p.pid)]

    @property
    def has_ended(self) -> bool:
        return self._child.poll() is not None

    def output(self) -> str:
        self._log.seek(0)
        return self._log.read()

    def wait(self, seconds: float) -> int:
        """Waits for the command and returns its exit code. Raises TimeoutExpired."""
        return self._child.wait(seconds)

    def end(self) -> None:
        """Kills what is left of the command and its descendants, and waits until they have ended."""
        until = time.monotonic() + END_SECONDS
        while (left := self._processes()) and time.monotonic() < until:
            for process in left:
                with suppress(ProcessLookupError):
                    os.kill(process.pid, signal.SIGKILL)
            self._child.poll()
            with suppress(ChildProcessError):
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass  # orphans that this process has adopted
            time.sleep(0.02)
        self._log.close()

    def _processes(self) -> list[Process]:
        """Returns the command and its descendants. Orphans among them are children of this process
        (`adopting_orphans`)."""
        children: dict[int, list[Process]] = {}
        for process in _every_process():
            children.setdefault(process.parent, []).append(process)
        found, pending = list[Process](), [os.getpid()]
        while pending:
            below = children.get(pending.pop(), [])
            found += below
            pending += [process.pid for process in below]
        return found


@contextmanager
def adopting_orphans() -> Iterator[None]:
    """Makes this process the parent of descendants whose parent has ended. One command at a time may be
    measured: all children of this process count as its descendants."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    try:
        yield
    finally:
        libc.prctl(_PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)


def poll(
    tree: ProcessTree, every: float, deadline: float, look: Callable[[float], bool]
) -> int | None:
    """Calls `look(time)` every `every` seconds until it returns True or the command ends, and returns the
    exit code if it ended. Raises TimeoutError after `deadline` seconds."""
    until = time.monotonic() + deadline
    while not tree.has_ended:
        if look(time.monotonic()):
            return None
        if time.monotonic() > until:
            raise TimeoutError(f"no end after {deadline:.0f} s:\n{tree.output()[-3000:]}")
        time.sleep(every)
    return tree.wait(1)


def _every_process() -> Iterator[Process]:
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            text = Path(f"/proc/{name}/stat").read_text()
        except OSError:  # it has ended
            continue
        # the command, in parentheses, may contain spaces
        fields = text[text.rindex(")") + 2 :].split()
        ticks = sum(map(int, fields[11:15]))  # utime, stime, cutime, cstime
        yield Process(int(name), int(fields[1]), ticks / _TICKS)


def _command_line(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return ""
