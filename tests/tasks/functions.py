# ruff: noqa: ARG001
"""Functions that tests run as tasks."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from tempfile import TemporaryDirectory

from gymnast.errors import ConfigError, RunError

Progress = Callable[[int, int, str], None]


@dataclass(frozen=True)
class Answer:
    value: int = 0
    text: str = ""
    numbers: tuple[float, ...] = ()


def add(a: int, b: int, progress: Progress) -> Answer:
    return Answer(a + b)


def count(n: int, progress: Progress) -> Answer:
    for i in range(n):
        progress(i + 1, n, "")
    return Answer(n)


def restart(progress: Progress) -> Answer:
    """Makes progress, and starts again from the beginning."""
    for text in ("first", "second"):
        for i in range(10):
            progress(i, 10, f"{text} {i}")
    return Answer()


def big(n: int, progress: Progress) -> Answer:
    return Answer(n, "x" * n, tuple(i / 7 for i in range(n // 100)))


def special(progress: Progress) -> Answer:
    return Answer(0, "", (float("nan"), float("inf"), -0.0, 0.1 + 0.2, 5e-324))


def print_lines(text: str, progress: Progress) -> Answer:
    print(text)
    os.write(1, b"descriptor 1\n")
    os.write(2, b"descriptor 2\n")
    return Answer(1)


def fail(progress: Progress) -> Answer:
    raise RunError("there is no run x", at="runs/x", fix="train one")


def fail_config(progress: Progress) -> Answer:
    raise ConfigError(["first problem", "second problem"])


def divide(progress: Progress) -> Answer:
    return Answer(1 // 0)


def leave(progress: Progress) -> Answer:
    sys.exit("an environment calls sys.exit")


def crash(how: str, progress: Progress) -> Answer:
    if how == "exit":
        os._exit(7)
    if how == "segfault":
        ctypes.string_at(0)
    os.kill(os.getpid(), signal.SIGKILL)
    return Answer()


def hang(pipe: str, ignore: bool, progress: Progress, folder: str = "") -> Answer:
    """Starts a grandchild and hangs. Both hold the write end of the named pipe, which its reader sees
    closed when both have ended. `ignore`: ignore SIGTERM. `folder`: keep a temporary directory there."""
    held = os.open(pipe, os.O_WRONLY)
    if ignore:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    code = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); signal.pause()"
    with TemporaryDirectory(dir=folder or None):
        subprocess.Popen([sys.executable, "-c", code], pass_fds=[held])
        os.write(held, b"ready\n")
        progress(1, 2, "hanging")
        while True:
            time.sleep(60)
