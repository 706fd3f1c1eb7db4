"""kill -9 a training at random moments, many of them while it saves; resume; compare.

    python -m tests.e2e.kills --kills 100

Every run must resume, every latest checkpoint must load, and the final weights, exact metrics and
traces must equal those of a run that nobody touched.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gymnast.config.saved import load
from gymnast.errors import CheckpointError
from gymnast.metrics.specs import declared, spec
from gymnast.runs import checkpoint, store
from gymnast.runs.revision import revision
from gymnast.runs.run import Run

SETTINGS = (
    "stop.solved=off",
    "checkpoint.every=1 rollouts",
    "eval.every=8 rollouts",
    "eval.episodes=4",
    "eval.confirm_episodes=8",
    "traces.train=30%",
    "normalize.obs=running",
    "normalize.reward=running",
)
PATIENCE = 120.0
"""Seconds a training may take to get going."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--env", default="CartPole-v1")
    parser.add_argument("--env-steps", default="12k")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--set", dest="settings", action="append", default=[])
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        result = kill_and_compare(
            Path(folder),
            options.env,
            options.env_steps,
            options.kills,
            options.seed,
            options.settings,
        )
    about = {
        "command": f"python -m tests.e2e.kills {' '.join(sys.argv[1:])}",
        "revision": revision(),
    }
    print(json.dumps(about | result, indent=1))
    sys.exit(0 if not result["differences"] and not result["unloadable"] else 1)


def kill_and_compare(
    runs_dir: Path, env: str, env_steps: str, kills: int, seed: int, more: Sequence[str] = ()
) -> dict[str, Any]:
    """Runs killed again and again until `kills` are spent, each compared with an untouched one."""
    train = ["train", env, "--env-steps", env_steps, "--quiet"]
    train += [word for setting in (*SETTINGS, *more) for word in ("--set", setting)]
    _gymnast(runs_dir, *train, "--name", "untouched").check()
    untouched, _ = store.resolve("untouched", runs_dir)

    chance = random.Random(seed)
    done = {"kills": 0, "while_saving": 0, "runs": 0, "resumes": 0}
    differences: list[str] = []
    unloadable: list[str] = []
    while done["kills"] < kills:
        name = f"killed-{done['runs']}"
        process = _gymnast(runs_dir, *train, "--name", name)
        while True:
            if done["kills"] < kills:
                process.wait_until_going(runs_dir, name, chance.uniform(0.0, 0.8))
            if not process.kill_if_alive(spare=done["kills"] >= kills):
                break
            done["kills"] += 1
            run = _named(runs_dir, name)
            if run is None:  # killed before it had a directory: start it again
                process = _gymnast(runs_dir, *train, "--name", name)
                continue
            done["while_saving"] += any(run.checkpoints.glob(".draft-*"))
            unloadable += _unloadable(run)
            if run.info["status"] == "finished":  # killed after its last word
                break
            done["resumes"] += 1
            process = _gymnast(runs_dir, "resume", name, "--quiet")
        done["runs"] += 1
        differences += [f"{name}: {text}" for text in compare(untouched, _found(runs_dir, name))]
    return {**done, "unloadable": unloadable, "differences": differences}


def compare(a: Run, b: Run) -> list[str]:
    """What differs between two runs that should be one and the same."""
    last_a, last_b = (checkpoint.latest(run.path).manifest["files"] for run in (a, b))
    files = [f"{stem}.safetensors" for stem in ("policy", "learner", "collector")]
    found = [f"{file} differs" for file in files if last_a[file] != last_b[file]]
    rows_a, rows_b = a.rows(), b.rows()
    if len(rows_a) != len(rows_b):
        return [*found, f"{len(rows_a)} rows against {len(rows_b)}"]
    declarations = declared(load(a.config()))
    exact = [name for name in rows_a.columns if spec(name, declarations).exact]
    columns = ((name, rows_a[name].to_numpy(), rows_b[name].to_numpy()) for name in exact)
    found += [
        f"metric {n} differs" for n, x, y in columns if not np.array_equal(x, y, equal_nan=True)
    ]
    if a.info["score"] != b.info["score"]:
        found.append("scores differ")
    if _traces(a) != _traces(b):
        found.append("traces differ")
    return found


class _Process:
    def __init__(self, command: list[str]) -> None:
        self.child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)

    def check(self) -> None:
        _, words = self.child.communicate()
        if self.child.returncode:
            raise AssertionError(f"exit code {self.child.returncode}: {words.decode()}")

    def wait_until_going(self, runs_dir: Path, name: str, extra: float) -> None:
        """Until the run has a new attempt under way, then a random while longer."""
        run = _named(runs_dir, name)
        before = run.info["attempts"] if run else 0
        deadline = time.monotonic() + PATIENCE
        while self.child.poll() is None:
            run = run or _named(runs_dir, name)
            if run is not None and run.info["attempts"] > before:
                break
            if time.monotonic() > deadline:
                raise AssertionError(f"{name} did not get going")
            time.sleep(0.02)
        deadline = time.monotonic() + extra
        while self.child.poll() is None and time.monotonic() < deadline:
            time.sleep(0.005)

    def kill_if_alive(self, *, spare: bool) -> bool:
        """False once it has ended by itself; an error if it ended badly."""
        if spare:
            self.check()
            return False
        if self.child.poll() is not None:
            self.check()
            return False
        self.child.send_signal(signal.SIGKILL)
        self.child.wait()
        return True


def _gymnast(runs_dir: Path, *arguments: str) -> _Process:
    return _Process([sys.executable, "-m", "gymnast", *arguments, "--runs", str(runs_dir)])


def _named(runs_dir: Path, name: str) -> Run | None:
    found = [i for i in store.list_runs(runs_dir, f"name={name}") if i.get("name") == name]
    return Run(Path(found[0]["path"])) if found else None


def _found(runs_dir: Path, name: str) -> Run:
    run = _named(runs_dir, name)
    assert run is not None
    return run


def _unloadable(run: Run) -> list[str]:
    if not checkpoint.steps(run.path):
        return []  # killed before its first checkpoint: resume begins it again
    try:
        return list(checkpoint.latest(run.path).skipped)
    except CheckpointError as error:
        return [str(error)]


def _traces(run: Run) -> dict[str, str]:
    """Without what a kill left of a file that was being written."""
    files = run.traces.glob("[!.]*")
    return {f.name: hashlib.sha256(f.read_bytes()).hexdigest() for f in files}


if __name__ == "__main__":
    main()
