"""Ends a child process together with the process that launched it."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from contextlib import suppress

PARENT_PIPE = "GYMNAST_PARENT_PIPE"
"""Environment variable of a child: file descriptor of a pipe that closes when its launcher dies."""


def exit_with_parent() -> None:
    """Makes this child send itself SIGHUP, as a closing terminal would, when its launcher dies, even by
    kill -9."""
    if (descriptor := os.environ.pop(PARENT_PIPE, "")).isdigit():
        call_when_closed(int(descriptor), lambda: os.kill(os.getpid(), signal.SIGHUP))


def call_when_closed(descriptor: int, action: Callable[[], None]) -> None:
    """Calls `action` in a thread when the other end of a pipe is closed, which the kernel does however its
    process ends. What is written to the pipe until then is ignored."""

    def watch() -> None:
        with suppress(OSError):
            while os.read(descriptor, 4096):
                pass
            action()

    threading.Thread(target=watch, name="parent-watch", daemon=True).start()
