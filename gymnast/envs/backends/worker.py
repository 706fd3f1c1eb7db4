"""One worker of the process backend, seen from the trainer: start it, ask it, find out how it died."""

from __future__ import annotations

import signal
import socket
import subprocess
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import IO, Any

from gymnast.envs.backends import child, messages
from gymnast.errors import EnvError

STARTING = 120.0
"""Seconds a worker may take to import what it needs and to make its copies."""
DYING = 1.0
"""Seconds a worker may take to die and to say its last words."""
AT_ONCE = 0.01
"""Seconds left for a worker, once another used up the time that both had."""
LAST_WORDS = 40
"""Lines kept of what a worker printed."""


class WorkerLost(Exception):
    """The worker is gone: what happened, and what it printed last."""

    def __init__(self, what: str, printed: str = "", *, hung: bool = False) -> None:
        self.what, self.printed, self.hung = f"its worker process {what}", printed, hung
        super().__init__(self.what)


class Worker:
    def __init__(
        self, copies: range, order: dict[str, Any], timeout: float, tell: Callable[[str], None]
    ) -> None:
        """`order`: what the worker is to make; `timeout`: seconds that an answer may take."""
        self.copies, self.order, self.timeout, self.tell = copies, order, timeout, tell
        self.running = False
        self._patience = STARTING
        self._absent = "is not running"
        self._printed: deque[str] = deque(maxlen=LAST_WORDS)

    def start(self) -> None:
        """Without waiting for it. Why it could not be started shows in its answer."""
        self._link, theirs = socket.socketpair()
        with theirs:
            try:
                self._process = child.start("gymnast.envs.backends.process_worker", theirs)
            except OSError as problem:
                self._link.close()
                self._absent = f"cannot be started: {problem}"
                return
        self.running = True
        self._printed.clear()
        printed = self._process.stdout
        self._listener = threading.Thread(target=self._listen, args=[printed], daemon=True)
        self._listener.start()
        self._wait_up_to(STARTING)
        with suppress(OSError):
            messages.send(self._link, self.order)

    @property
    def pid(self) -> int:
        return self._process.pid

    def made(self) -> dict[str, Any]:
        """What its copies are. EnvError if they cannot be made; Lost if it died over it."""
        answer = self.answer()
        if "refused" in answer:
            self.kill()
            message, fix, text = answer["refused"]
            raise EnvError(message, fix=fix, traceback=text)
        return answer["made"]

    def share(self, memory: int) -> None:
        """Give it the file that holds the rows."""
        with suppress(OSError):
            socket.send_fds(self._link, [b"m"], [memory])
        self._wait_up_to(self.timeout)

    def request(self, command: bytes) -> None:
        """That it cannot be reached any more shows in its answer."""
        if self.running:
            with suppress(OSError):
                self._link.send(command)

    def answer(self, *, at_once: bool = False) -> Any:
        """What it reports, None for nothing. `at_once`: it has had all the time it gets."""
        if not self.running:
            raise WorkerLost(self._absent)
        try:
            if not at_once:
                return messages.receive(self._link)
            self._link.settimeout(AT_ONCE)
            report = messages.receive(self._link)
            self._link.settimeout(self._patience)
            return report
        except TimeoutError:
            raise self._hung() from None
        except (OSError, EOFError):
            raise self._died() from None

    def notify(self, command: bytes, document: Any) -> None:
        """Tell it something that has no answer."""
        if self.running:
            with suppress(OSError):
                self._link.send(command)
                messages.send(self._link, document)

    # ---- ends --------------------------------------------------------------------------------

    def part(self) -> None:
        """Let it close its environments and end."""
        if self.running:
            with suppress(OSError):
                self._link.shutdown(socket.SHUT_WR)

    def kill(self, deadline: float = 0.0) -> None:
        """Wait for its end until then (time.monotonic), after that make it end."""
        if not self.running:
            return
        self.running = False
        with suppress(OSError):
            self._link.settimeout(max(0.001, deadline - time.monotonic()))
            while self._link.recv(4096):
                pass
        self._process.kill()
        self._process.wait()
        self._link.close()

    def _hung(self) -> WorkerLost:
        self._process.send_signal(signal.SIGABRT)  # it says where it was
        self._wait()
        self.kill()
        limit = "env.timeout" if self._patience == self.timeout else "a start may"
        what = f"took longer than {limit} ({self._patience:g} s) and was killed"
        return WorkerLost(what, self._last_words(), hung=True)

    def _died(self) -> WorkerLost:
        code = self._wait()
        self.kill()
        if code is None:
            what = "closed its connection and was killed"
        elif code >= 0:
            what = f"exited with code {code}"
        else:
            what = f"was killed by {signal.Signals(-code).name}"
            if -code == signal.SIGKILL:
                what += " (signal 9: by someone, or by the kernel when memory ran out)"
        return WorkerLost(what, self._last_words())

    def _wait_up_to(self, seconds: float) -> None:
        self._patience = seconds
        self._link.settimeout(seconds)

    def _wait(self) -> int | None:
        """Its exit code, if it ends soon."""
        try:
            return self._process.wait(DYING)
        except subprocess.TimeoutExpired:
            return None

    def _last_words(self) -> str:
        self._listener.join(DYING)
        return "\n".join(self._printed)

    def _listen(self, printed: IO[bytes]) -> None:
        with printed:
            for line in printed:
                text = line.decode(errors="replace").rstrip()
                self._printed.append(text)
                self.tell(text)
