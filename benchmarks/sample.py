"""Run one process on one core and one thread, and say how much CPU time it used."""

from __future__ import annotations

import json
import os
import resource
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.tasks import TASKS
from benchmarks.timed import ROOT
from gymnast.metrics.store import MetricStore

OURS = sys.executable
PEERS = str(ROOT / "benchmarks" / ".venv" / "bin" / "python")
_ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


def pin(core: int) -> None:
    """This process, and so every process it starts."""
    os.sched_setaffinity(0, {core})


def ours(letter: str, env_steps: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as runs:
        command = [OURS, "-m", "benchmarks.ours", letter, str(env_steps), runs]
        sample = _sample(command)
        return sample | _record(Path(sample.pop("run")))


def sb3(letter: str, env_steps: int) -> dict[str, Any]:
    return _sample([PEERS, "-m", "benchmarks.peers.sb3", letter, str(env_steps)])


def alone(letter: str) -> dict[str, Any]:
    return _sample([OURS, "-m", "benchmarks.alone", letter])


def first_step_ours() -> dict[str, Any]:
    """The real command up to its first environment step."""
    env = "env.id=py:benchmarks.first_step:FirstStep"
    command = [OURS, "-m", "gymnast", "train", TASKS["a"].env, "--set", env]
    return {"whole": _whole(command)[1]}


def first_step_sb3() -> dict[str, Any]:
    return {"whole": _whole([PEERS, "-m", "benchmarks.peers.sb3", "first-step"])[1]}


def _sample(command: Sequence[str]) -> dict[str, Any]:
    """What the process told, and the CPU seconds of the whole command."""
    told, whole = _whole(command)
    return {**json.loads(told.splitlines()[-1]), "whole": whole}


def _whole(command: Sequence[str]) -> tuple[str, float]:
    """What a command printed, and the CPU seconds of its process tree."""
    before = _children()
    with tempfile.TemporaryDirectory() as place:
        surroundings = {**os.environ, **_ONE_THREAD, "PYTHONPATH": str(ROOT)}
        done = subprocess.run(command, cwd=place, env=surroundings, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{shlex.join(command)} failed: {done.stderr[-2000:]}")
    return done.stdout, _children() - before


def _children() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _record(run: Path) -> dict[str, Any]:
    """From the run's own rows: how far it came, and where it says its seconds went."""
    with MetricStore(run / "metrics.db") as store:
        rows = {name: column[np.isfinite(column)] for name, column in store.read().items()}
    return {
        "updates": int(rows["clock/updates"][-1]),
        "episode_return": float(rows["episode/return"][-1]),
        "split": {name: float(rows[name].sum()) for name in rows if name.startswith("time/")},
    }
