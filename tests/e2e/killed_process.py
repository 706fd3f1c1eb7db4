"""A training in a process of its own, to be killed, and whatever of it is left afterwards."""

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
"""Seconds a training may take to get going."""
GRACE = 10.0
"""Seconds that processes of a killed training have to notice."""
MARK = "GYMNAST_KILLED_TRAINING"
"""Environment variable that every process of a training inherits, with a value of its own."""


class Training:
    def __init__(self, runs_dir: Path, name: str, *arguments: str) -> None:
        """`name`: of the run that these arguments of `gymnast` begin or resume."""
        self.runs_dir, self.name, self.mark = runs_dir, name, uuid.uuid4().hex
        self._attempts = self._attempts_so_far()
        command = [sys.executable, "-m", "gymnast", *arguments, "--runs", str(runs_dir)]
        env = os.environ | {MARK: self.mark}
        # a pipe would wait for whoever outlives the child
        self._words = tempfile.TemporaryFile()  # noqa: SIM115
        self.child = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=self._words, env=env
        )

    def run(self) -> Run | None:
        named = store.list_runs(self.runs_dir, f"name={self.name}")
        found = [info for info in named if info.get("name") == self.name]
        return Run(Path(found[0]["path"])) if found else None

    def finish(self) -> None:
        """Wait for its end; an error if it ended badly."""
        if self.child.wait():
            self._words.seek(0)
            words = self._words.read().decode()
            raise AssertionError(f"exit code {self.child.returncode}: {words}")

    def kill(self, moment: float) -> bool:
        """kill -9, so many seconds after the run has a new attempt under way; False if it ended before
        by itself."""
        deadline = time.monotonic() + PATIENCE
        while self.child.poll() is None and self._attempts_so_far() <= self._attempts:
            if time.monotonic() > deadline:
                raise AssertionError(f"{self.name} did not get going")
            time.sleep(0.02)
        deadline = time.monotonic() + moment
        while self.child.poll() is None and time.monotonic() < deadline:
            time.sleep(0.005)
        if self.child.poll() is not None:
            return False
        self.child.send_signal(signal.SIGKILL)
        self.child.wait()
        return True

    def leaked(self, grace: float = GRACE) -> list[str]:
        """Command lines of its processes that are still there after a while. They are killed."""
        deadline = time.monotonic() + grace
        while (left := self._left()) and time.monotonic() < deadline:
            time.sleep(0.1)
        told = [f"{process.pid}: {' '.join(_command(process))}" for process in left]
        for process in left:
            with suppress(psutil.Error):
                process.kill()
        return told

    def _attempts_so_far(self) -> int:
        run = self.run()
        return run.info["attempts"] if run else 0

    def _left(self) -> list[psutil.Process]:
        return [p for p in psutil.process_iter() if p.pid != os.getpid() and self._owns(p)]

    def _owns(self, process: psutil.Process) -> bool:
        """By what it inherited, or by the runs directory on its command line."""
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
