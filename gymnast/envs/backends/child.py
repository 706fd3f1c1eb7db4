"""Child processes that run environments for the trainer, connected by a socket: the workers of the
backend `process`, and the evaluation process.

A child never outlives the process that started it.
"""

from __future__ import annotations

import ctypes
import os
import signal
import socket
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable
from typing import IO

from gymnast.processes import guard

PR_SET_PDEATHSIG = 1
EXIT_SECONDS = 1.0
"""Seconds that a child may take to die and to print its stack."""
MAX_OUTPUT_LINES = 40
"""Number of printed lines to keep for the error message."""


class Child:
    """A process `python -m MODULE FD PID`, limited to one compute thread, and our end of its socket.

    It ends together with the calling thread (see `setup`)."""

    def __init__(self, module: str, on_output: Callable[[str], None]) -> None:
        """Starts the process; `on_output` is called with each line that it prints. Raises OSError."""
        self.socket, theirs = socket.socketpair()
        with theirs:  # closed here, so that the death of the child closes the connection
            try:
                self._process = subprocess.Popen(
                    [sys.executable, "-P", "-m", module, str(theirs.fileno()), str(os.getpid())],
                    pass_fds=[theirs.fileno()],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                    # One thread each: there are as many children as cores, and more threads would compete.
                    env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
                )
            except OSError:
                self.socket.close()
                raise
        self.pid = self._process.pid
        guard.register_child(self.pid)
        self._on_output = on_output
        self._printed: deque[str] = deque(maxlen=MAX_OUTPUT_LINES)
        # Its output is read in a thread: a full pipe would block the child.
        self._listener = threading.Thread(
            target=self._listen, args=[self._process.stdout], daemon=True
        )
        self._listener.start()

    def wait(self, timeout: float | None = None) -> int | None:
        """Waits for the process to end. Returns its exit code, or None after `timeout` seconds."""
        try:
            return self._process.wait(timeout)
        except subprocess.TimeoutExpired:
            return None

    def abort(self) -> None:
        """Ends the process with SIGABRT, on which Python's faulthandler prints the current stack."""
        self._process.send_signal(signal.SIGABRT)

    def end(self, timeout: float = 0.0) -> None:
        """Waits up to `timeout` seconds for the process to end on its own, then kills it."""
        if self.wait(timeout) is None:
            self._process.kill()
            self._process.wait()
        self.socket.close()

    def last_output(self) -> str:
        """Returns the last lines that the process printed before it ended."""
        self._listener.join(EXIT_SECONDS)
        return "\n".join(self._printed)

    def _listen(self, printed: IO[bytes]) -> None:
        with printed:
            for line in printed:
                text = line.decode(errors="replace").rstrip()
                self._printed.append(text)
                self._on_output(text)


def setup() -> int:
    """Sets up the child and returns the file descriptor of its end of the socket.

    To be called first by the module that was started. The child ignores signals that are meant for the
    trainer; on Linux the kernel kills it when the trainer ends, even while the child hangs.
    """
    # Ctrl-C reaches the whole process group. The trainer decides what to do and then ends its children.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1):
        signal.signal(number, signal.SIG_IGN)
    if sys.platform == "linux":
        # The kernel sends this when the *thread* that started the child ends, not only the process.
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != int(sys.argv[2]):  # the parent ended before prctl took effect
            os._exit(1)
    return int(sys.argv[1])
