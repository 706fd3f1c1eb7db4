"""Runs a process on chosen cores and threads, and measures the time it takes."""

from __future__ import annotations

import json
import os
import resource
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.code_revision import ROOT
from benchmarks.libraries import PEERS
from benchmarks.tasks import TASKS
from gymnast.metrics.store import MetricStore

OURS = sys.executable
TIMEOUT = 1200
"""Timeout of a sample in seconds."""
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
_CACHE = tempfile.TemporaryDirectory(prefix="gymnast-benchmarks-")
"""Compilation cache of the peers, shared by all samples of one benchmark run; compiling is not timed."""
_COMPILED = {
    "TORCHINDUCTOR_CACHE_DIR": f"{_CACHE.name}/torch",
    "JAX_COMPILATION_CACHE_DIR": f"{_CACHE.name}/jax",
    "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
}


@contextmanager
def pin_to_cores(cores: Collection[int]) -> Iterator[None]:
    """Restricts this process, and every process it starts meanwhile, to these cores."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def ours(
    letter: str, env_steps: int, threads: int = 1, extra_settings: Sequence[str] = ()
) -> dict[str, Any]:
    """Returns a sample of gymnast; `extra_settings` are settings in addition to those of the task."""
    with tempfile.TemporaryDirectory() as runs:
        words = ["benchmarks.ours", letter, str(env_steps), str(threads), runs, *extra_settings]
        sample = run_json([OURS, "-m", *words], threads)
        return sample | _run_metrics(Path(sample.pop("run")))


def peer(name: str, letter: str, env_steps: int, threads: int = 1) -> dict[str, Any]:
    module = f"benchmarks.peers.{PEERS[name].module}"
    words = ["-m", module, letter, str(env_steps), str(threads)]
    return run_json([str(PEERS[name].python), *words], threads)


def alone(letter: str) -> dict[str, Any]:
    return run_json([OURS, "-m", "benchmarks.alone", letter])


def first_step_ours() -> dict[str, Any]:
    """Measures the real command up to its first environment step."""
    env = "env.id=py:benchmarks.first_step:FirstStep"
    done = run_command([OURS, "-m", "gymnast", "train", TASKS["a"].env, "--set", env])
    return {"cpu": done.cpu, "wall": done.wall}


def first_step_sb3() -> dict[str, Any]:
    done = run_command([str(PEERS["sb3"].python), "-m", "benchmarks.peers.sb3_first_step"])
    return {"cpu": done.cpu, "wall": done.wall}


def run_json(command: Sequence[str], threads: int = 1, root: Path = ROOT) -> dict[str, Any]:
    """Runs a command; returns the JSON of its last line, and as `whole` the CPU seconds of the command."""
    completed = run_command(command, threads, root)
    return {**json.loads(completed.stdout.splitlines()[-1]), "whole": completed.cpu}


@dataclass(frozen=True)
class CompletedCommand:
    stdout: str
    cpu: float
    """CPU seconds of the process tree, from start to exit."""
    wall: float


def run_command(command: Sequence[str], threads: int = 1, root: Path = ROOT) -> CompletedCommand:
    """Runs a command to its end, in a temporary directory; it imports the package of the tree `root`."""
    cpu, started = _children_cpu(), time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        # Libraries read their number of threads when they are loaded, so it is set from outside.
        environ = {**os.environ, **dict.fromkeys(_THREADS, str(threads)), **_COMPILED}
        environ |= {"PYTHONPATH": str(root), "GYMNAST_RUNS": f"{folder}/runs"}
        options: Any = {"cwd": folder, "env": environ, "capture_output": True, "text": True}
        try:
            completed = subprocess.run(command, timeout=TIMEOUT, **options)
        except subprocess.TimeoutExpired:
            raise CommandFailed(shlex.join(command), f"no end after {TIMEOUT} s") from None
    if completed.returncode:
        raise CommandFailed(f"{shlex.join(command)} failed", completed.stderr[-3000:])
    wall = time.perf_counter() - started
    return CompletedCommand(completed.stdout, _children_cpu() - cpu, wall)


class CommandFailed(RuntimeError):
    def __init__(self, what: str, output: str) -> None:
        super().__init__(f"{what}: {output}")
        lines = [line for line in output.splitlines() if line.strip()]
        self.reason = lines[-1].strip()[:300] if lines else what


def _children_cpu() -> float:
    """Returns the CPU seconds of all child processes that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _run_metrics(run: Path) -> dict[str, Any]:
    """Returns updates, final return and seconds per phase from the metrics of a run."""
    with MetricStore(run / "metrics.db") as store:
        # A metric that a row lacks is NaN in its column.
        rows = {name: column[np.isfinite(column)] for name, column in store.read().items()}
    returns = rows.get("episode/return", np.empty(0))
    return {
        "updates": int(rows["clock/updates"][-1]),
        "episode_return": float(returns[-1]) if len(returns) else None,
        "split": {name: float(rows[name].sum()) for name in rows if name.startswith("time/")},
    }
