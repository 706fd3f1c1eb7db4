"""Fixtures for runs that are created directly, without training, and for forked processes."""

from __future__ import annotations

import os
import signal
import traceback
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from gymnast.runs.run import Run

Maker = Callable[..., Run]


@pytest.fixture
def make_run(runs_dir: Path) -> Maker:
    """Creates a finished CartPole run; keywords of `Run.create`, all others are fields of run.json."""
    made: list[Run] = []

    def make(*, created: float | None = None, status: str = "finished", **fields: Any) -> Run:
        defaults = {"config_text": "seed: 0\n", "preset": "CartPole-v1:ppo", "seed": 0}
        defaults |= {"provenance": {}, "env": "CartPole-v1", "algo": "ppo"}
        run = Run.create(runs_dir, **(defaults | fields))
        order = 1_700_000_000.0 + len(made)  # distinct times, whatever the resolution of the clock
        run.update(status=status, created=order if created is None else created)
        made.append(run)
        return run

    return make


@pytest.fixture
def fork() -> Iterator[Callable[[Callable[[], Any]], int]]:
    """Runs a function in a forked process and returns its pid; the process is killed after the test."""
    pids: list[int] = []

    def start(work: Callable[[], Any]) -> int:
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                work()
                code = 0
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(code)
        pids.append(pid)
        return pid

    yield start
    for pid in pids:
        with suppress(ProcessLookupError, ChildProcessError):
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


@pytest.fixture
def in_child(fork: Callable[[Callable[[], Any]], int]) -> Callable[[Callable[[], Any]], int]:
    """Runs a function in a forked process and returns its exit code (negative: the signal)."""

    def run(work: Callable[[], Any]) -> int:
        return os.waitstatus_to_exitcode(os.waitpid(fork(work), 0)[1])

    return run
