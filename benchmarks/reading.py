"""CPU time of the commands that read runs, in a directory with many runs.

python -m benchmarks.reading --runs 1000 --out benchmarks/results/reading.json       # about a minute

The runs are copies of one realistic run: a config, provenance, 300 rows of metrics, 60 events, alerts, three
checkpoints of 1 MB and a log. Each command is a new process. Its CPU time, user and system, is that of the
whole process, the start of Python included; `first` has to read every run.json because there is no index yet.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import median

import numpy as np

from benchmarks.code_revision import measurement_info
from gymnast.config.resolve import resolve, save
from gymnast.metrics.store import MetricStore
from gymnast.runs import checkpoint
from gymnast.runs.curve import CURVE_POINTS
from gymnast.runs.run import Run

COMMANDS = {
    "runs": ("runs",),
    "runs --json": ("runs", "--json"),
    "runs FILTER": ("runs", "solved=yes", "CartPole"),
    "show": ("show", "@last"),
    "show --json": ("show", "@last", "--json"),
    "show @best": ("show", "@best:CartPole-v1"),
}
LIMIT_SECONDS = 0.3
REPETITIONS = 7
ROWS, EVENTS = 300, 60


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--repetitions", type=int, default=REPETITIONS)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        runs_dir = Path(folder) / "runs"
        make_runs(runs_dir, options.runs)
        samples = {"first": [cpu_seconds(["runs"], runs_dir)]}
        for _ in range(options.repetitions):
            for name, words in COMMANDS.items():
                samples.setdefault(name, []).append(cpu_seconds(words, runs_dir))
    medians = {name: median(seconds) for name, seconds in samples.items()}
    for name, seconds in medians.items():
        print(f"{name:<14} {seconds:.3f} s of CPU")
    entry = measurement_info("reading") | {
        "runs": options.runs,
        "limit_seconds": LIMIT_SECONDS,
        "cpu_seconds": medians,
        "samples": samples,
    }
    if options.out is not None:
        options.out.write_text(json.dumps(entry, indent=1) + "\n")


def make_runs(runs_dir: Path, count: int) -> None:
    """Creates `count` runs in `runs_dir`: one realistic run, and copies of it with their own ids."""
    first = make_run(runs_dir)
    info = json.loads((first.path / "run.json").read_text())
    for i in range(1, count):
        path = runs_dir / f"r{i:07d}"
        shutil.copytree(first.path, path, copy_function=_link)
        own = {"id": path.name, "seed": i, "created": info["created"] + i, "name": f"try-{i}"}
        (path / "run.json").unlink()  # a hard link until here
        (path / "run.json").write_text(json.dumps(info | own, indent=1))


def make_run(runs_dir: Path) -> Run:
    """Creates a finished run like one of CartPole."""
    resolved = resolve("CartPole-v1:ppo", {"algo.gamma": 0.98, "env.n_envs": 16})
    run = Run.create(
        runs_dir,
        config_text=save(resolved.config),
        preset=resolved.preset,
        seed=0,
        provenance=resolved.provenance,
        env="CartPole-v1",
        algo="ppo",
        threshold=475.0,
    )
    clocks = ("env_steps", "vec_steps", "frames", "updates", "rollouts", "episodes", "seconds")
    rng = np.random.default_rng(0)
    with MetricStore(run.path / "metrics.db", "w") as metrics:
        for i in range(1, ROWS + 1):
            row = {f"clock/{name}": float(i * 100) for name in clocks}
            row |= {f"policy/metric_{k}": float(x) for k, x in enumerate(rng.normal(size=60))}
            if i % 10 == 0:
                row |= {"eval:clock/env_steps": (i - 5) * 100.0, "eval:episode/return": 1.6 * i}
                row |= {"eval:episode/low": 1.5 * i, "eval:episode/high": 1.7 * i}
            metrics.append(row)
    score = {"mean": 480.0, "low": 476.0, "high": 484.0, "episodes": 100, "iqm": 481.0}
    for i in range(EVENTS):
        counters = {"env_steps": i * 500, "rollouts": i}
        run.record_event("evaluated", counters, version=i * 500, score=score)
    for step in (10_000, 20_000, 30_000):
        weights = rng.normal(size=1 << 17)
        checkpoint.write(
            run.checkpoints,
            step,
            tensors={"policy": {"w": weights}, "optimizer": {"m": weights}},
            documents={"state": {"clock": {"env_steps": step}}},
            reason="cadence",
        )
    alert = {"id": "policy/kl:high", "level": "warning", "message": "policy/kl is high"}
    alert |= {"advice": "lower algo.lr", "first": 256, "last": 512, "count": 9, "active": False}
    (run.path / "log.txt").write_text("a line of the log\n" * 400)
    run.update(
        status="finished",
        reason="solved",
        solved=True,
        score=score,
        clocks=dict.fromkeys(clocks, 30_000),
        limits={"env_steps": 50_000},
        rates=dict.fromkeys(clocks, 9.87654321),
        curve={
            "env_steps": [i * 1000.0 for i in range(CURVE_POINTS)],
            "mean_return": rng.normal(size=CURVE_POINTS).tolist(),
        },
        checkpoints={"best": 20_000, "latest": 30_000},
        alerts=[alert] * 5,
        learning={
            "area": 0.8,
            "unused": 0.1,
            "mean_return": 300.0,
            "steps_to_threshold": 20_000,
            "seconds_to_threshold": 3.0,
        },
    )
    return run


def cpu_seconds(words: Sequence[str], runs_dir: Path) -> float:
    """Returns the CPU seconds of one `gymnast` command."""
    before = _children_seconds()
    command = [sys.executable, "-m", "gymnast", *words, "--runs", str(runs_dir)]
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    return _children_seconds() - before


def _children_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _link(source: str, target: str) -> None:
    """Hard links instead of copies: 1,000 runs would take gigabytes."""
    os.link(source, target)


if __name__ == "__main__":
    main()
