"""The trainer's handle of one worker process: starts it, sends commands, finds out how it died."""

from __future__ import annotations

import signal
import socket
import time
from collections.abc import Callable
from contextlib import suppress

from gymnast.envs.backends import messages
from gymnast.envs.backends.active_calls import START_SECONDS
from gymnast.envs.backends.child import EXIT_SECONDS, Child
from gymnast.errors import EnvError

LATE_SECONDS = 0.01
"""Seconds left for a reply once another worker has used up the timeout, which runs for all alike."""


class WorkerLost(Exception):
    """Raised when the worker has died or hung: says what happened and what it printed last."""

    def __init__(self, message: str, output: str = "", *, hung: bool = False) -> None:
        self.message, self.output, self.hung = f"its worker process {message}", output, hung
        super().__init__(self.message)


class Worker:
    def __init__(
        self,
        copies: range,
        spec: messages.WorkerSpec,
        timeout: float,
        on_output: Callable[[str], None],
    ) -> None:
        """`spec`: what the worker has to create; `timeout`: seconds that a reply may take; `on_output`:
        called with each line that the worker prints."""
        self.copies, self.spec, self.timeout, self.on_output = copies, spec, timeout, on_output
        self.running = False
        self._timeout_now = START_SECONDS
        self._not_running = "is not running"

    def start(self) -> None:
        """Starts the worker without waiting for it. A failure to start is raised by the next
        `wait_for_reply`."""
        try:
            self._child = Child("gymnast.envs.backends.process_worker", self.on_output)
        except OSError as problem:
            self._not_running = f"cannot be started: {problem}"
            return
        self._link, self.running = self._child.socket, True
        self._set_timeout(START_SECONDS)
        with suppress(OSError):  # if it has died already, `wait_for_reply` says how
            messages.send(self._link, self.spec)

    @property
    def pid(self) -> int:
        return self._child.pid

    def receive_env_info(self) -> messages.EnvInfo:
        """Returns the spaces and limits of its copies. Raises EnvError if they cannot be created, and
        WorkerLost if the worker died."""
        answer = self.wait_for_reply()
        assert answer is not None
        if "refused" in answer:
            self.kill()
            message, fix, text = answer["refused"]
            raise EnvError(message, fix=fix, traceback=text)
        assert "made" in answer
        return answer["made"]

    def share(self, memory: int) -> None:
        """Sends the worker the file that contains the shared buffers, and ends the time limit for starting.
        `memory`: file descriptor."""
        with suppress(OSError):
            socket.send_fds(self._link, [b"m"], [memory])
        self._set_timeout(self.timeout)

    def request(self, command: bytes) -> None:
        """Sends a command. If the worker cannot be reached, the following `wait_for_reply` raises."""
        if self.running:
            with suppress(OSError):
                self._link.send(command)

    def wait_for_reply(self, *, no_wait: bool = False) -> messages.Reply | None:
        """Waits for the reply and returns its document, None if it is empty. `no_wait`: the timeout has
        passed already, so only a reply that has arrived counts. Raises WorkerLost."""
        if not self.running:
            raise WorkerLost(self._not_running)
        try:
            if not no_wait:
                return messages.receive(self._link)
            self._link.settimeout(LATE_SECONDS)
            report = messages.receive(self._link)
            self._link.settimeout(self._timeout_now)
            return report
        except TimeoutError:
            raise self._hung() from None
        except (OSError, EOFError):
            raise self._died() from None

    def notify(self, command: bytes, document: messages.ActionType) -> None:
        """Sends a command that has no reply."""
        if self.running:
            with suppress(OSError):
                self._link.send(command)
                messages.send(self._link, document)

    # ---- shutdown ----------------------------------------------------------------------------

    def finish(self) -> None:
        """Asks the worker to close its environments and end."""
        if self.running:
            with suppress(OSError):
                self._link.shutdown(socket.SHUT_WR)

    def kill(self, deadline: float = 0.0) -> None:
        """Waits until the deadline (time.monotonic) for the worker to end, then kills it."""
        if not self.running:
            return
        self.running = False
        with suppress(OSError):
            # The socket ends with the worker. Replies that nobody waited for are read and dropped.
            self._link.settimeout(max(0.001, deadline - time.monotonic()))
            while self._link.recv(4096):
                pass
        self._child.end()

    def _hung(self) -> WorkerLost:
        """Kills the worker after its timeout and returns the exception to raise, which includes the stack
        that the worker printed."""
        self._child.abort()  # prints where it hangs
        self._child.wait(EXIT_SECONDS)
        self.kill()
        limit = "env.timeout" if self._timeout_now == self.timeout else "the limit for starting"
        what = f"took longer than {limit} ({self._timeout_now:g} s) and was killed"
        return WorkerLost(what, self._child.last_output(), hung=True)

    def _died(self) -> WorkerLost:
        """Returns the exception to raise for a worker that closed its connection: says how it ended and what
        it printed last."""
        code = self._child.wait(EXIT_SECONDS)
        self.kill()
        if code is None:
            what = "closed its connection and was killed"
        elif code >= 0:
            what = f"exited with code {code}"
        else:
            what = f"was killed by {signal.Signals(-code).name}"
            if -code == signal.SIGKILL:
                what += " (signal 9: by a user, or by the kernel when memory ran out)"
        return WorkerLost(what, self._child.last_output())

    def _set_timeout(self, seconds: float) -> None:
        self._timeout_now = seconds
        self._link.settimeout(seconds)
