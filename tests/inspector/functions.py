# ruff: noqa: ARG001
"""Functions that tests call in the inspector's workers."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from gymnast.errors import RunError
from gymnast.inspector.episode import OpenEpisode
from gymnast.runs.run import Run
from tests.waiting import wait_for


@dataclass(frozen=True)
class Said:
    pid: int
    text: str = ""
    numbers: tuple[float, ...] = ()


def echo(run: Run, text: str = "") -> Said:
    return Said(os.getpid(), text)


def first_reward(episode: OpenEpisode) -> Said:
    return Said(os.getpid(), numbers=(float(episode.trace.reward[0]),))


def large(run: Run, n: int) -> tuple[Said, bytes]:
    return Said(os.getpid(), numbers=(float("nan"), 0.1 + 0.2)), b"\0\n" * n


def print_and_echo(run: Run, text: str) -> Said:
    print(text)
    os.write(1, b"descriptor 1\n")
    ctypes.CDLL(None).puts(b"from C")
    return Said(os.getpid(), text)


def fail(run: Run) -> Said:
    raise RunError("there is no run x", at="runs/x", fix="train one")


def divide(run: Run) -> Said:
    return Said(1 // 0)


def leave(run: Run) -> Said:
    sys.exit("an environment calls sys.exit")


def crash(run: Run, how: str) -> Said:
    print("the last words", flush=True)
    if how == "exit":
        os._exit(7)
    if how == "quiet exit":
        os._exit(0)
    os.kill(os.getpid(), signal.SIGKILL)
    return Said(0)


def hang(run: Run, pipe: str) -> Said:
    """Starts a grandchild that ignores signals, and hangs. Both hold the write end of the named pipe, which
    its reader sees closed when both have ended."""
    held = os.open(pipe, os.O_WRONLY)
    code = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); signal.pause()"
    subprocess.Popen([sys.executable, "-c", code], pass_fds=[held])
    os.write(held, b"ready\n")
    while True:
        time.sleep(60)


def hold(run: Run, pipe: str) -> Said:
    """Holds the write end of the named pipe until the process ends."""
    os.open(pipe, os.O_WRONLY)
    return Said(os.getpid())


def meet(run: Run, mine: str, other: str) -> Said:
    """Returns when another call has come here too, which needs another process."""
    Path(mine).touch()
    return Said(os.getpid(), str(wait_for(Path(other).exists)))


def name_of_user_module(run: Run) -> Said:
    """Returns the constant NAME of the module `user_code`, from a directory in PYTHONPATH."""
    import user_code  # pyright: ignore[reportMissingImports]

    return Said(os.getpid(), user_code.NAME)
