"""The child processes of a group of seeds: starts, watches and signals them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO

from gymnast.processes import guard
from gymnast.processes.parent import PARENT_PIPE
from gymnast.runs import document
from gymnast.training.request import TrainRequest

_POLL_SECONDS = 0.05


@dataclass
class Children:
    """One process per seed, a limited number at once."""

    requests: Mapping[int, TrainRequest]
    """Seed -> what its child trains."""
    runs_dir: Path
    report: Callable[[str], None] | None
    exit_codes: dict[int, int] = field(default_factory=dict)
    errors: dict[int, str] = field(default_factory=dict)
    parent_pipe: tuple[int, int] = field(default_factory=os.pipe)
    """A pipe that closes when this process ends, however it ends; the children then stop as well."""
    received: int | None = None
    """The last SIGINT or SIGTERM received, if any."""
    alive: dict[int, tuple[subprocess.Popen[bytes], IO[bytes]]] = field(default_factory=dict)

    def run_all(self, jobs: int) -> None:
        """Trains all seeds, `jobs` at a time, until all children have ended. After a signal, no further
        one is started."""
        waiting = list(self.requests)
        try:
            while self.alive or (waiting and self.received is None):
                while waiting and len(self.alive) < jobs and self.received is None:
                    self._start(waiting.pop(0))
                for seed in [s for s, (child, _) in self.alive.items() if child.poll() is not None]:
                    self._finish(seed)
                time.sleep(_POLL_SECONDS)
        except BaseException:
            self.signal(signal.SIGTERM)
            raise
        finally:
            for end in self.parent_pipe:
                os.close(end)

    def signal(self, number: int) -> None:
        """Sends a signal to all children. Called by a signal handler, at any point of `run_all`."""
        self.received = number
        for child, _ in list(self.alive.values()):
            child.send_signal(number)

    def _start(self, seed: int) -> None:
        """Starts the child process that trains a seed. A signal that this process received meanwhile is
        passed on to it."""
        # A file and not a pipe: nobody reads while the child runs, and a full pipe would block it.
        stderr = tempfile.TemporaryFile()  # noqa: SIM115 (closed when the child ends)
        request = document.dumps(asdict(self.requests[seed]))
        child = subprocess.Popen(
            [
                sys.executable,
                "-P",
                "-m",
                "gymnast.jobs.worker",
                "seed",
                str(self.runs_dir),
                request,
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=stderr,
            # so that Ctrl-C reaches the child once (forwarded by us) and not twice
            start_new_session=True,
            pass_fds=[self.parent_pipe[0]],
            env={**guard.detached_environ(), PARENT_PIPE: str(self.parent_pipe[0])},
        )
        self.alive[seed] = (child, stderr)
        if self.received is not None:  # it arrived while this child was being started
            child.send_signal(self.received)
        self._report(f"seed {seed}: started")

    def _finish(self, seed: int) -> None:
        """Records the exit code of a child that has ended and, if it failed, the end of its stderr."""
        child, stderr = self.alive.pop(seed)
        self.exit_codes[seed] = child.returncode
        with stderr:
            stderr.seek(0)
            message = stderr.read()[-4000:].decode(errors="replace").strip()
        if child.returncode:
            self.errors[seed] = message
        self._report(f"seed {seed}: {_outcome(child.returncode)}")

    def _report(self, line: str) -> None:
        if self.report is not None:
            self.report(line)


def _outcome(code: int) -> str:
    """Returns how a child ended, in words, from its exit code."""
    if code in (0, 130):
        return "interrupted" if code else "done"
    if code < 0:
        return f"killed by {signal.Signals(-code).name}"
    return f"failed (exit code {code})"


@contextmanager
def forward_signals(children: Children) -> Iterator[None]:
    """Forwards SIGINT and SIGTERM to the children; a second signal, also forwarded, ends them at once."""
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may set signal handlers
        return
    before = {
        number: signal.signal(number, lambda n, _: children.signal(n))
        for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
