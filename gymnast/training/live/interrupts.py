"""Signals: the first asks training to stop at the next rollout boundary, the second exits at once.

If no boundary is reached within the grace period, the process exits with the checkpoint it has. Python
runs signal handlers in the main thread between two bytecodes, which never happens while an environment
hangs in C code. So the interpreter also writes each signal to a socket (`signal.set_wakeup_fd`), and a
thread that reads from it responds at once.
"""

from __future__ import annotations

import os
import signal
import socket
import threading
from collections.abc import Callable
from types import FrameType

GRACE_SECONDS = 20.0
"""Time to reach a rollout boundary after the first signal."""
CLEANUP_SECONDS = 3.0
"""Time that cleaning up may take before the process exits anyway."""
_SIGNALS = ("SIGINT", "SIGTERM", "SIGUSR1", "SIGHUP")


class Interrupts:
    """A context manager that handles signals; `received` names the first one."""

    def __init__(
        self, on_exit: Callable[[str, str], None], show_message: Callable[[str], None]
    ) -> None:
        """`on_exit(reason, kind)` records why the run ended and restores the terminal, just before the
        process exits; `show_message(text)` shows a line to the user. Both are called in threads of their
        own."""
        self.received: str | None = None
        self._on_exit, self._show_message = on_exit, show_message
        self._previous: dict[int, object] = {}
        """Signal number -> the handler to restore."""
        self._timer: threading.Timer | None = None
        self._exiting = threading.Event()
        self._wakeup_pair: tuple[socket.socket, socket.socket] | None = None
        """The (reading, writing) ends of the socket to which the interpreter writes signals."""

    def __enter__(self) -> Interrupts:
        """Installs the signal handlers and starts the thread that responds to signals."""
        # Python allows signal handlers only in the main thread; elsewhere (a training started from a
        # thread) signals keep the behavior they have.
        if threading.current_thread() is threading.main_thread():
            self._wakeup_pair = reader, writer = socket.socketpair()
            writer.setblocking(False)  # required by set_wakeup_fd
            self._previous_wakeup = signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)
            for name in _SIGNALS:
                number = getattr(signal, name)
                self._previous[number] = signal.signal(number, self._handle)
            threading.Thread(
                target=self._listen, args=[reader], name="signals", daemon=True
            ).start()
        return self

    def __exit__(self, *_: object) -> None:
        """Restores the previous signal handlers and ends the thread and the grace period."""
        if self._timer is not None:
            self._timer.cancel()
        for number, handler in self._previous.items():
            signal.signal(number, handler)  # type: ignore[arg-type]
        if self._wakeup_pair is not None:
            signal.set_wakeup_fd(self._previous_wakeup)
            self._wakeup_pair[1].close()  # the reader gets end-of-file, which ends its thread

    def stop_requested(self) -> bool:
        """True if a signal asked training to stop."""
        return self.received is not None

    def block_if_exiting(self) -> None:
        """Blocks the main thread for good once another thread has begun to exit: the process ends within
        CLEANUP_SECONDS, and the main thread must not report the closed record as its own failure."""
        if self._exiting.is_set():
            threading.Event().wait()

    def _handle(self, number: int, _frame: FrameType | None) -> None:
        # Runs in the main thread, so that the loop's next look at `received` sees the signal.
        self.received = self.received or signal.Signals(number).name

    def _listen(self, reader: socket.socket) -> None:
        """Responds to each signal, in a thread of its own. The interpreter writes one byte per signal:
        its number."""
        numbers = [getattr(signal, name) for name in _SIGNALS]
        with reader:
            while number := reader.recv(1):
                if number[0] in numbers:
                    self._respond(signal.Signals(number[0]).name)

    def _respond(self, name: str) -> None:
        """Starts the grace period at the first signal; exits at the second."""
        self.received = self.received or name
        if self._exiting.is_set():
            return  # nothing is faster, and SLURM sends SIGTERM to a job that was just requeued
        if self._timer is not None:
            self._exit(f"second {name}: exited at once")
        again = "press Ctrl-C again" if name == "SIGINT" else "send it again"
        text = f"after this rollout, in {GRACE_SECONDS:.0f} s at most ({name}); {again} to exit at once"
        reason = f"{name}: no rollout boundary within {GRACE_SECONDS:.0f} s"
        self._timer = threading.Timer(GRACE_SECONDS, self._exit, [reason])
        self._timer.daemon = True
        self._timer.start()
        # in a thread: printing to a stopped terminal (Ctrl-S) blocks, and must not block a second signal
        threading.Thread(target=self._show_message, args=[text], daemon=True).start()

    def fail(self, reason: str) -> None:
        """Ends the process because training hangs: the run has failed. To be called by another thread."""
        self._exit(reason, "failed", 1)

    def _exit(self, reason: str, kind: str = "interrupted", code: int = 130) -> None:
        """Cleans up for at most CLEANUP_SECONDS, then ends the process with this exit code."""
        # in a thread: the interrupted code may hold a lock that `on_exit` needs
        self._exiting.set()
        cleanup = threading.Thread(target=self._on_exit, args=[reason, kind], daemon=True)
        cleanup.start()
        cleanup.join(CLEANUP_SECONDS)
        # Not sys.exit: it would only end this thread, and the main thread may hang in C code.
        os._exit(code)
