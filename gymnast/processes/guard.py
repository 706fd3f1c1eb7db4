"""No process that an environment starts outlives the process that the environment runs in.

Environments start engines and simulators of their own, some of which ignore every signal that can be
ignored. A process that makes environments marks its surroundings: whatever is started from then on
inherits the mark as a variable. As soon as a child is seen, a guardian is started (`guardian.py`): it
waits for the end of this process, however that comes, and kills what carries the mark. Our own workers
end with their trainer without that, see `envs/backends/child.py`.
"""

from __future__ import annotations

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
"""Set for whatever is started by a process that has environments."""
DETACHED = "GYMNAST_DETACHED"
"""Set to the same value for what is meant to outlive it."""
STARTED = 19
"""Where /proc/PID/stat tells when a process was started, behind its name."""
LOOK_SECONDS = 1.0
"""How often it is looked for children, until there is one."""


@dataclass
class _Guard:
    """Of this process, from its first environment on."""

    value: str
    pipe: tuple[int, int]
    """To the guardian: numbers of forked processes, which have no variables of their own."""
    ours: set[int] = field(default_factory=set[int])
    """Children that need no guardian."""
    guardian: subprocess.Popen[bytes] | None = None


_guard: _Guard | None = None
_lock = threading.RLock()


def mark() -> None:
    """Call before an environment is made: what it starts is known by this mark."""
    global _guard
    with _lock:
        if _guard is None:
            pipe = os.pipe()
            os.set_blocking(pipe[1], False)
            _guard = _Guard(f"{os.getpid()}-{secrets.token_hex(8)}", pipe)
            threading.Thread(target=_look, args=[_guard], name="guard", daemon=True).start()
        os.environ[MARK] = _guard.value


def unmark() -> None:
    """The environments are closed: what this process starts from here on is none of theirs."""
    os.environ.pop(MARK, None)


@contextmanager
def watch() -> Iterator[None]:
    """Marks what environments start in this block, and starts the guardian if there is any, also when the
    block raises."""
    mark()
    try:
        yield
    finally:
        look()


def look() -> None:
    """Start the guardian if an environment has started a process."""
    if _guard is not None and _guard.guardian is None and _children() - _guard.ours:
        start()


def start() -> None:
    """Start the guardian now: for environments that are known to start processes."""
    mark()
    with _lock:
        assert _guard is not None
        if _guard.guardian is not None:
            return
        guardian = str(Path(__file__).with_name("guardian.py"))
        about = [str(os.getpid()), f"{MARK}={_guard.value}", f"{DETACHED}={_guard.value}"]
        with suppress(OSError):  # no room for another process: training is more important
            _guard.guardian = subprocess.Popen(
                [sys.executable, "-I", "-S", guardian, *about],
                stdin=_guard.pipe[0],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,  # neither Ctrl-C nor a closed terminal is for it
                env=detached(),
            )
            _guard.guardian.returncode = 0  # it ends after this process: nobody waits for it


def know(pid: int) -> None:
    """A child of ours, which ends with this process by itself."""
    if _guard is not None:
        _guard.ours.add(pid)


def detached() -> dict[str, str]:
    """Variables for a process that is to outlive this one."""
    return {**os.environ, **spared()}


def spared() -> dict[str, str]:
    """What such a process has more than others."""
    return {DETACHED: _guard.value} if _guard is not None else {}


def _look(guard: _Guard) -> None:
    while guard.guardian is None:
        time.sleep(LOOK_SECONDS)
        look()


def _children() -> set[int]:
    """Child processes of all threads of this process."""
    tasks = Path("/proc/self/task")
    if not tasks.is_dir():
        import psutil

        return {child.pid for child in psutil.Process().children()}
    found: set[int] = set()
    for task in os.listdir(tasks):
        with suppress(OSError):  # a thread that has just ended
            found.update(map(int, (tasks / task / "children").read_text().split()))
    return found


def _forked() -> None:
    """In a child that was forked without starting another program: it names itself, and when it was
    started, since its number may be another's one day."""
    if _guard is not None and MARK in os.environ:
        with suppress(OSError), open("/proc/self/stat", "rb") as file:
            started = file.read().rpartition(b")")[2].split()[STARTED]
            os.write(_guard.pipe[1], b"%d %s\n" % (os.getpid(), started))


os.register_at_fork(after_in_child=_forked)
