"""Runs made by hand, as the loop would leave them."""

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
    """A finished CartPole run; keywords of `Run.create`, others are fields of run.json."""
    made: list[Run] = []

    def make(*, created: float | None = None, status: str = "finished", **fields: Any) -> Run:
        given = {"config_text": "seed: 0\n", "preset": "CartPole-v1:ppo", "seed": 0}
        given |= {"provenance": {}, "env": "CartPole-v1", "algo": "ppo"}
        run = Run.create(runs_dir, **(given | fields))
        order = 1_700_000_000.0 + len(made)  # made one after the other, whatever the clock's grain
        run.update(status=status, created=order if created is None else created)
        made.append(run)
        return run

    return make


@pytest.fixture
def fork() -> Iterator[Callable[[Callable[[], Any]], int]]:
    """Run a function in a forked process; gives its pid. Killed at the end of the test."""
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
    """Run a function in a forked process and give its exit code (negative: the signal)."""

    def run(work: Callable[[], Any]) -> int:
        return os.waitstatus_to_exitcode(os.waitpid(fork(work), 0)[1])

    return run
