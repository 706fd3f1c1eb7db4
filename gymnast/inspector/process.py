"""The owner's end of a worker process of the inspector: starts it, calls it, ends it."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
from collections import deque
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import IO

from gymnast.inspector.protocol import (
    IDLE_EXIT,
    NOT_WARM,
    STALE_EXIT,
    WARM,
    Answer,
    Request,
    receive_answer,
    send,
)
from gymnast.processes import guard

EXIT_SECONDS = 2.0
"""Time that a worker has to close its environments before it is killed."""
MAX_OUTPUT_LINES = 5
"""Number of printed lines to keep for error messages."""


class WorkerEnded(Exception):
    """The process ended before it had answered."""

    def __init__(self, reason: str, *, can_retry: bool) -> None:
        self.reason = reason
        self.can_retry = can_retry
        """Whether it ended by itself, because it was idle or its code is out of date."""
        super().__init__(reason)


class WorkerProcess:
    """A running worker, in a session of its own: ending it ends everything that its environments started."""

    def __init__(self, idle_seconds: float, *, warm: bool = True) -> None:
        """Starts the process; raises OSError. `idle_seconds`: time without a request after which it ends;
        `warm`: import at the start what opening an episode needs."""
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                self._process = subprocess.Popen(
                    [
                        *(sys.executable, "-P", "-m", "gymnast.inspector.worker"),
                        *(str(theirs.fileno()), str(idle_seconds), WARM if warm else NOT_WARM),
                    ],
                    stdin=subprocess.PIPE,  # its other end closes when this process ends, however it does
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                    pass_fds=[theirs.fileno()],
                    start_new_session=True,
                    # One thread: networks are small, and training needs the other cores.
                    env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
                )
            except OSError:
                ours.close()
                raise
        self.pid = self._process.pid
        guard.register_child(self.pid)
        self._connection = Connection(ours.detach())
        self._printed: deque[str] = deque(maxlen=MAX_OUTPUT_LINES)
        assert self._process.stdout is not None
        self._listener = threading.Thread(
            target=self._listen, args=[self._process.stdout], name="inspector output", daemon=True
        )
        self._listener.start()

    @property
    def is_running(self) -> bool:
        return self._process.poll() is None

    def call(self, request: Request, deadline: float) -> tuple[Answer, bytes]:
        """Sends a request and returns the answer. Raises TimeoutError after `deadline` seconds, WorkerEnded
        if the process ends first; it has ended in both cases."""
        try:
            send(self._connection, request)
            if not self._connection.poll(deadline):
                self.end()
                raise TimeoutError
            return receive_answer(self._connection)
        except (EOFError, BrokenPipeError, ConnectionResetError):
            code = self._wait(EXIT_SECONDS)
            self.end()
            raise WorkerEnded(_reason(code), can_retry=code in (IDLE_EXIT, STALE_EXIT)) from None

    def close(self) -> None:
        """Lets the process close its environments and end; kills it if that takes too long."""
        self._connection.close()
        self._wait(EXIT_SECONDS)
        self.end()

    def end(self) -> None:
        """Kills the process and closes the connection, which no other thread may use."""
        self.kill()
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):
            self._process.stdin.close()
        self._connection.close()

    def kill(self) -> None:
        """Kills the process and everything in its group. May be called from any thread: a call that waits for
        an answer ends."""
        with suppress(OSError):  # all of them have ended
            os.killpg(self.pid, signal.SIGKILL)
        self._process.wait()

    def last_output(self) -> str:
        """Returns the last lines that the process printed before it ended."""
        self._listener.join(EXIT_SECONDS)
        return " | ".join(self._printed)

    def _wait(self, seconds: float) -> int | None:
        """Waits for the end of the process; returns its exit code, or None if it still runs."""
        try:
            return self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None

    def _listen(self, printed: IO[bytes]) -> None:
        with printed:
            for line in printed:
                self._printed.append(line.decode(errors="replace").rstrip())


def _reason(code: int | None) -> str:
    """Says how a process ended, of which the exit code is given."""
    if code is None:
        return "closed its connection"
    if code >= 0:
        return f"ended with exit code {code}"
    try:
        return f"was ended by {signal.Signals(-code).name}"
    except ValueError:
        return f"was ended by signal {-code}"
