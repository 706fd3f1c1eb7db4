"""Measures one training in steady state: env steps per second, CPU of all processes, memory."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.code_revision import ROOT
from benchmarks.distributed.processes import ProcessTree, adopting_orphans, poll
from benchmarks.distributed.tasks import DistributedTask
from benchmarks.libraries import PEERS
from gymnast.metrics.store import MetricStore

WARM_UP = 3
"""Rollouts before the measurement, with everything that happens only once."""
EVERY = 0.5
"""Seconds between two looks at the progress before the measurement."""
MIN_ROLLOUTS = 3
"""Number of rollouts that are measured at least."""
LOOKS = 4
"""Number of samples of the memory during the measurement."""
START_SECONDS = 180.0
"""Time that a command may take until it is warm."""


@dataclass
class Training:
    """A command that trains, and how to read its progress."""

    command: list[str]
    history: Callable[[], list[tuple[float, int]]]
    """Returns (seconds of training, env steps) after each rollout so far."""
    folder: str
    rows: Callable[[], dict[str, np.ndarray]] = field(default=dict[str, np.ndarray])
    """Returns the metrics of gymnast by name."""


@dataclass(frozen=True)
class Measured:
    """Rates of a training in steady state."""

    steps_per_second: float
    cpu_per_step: float
    """CPU seconds of all processes per env step."""
    cores: float
    """CPU seconds per second."""
    memory: float
    """Largest PSS of all processes together, in MB."""
    rollouts: int
    """Number of rollouts that were measured."""
    more: dict[str, float] = field(default_factory=dict[str, float])
    """Means of further metrics."""


def ours(
    task: DistributedTask,
    folder: str,
    extra: Sequence[str] = (),
    kwargs: dict[str, Any] | None = None,
) -> Training:
    """Returns a training of gymnast. `extra`: settings KEY=VALUE."""
    runs = Path(folder) / "runs"
    words = [task.name, str(runs), json.dumps(kwargs or {}), *extra]

    def rows() -> dict[str, np.ndarray]:
        found = list(runs.glob("*/metrics.db"))
        if not found:
            return {}
        try:
            with MetricStore(found[0]) as store:
                return store.read()
        except sqlite3.OperationalError:  # it is being created
            return {}

    def history() -> list[tuple[float, int]]:
        columns = rows()
        if "clock/seconds" not in columns:
            return []
        pairs = zip(columns["clock/seconds"], columns["clock/env_steps"], strict=True)
        return [(float(seconds), int(steps)) for seconds, steps in pairs]

    command = [sys.executable, "-m", "benchmarks.distributed.ours", *words]
    return Training(command, history, folder, rows)


def rllib(
    task: DistributedTask, folder: str, hosts: int, kwargs: dict[str, Any] | None = None
) -> Training:
    """Returns a training of RLlib with this many env runners."""
    progress = Path(folder) / "progress.txt"
    arguments = [f"{key}={json.dumps(value)}" for key, value in (kwargs or {}).items()]
    words = [task.name, str(hosts), "100000", str(progress), *arguments]

    def history() -> list[tuple[float, int]]:
        lines = progress.read_text().splitlines() if progress.exists() else []
        whole = [line.split() for line in lines if len(line.split()) == 2]
        return [(float(seconds), int(steps)) for seconds, steps in whole]

    command = [str(PEERS["rllib"].python), "-m", "benchmarks.peers.rllib", *words]
    return Training(command, history, folder)


def environ() -> dict[str, str]:
    """Returns the environment variables of a training: one thread per process, no shared Ray cluster."""
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    return {**os.environ, **threads, "PYTHONPATH": str(ROOT), "RAY_AUTH_MODE": "disabled"}


def measure(training: Training, seconds: float, means: Sequence[str] = ()) -> Measured:
    """Runs a training for `seconds` after its warm-up, or longer if its rollouts are, then ends it.
    `means`: metrics of gymnast whose mean over the measured rollouts is wanted."""
    memory: list[int] = []
    with adopting_orphans():
        tree = ProcessTree(training.command, training.folder, environ())
        try:
            _require_running(tree, poll(tree, EVERY, START_SECONDS, lambda _: _is_warm(training)))
            first = len(training.history())
            began, cpu = time.monotonic(), tree.cpu()

            def look(now: float) -> bool:
                memory.append(tree.memory())
                is_long_enough = now - began >= seconds
                return is_long_enough and len(training.history()) >= first + MIN_ROLLOUTS

            # rarely, because looking takes time of the cores that are measured
            _require_running(tree, poll(tree, seconds / LOOKS, seconds + START_SECONDS, look))
            cores = (tree.cpu() - cpu) / (time.monotonic() - began)
            history = training.history()[first - 1 :]
            rows = training.rows()
        finally:
            tree.end()
    (since, before), (until, after) = history[0], history[-1]
    speed = (after - before) / (until - since)
    more = {name: float(np.nanmean(rows[name][first:])) for name in means if name in rows}
    return Measured(speed, cores / speed, cores, max(memory) / 1e6, len(history) - 1, more)


def in_folder(work: Callable[[str], Any]) -> Any:
    """Returns `work(folder)` with a temporary folder."""
    with tempfile.TemporaryDirectory(prefix="gymnast-distributed-") as folder:
        return work(folder)


def _is_warm(training: Training) -> bool:
    return len(training.history()) > WARM_UP


def _require_running(tree: ProcessTree, code: int | None) -> None:
    """Raises if the command has ended with this exit code."""
    if code is not None:
        raise subprocess.SubprocessError(f"it exited with {code}:\n{tree.output()[-3000:]}")
