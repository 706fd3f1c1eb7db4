"""The owner's end of a task's child process: starts it, reads its messages, stops it and reports its end."""

from __future__ import annotations

import codecs
import json
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from gymnast.processes import guard
from gymnast.tasks.messages import OutcomeMessage, ProgressMessage, Request

POLL_SECONDS = 0.1
"""Time between two checks whether the child has ended, on systems without pidfd."""
GROUP_SECONDS, GROUP_POLL_SECONDS = 0.5, 0.005
"""Maximum time to wait for killed processes of the group, and the time between two checks."""
MAX_READS = 100
"""Number of reads from a pipe before the next event is handled: an environment may print without end."""


class Child:
    """A running worker in a session of its own, so that signals to its process group reach everything that
    the task started, and Ctrl-C in the terminal reaches only the owner."""

    def __init__(
        self,
        request: Request,
        on_message: Callable[[ProgressMessage | OutcomeMessage], None],
        on_output: Callable[[str], None],
    ) -> None:
        """Starts the process; raises OSError. `on_message` and `on_output` are called by `wait`, with each
        message and with what the process prints."""
        self._on_message, self._on_output = on_message, on_output
        self._messages, theirs = os.pipe()
        self._printed, output = os.pipe()
        self._wake = os.pipe()
        command = [sys.executable, "-P", "-m", "gymnast.tasks.worker", str(theirs)]
        try:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=output,
                pass_fds=[theirs],
                start_new_session=True,
            )
        except OSError:
            self._close()
            raise
        finally:
            os.close(theirs)
            os.close(output)
        guard.register_child(self._process.pid)
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._partial: list[bytes] = []
        """The beginning of a message whose end has not arrived yet."""
        self._pidfd: int | None = None
        for descriptor in (self._messages, self._printed, self._wake[0], self._wake[1]):
            os.set_blocking(descriptor, False)
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):  # it has ended already, which `wait` reports
            self._process.stdin.write(json.dumps(request, allow_nan=False).encode() + b"\n")
            self._process.stdin.flush()

    def wake(self) -> None:
        """Makes `wait` call `next_action` at once. May be called from any thread until `close`."""
        with suppress(BlockingIOError, OSError):
            os.write(self._wake[1], b"\0")

    def wait(self, next_action: Callable[[], float | None]) -> int:
        """Waits for the end of the process and of all others in its group; returns its exit code, which is
        the negative number of the signal that ended it. `next_action` is called after every event and
        returns the time (`time.monotonic`) at which it wants to be called again, or None."""
        with self._selector() as selector:
            while True:
                at = next_action()
                timeout = None if at is None else max(0.0, at - time.monotonic())
                if self._pidfd is None:
                    timeout = POLL_SECONDS if timeout is None else min(timeout, POLL_SECONDS)
                events = selector.select(timeout)
                self._read()
                ended = any(key.fd == self._pidfd for key, _ in events)
                if ended or (self._pidfd is None and self._process.poll() is not None):
                    break
        self.signal(signal.SIGKILL)  # what the task started and left running
        code = self._process.wait()
        self._wait_for_group()
        self._read()  # a pipe holds less than MAX_READS reads
        return code

    def _wait_for_group(self) -> None:
        """Waits until the killed processes of the group have ended, which are not our children."""
        # A zombie counts as a process, and stays one where no init process removes it: hence the limit.
        give_up = time.monotonic() + GROUP_SECONDS
        with suppress(OSError):
            while time.monotonic() < give_up:
                os.killpg(self._process.pid, 0)
                time.sleep(GROUP_POLL_SECONDS)

    def signal(self, number: signal.Signals) -> None:
        """Sends a signal to the process and everything in its group."""
        with suppress(OSError):  # all of them have ended
            os.killpg(self._process.pid, number)

    def close(self) -> None:
        """Closes the pipes. To be called after `wait`."""
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):
            self._process.stdin.close()
        self._close()

    def _close(self) -> None:
        for descriptor in (self._messages, self._printed, *self._wake):
            os.close(descriptor)

    @contextmanager
    def _selector(self) -> Iterator[selectors.BaseSelector]:
        """Yields a selector of all that may happen."""
        with selectors.DefaultSelector() as selector:
            for descriptor in (self._messages, self._printed, self._wake[0]):
                selector.register(descriptor, selectors.EVENT_READ)
            # The end of the process, not that of its pipes, which its children may keep open.
            with suppress(AttributeError, OSError):  # no pidfd on this system
                self._pidfd = os.pidfd_open(self._process.pid)
                selector.register(self._pidfd, selectors.EVENT_READ)
            self._watched = selector
            try:
                yield selector
            finally:
                if self._pidfd is not None:
                    os.close(self._pidfd)
                self._pidfd = None

    def _read(self) -> None:
        """Passes on what the process has written, without waiting."""
        self._read_all(self._wake[0])
        if text := self._decoder.decode(self._read_all(self._printed)):
            self._on_output(text)
        received = self._read_all(self._messages)
        if b"\n" not in received:
            self._partial.append(received)
            return
        *lines, rest = b"".join((*self._partial, received)).split(b"\n")
        self._partial = [rest]
        for line in lines:
            self._on_message(json.loads(line))

    def _read_all(self, descriptor: int) -> bytes:
        """Returns what can be read now, up to MAX_READS pipe buffers."""
        parts: list[bytes] = []
        with suppress(BlockingIOError):
            for _ in range(MAX_READS):
                if not (part := os.read(descriptor, 1 << 20)):
                    # Its other end is closed, which a selector would report again and again.
                    with suppress(KeyError):
                        self._watched.unregister(descriptor)
                    break
                parts.append(part)
        return b"".join(parts)
