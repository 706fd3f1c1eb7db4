"""Ends a child process together with the process that launched it."""

from __future__ import annotations

import os
import signal
import threading
from contextlib import suppress

PARENT_PIPE = "GYMNAST_PARENT_PIPE"
"""Environment variable of a child: file descriptor of a pipe that closes when its launcher dies."""


def exit_with_parent() -> None:
    """Makes this child send itself SIGHUP, as a closing terminal would, when its launcher dies, even by
    kill -9."""
    if not (descriptor := os.environ.pop(PARENT_PIPE, "")).isdigit():
        return

    def watch() -> None:
        with suppress(OSError):
            os.read(int(descriptor), 1)  # nothing is ever written: returns when the pipe closes
            os.kill(os.getpid(), signal.SIGHUP)

    threading.Thread(target=watch, name="parent-watch", daemon=True).start()
