"""Training in a child process that is killed, and a search for processes that outlive it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from contextlib import suppress
from pathlib import Path

import psutil

from gymnast.runs import store
from gymnast.runs.run import Run

PATIENCE = 120.0
"""Seconds that training may take to start."""
GRACE = 10.0
"""Seconds that the processes of a killed training have to exit."""
MARK = "GYMNAST_KILLED_TRAINING"
"""Environment variable that all processes of a training inherit; each training has its own value."""


class Training:
    def __init__(self, runs_dir: Path, name: str, *arguments: str) -> None:
        """`name` is that of the run that these arguments of `gymnast` start or resume."""
        self.runs_dir, self.name, self.mark = runs_dir, name, uuid.uuid4().hex
        self._attempts = self._attempts_so_far()
        command = [sys.executable, "-m", "gymnast", *arguments, "--runs", str(runs_dir)]
        env = os.environ | {MARK: self.mark}
        # a pipe would stay open as long as any process outlives the child
        self._words = tempfile.TemporaryFile()  # noqa: SIM115
        self.child = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=self._words, env=env
        )

    def find_run(self) -> Run | None:
        named = store.list_runs(self.runs_dir, f"name={self.name}")
        found = [run for run in named if run.name == self.name]
        return Run(Path(found[0].path)) if found else None

    def finish(self) -> None:
        """Waits for its end; raises AssertionError with its stderr if it failed."""
        if self.child.wait():
            self._words.seek(0)
            text = self._words.read().decode()
            raise AssertionError(f"exit code {self.child.returncode}: {text}")

    def kill(self, moment: float) -> bool:
        """Kills it with SIGKILL, `moment` seconds after a new attempt at the run has started; False if it
        ended by itself before."""
        self.wait_for_attempt()
        deadline = time.monotonic() + moment
        while self.child.poll() is None and time.monotonic() < deadline:
            time.sleep(0.005)
        if self.child.poll() is not None:
            return False
        self.child.send_signal(signal.SIGKILL)
        self.child.wait()
        return True

    def wait_for_attempt(self) -> bool:
        """Waits until a new attempt at the run has started; False if it has ended before."""
        deadline = time.monotonic() + PATIENCE
        while self.child.poll() is None and self._attempts_so_far() <= self._attempts:
            if time.monotonic() > deadline:
                raise AssertionError(f"{self.name} did not start")
            time.sleep(0.02)
        return self.child.poll() is None

    def leaked_processes(self, grace: float = GRACE) -> list[str]:
        """Returns the command lines of its processes that still exist after `grace` seconds; kills them."""
        deadline = time.monotonic() + grace
        while (left := self._left()) and time.monotonic() < deadline:
            time.sleep(0.1)
        command_lines = [f"{process.pid}: {' '.join(_command(process))}" for process in left]
        for process in left:
            with suppress(psutil.Error):
                process.kill()
        return command_lines

    def _attempts_so_far(self) -> int:
        run = self.find_run()
        return run.info["attempts"] if run else 0

    def _left(self) -> list[psutil.Process]:
        return [p for p in psutil.process_iter() if p.pid != os.getpid() and self._owns(p)]

    def _owns(self, process: psutil.Process) -> bool:
        """True if a process inherited the mark, or has the runs directory on its command line."""
        with suppress(psutil.Error):
            if process.status() == psutil.STATUS_ZOMBIE:
                return False
            if process.environ().get(MARK) == self.mark:
                return True
        return any(str(self.runs_dir) in word for word in _command(process))


def _command(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:
        return []
