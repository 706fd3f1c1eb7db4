"""Ensures that no process started by an environment outlives the process that runs the environment.

Environments start engines and simulators of their own, some of which ignore every signal that can be
ignored. A process that creates environments therefore sets an environment variable, the mark, which its
children inherit. As soon as a child appears, it starts a guardian (`guardian.py`), which waits for the
end of this process, however that happens, and kills every process with the mark. Our own workers end
with the trainer without this, see `envs/backends/child.py`.

A worker that is started by such a process adds its own mark to the inherited one. If it is killed before
its guardian runs, that of the trainer kills what it has started.
"""

from __future__ import annotations

import math
import os
import secrets
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

MARK = "GYMNAST_OWNER"
"""Environment variable that is set for every process started by a process with environments."""
DETACHED = "GYMNAST_DETACHED"
"""Environment variable, set to the same value for processes that are meant to outlive this one."""
STARTED = 19
"""Index of the start time in /proc/PID/stat, counted after the process name."""
ALIVE = b"alive "
"""Beginning of a line to the guardian with the seconds after which this process counts as hung. The same as
in `guardian.py`."""
REMOVE = b"remove "
"""Beginning of a line to the guardian that names a folder to remove. The same as in `guardian.py`."""
POLL_SECONDS = 1.0
"""Seconds between two checks for children, until there is one."""


@dataclass
class _Guard:
    """State of this process, from its first environment on."""

    token: str
    """Identifies this process. Random, because pids are reused."""
    inherited: str
    """Value of the mark that the process was started with; empty if there was none."""
    pipe: tuple[int, int]
    """Pipe to the guardian for the pids of forked processes: a fork does not show the mark in
    /proc/PID/environ, which holds the variables from the start of the program. Also for folders to
    remove."""
    ours: set[int] = field(default_factory=set[int])
    """Pids of our own children, which need no guardian."""
    reported: set[int] = field(default_factory=set[int])
    """Pids of descendants that were reported to the guardian."""
    guardian: subprocess.Popen[bytes] | None = None

    @property
    def value(self) -> str:
        """Value of the mark: the tokens of the processes that started each other, separated by slashes."""
        return f"{self.inherited}/{self.token}".lstrip("/")


_guard: _Guard | None = None
_lock = threading.RLock()


def mark() -> None:
    """Sets the mark. To be called before an environment is created, so that its processes carry it."""
    global _guard
    with _lock:
        if _guard is None:
            pipe = os.pipe()
            os.set_blocking(pipe[1], False)  # a full pipe must not block a fork
            token = f"{os.getpid()}-{secrets.token_hex(8)}"
            _guard = _Guard(token, os.environ.get(MARK, ""), pipe)
            thread = threading.Thread(
                target=_poll_children, args=[_guard], name="guard", daemon=True
            )
            thread.start()
        os.environ[MARK] = _guard.value


def unmark() -> None:
    """Removes the mark once the environments are closed: later child processes are not theirs."""
    os.environ.pop(MARK, None)
    if _guard is not None and _guard.inherited:
        os.environ[MARK] = _guard.inherited


@contextmanager
def watch() -> Iterator[None]:
    """Marks what environments start in this block, and starts the guardian if there is any, also when the
    block raises."""
    mark()
    try:
        yield
    finally:
        start_if_needed()


def start_if_needed() -> None:
    """Starts the guardian if an environment has started a process."""
    if _guard is not None and _guard.guardian is None and _children() - _guard.ours:
        start()


def start() -> None:
    """Starts the guardian now, for environments that are known to start processes."""
    mark()
    with _lock:
        assert _guard is not None
        if _guard.guardian is not None:
            return
        guardian = str(Path(__file__).with_name("guardian.py"))
        arguments = [str(os.getpid()), _guard.token, MARK, DETACHED]
        with suppress(OSError):  # the process limit is reached: training matters more
            # -I -S: it needs no installed packages, and PYTHON* variables must not change what it does
            _guard.guardian = subprocess.Popen(
                [sys.executable, "-I", "-S", guardian, *arguments],
                stdin=_guard.pipe[0],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,  # Ctrl-C and a closed terminal must not end it
                env=detached_environ(),
            )
            # It outlives this process, so Popen must neither wait for it nor warn about it.
            _guard.guardian.returncode = 0


def register_child(pid: int) -> None:
    """Registers our own child, which ends with this process by itself."""
    if _guard is not None:
        _guard.ours.add(pid)


def report_descendants() -> None:
    """Reports all processes that this one has started, directly or not, to the guardian. For programs that
    overwrite their variables with a title, as Ray's do, and whose parents may end first."""
    import psutil  # imported here: environments need it only where there is no /proc

    assert _guard is not None
    for child in psutil.Process().children(recursive=True):
        if child.pid not in _guard.reported:
            _guard.reported.add(child.pid)
            _report(child.pid)


def remove_at_end(folder: Path) -> None:
    """Lets the guardian remove a folder of temporary files once this process has ended and the processes that
    may write into it were killed. To be called after `mark`."""
    assert _guard is not None
    with suppress(OSError):  # the pipe is full: then the folder stays
        os.write(_guard.pipe[1], REMOVE + os.fsencode(folder) + b"\n")


def expect_life(seconds: float) -> None:
    """Lets the guardian kill this process unless this is called again within `seconds` in which it was not
    suspended; 0 ends that. Starts the guardian if necessary."""
    if seconds and (_guard is None or _guard.guardian is None):
        start()
    if _guard is not None and _guard.guardian is not None:
        with suppress(OSError):  # the pipe is full: the guardian has ended
            os.write(_guard.pipe[1], ALIVE + b"%d\n" % math.ceil(seconds))


def detached_environ() -> dict[str, str]:
    """Returns the environment variables for a process that is meant to outlive this one."""
    return {**os.environ, **detached_variables()}


def detached_variables() -> dict[str, str]:
    """Returns the variables that a process which is meant to outlive this one needs in addition to ours; none
    if this process never had an environment."""
    return {DETACHED: _guard.value} if _guard is not None else {}


def _poll_children(guard: _Guard) -> None:
    """Waits for the first process that an environment starts during an episode, and starts the guardian.
    Runs in a thread, since environments start processes at any time."""
    while guard.guardian is None:
        time.sleep(POLL_SECONDS)
        start_if_needed()


def _children() -> set[int]:
    """Returns the pids of the child processes of all threads of this process."""
    tasks = Path("/proc/self/task")
    if not tasks.is_dir():
        import psutil

        return {child.pid for child in psutil.Process().children()}
    children: set[int] = set()
    for task in os.listdir(tasks):
        with suppress(OSError):  # the thread has just ended
            children.update(map(int, (tasks / task / "children").read_text().split()))
    return children


def _forked() -> None:
    """Runs in a child that was forked without starting another program: reports it to the guardian."""
    if _guard is not None and MARK in os.environ:
        _report(os.getpid())


def _report(pid: int) -> None:
    """Writes the pid of a process to the guardian, with its start time because pids are reused."""
    assert _guard is not None
    with suppress(OSError), open(f"/proc/{pid}/stat", "rb") as file:
        # the name of a process may itself contain spaces and brackets, so split after the last one
        started = file.read().rpartition(b")")[2].split()[STARTED]
        os.write(_guard.pipe[1], b"%d %s\n" % (pid, started))


os.register_at_fork(after_in_child=_forked)
