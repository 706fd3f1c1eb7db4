"""Trains for a long time with live control, pauses, stops and kills, and measures what grows.

    python -m tests.e2e.soak --minutes 60

One LunarLander and one tag self-play training run side by side. Every few seconds a random action
is taken on one of them: change the learning rate, pause and unpause, save a checkpoint, evaluate,
stop and resume, interrupt and resume, `kill -9` and resume. Memory, file handles, processes and the
size of the run directory are sampled throughout. The report compares the last third of the samples
with the middle third: what is bounded does not grow between them.
"""

from __future__ import annotations

import argparse
import json
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

from gymnast.runs.machine import revision
from gymnast.runs.store import resolve

SHARED = ("stop.solved=off", "stop.env_steps=2000M", "checkpoint.every=40 rollouts")
TRAININGS = {
    "lander": ("LunarLander-v3", "stop.eval_return=off", "eval.every=200k env_steps"),
    "tag": ("tag:selfplay", "eval.every=400k env_steps", "league.snapshot=400k env_steps"),
}
SAMPLE_SECONDS = 5.0
ACT_SECONDS = (8.0, 20.0)
PATIENCE = 120.0
"""Seconds that training may take to start or to stop."""
ACTIONS = {
    "set": 5,
    "pause": 3,
    "checkpoint": 3,
    "evaluate": 3,
    "stop": 2,
    "interrupt": 2,
    "kill": 2,
}
"""Action -> its relative frequency."""


@dataclass
class Sample:
    minutes: float
    pss_mb: float
    """Proportional memory of the training and all its children."""
    handles: int
    processes: int
    disk_mb: float
    files: int
    env_steps: int


@dataclass
class Training:
    """One training under test, restarted whenever an action ended it."""

    name: str
    runs_dir: Path
    child: subprocess.Popen[bytes]
    samples: list[Sample] = field(default_factory=list)
    actions: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)
    survivors: int = 0
    """Children that outlived a killed training."""

    @classmethod
    def start(cls, name: str, runs_dir: Path) -> Training:
        preset, *settings = TRAININGS[name]
        words = [word for setting in (*SHARED, *settings) for word in ("--set", setting)]
        child = launch(runs_dir, "train", preset, "--quiet", "--name", name, *words)
        training = cls(name, runs_dir, child)
        training.wait_until_running()
        return training

    def take_action(self, chance: random.Random) -> None:
        action = chance.choices(list(ACTIONS), weights=list(ACTIONS.values()))[0]
        self.actions[action] += 1
        match action:
            case "set":
                self.control("set", f"algo.lr={chance.uniform(1e-4, 1e-3):.2e}")
            case "pause":
                self.control("pause")
                self.sample(0.0)
                self.control("unpause")
            case "checkpoint":
                self.control("checkpoint")
            case "evaluate":
                self.control("eval", "--live")
            case "stop":
                self.control("stop")
                self.resume()
            case "interrupt":
                self.child.send_signal(signal.SIGINT)
                self.resume()
            case "kill":
                family = psutil.Process(self.child.pid).children(recursive=True)
                self.child.kill()
                _, alive = psutil.wait_procs(family, timeout=10)
                self.survivors += len(alive)
                self.resume()

    def control(self, *words: str) -> None:
        verb, *values = words
        done = launch(self.runs_dir, verb, self.name, *values)
        stderr = done.communicate(timeout=PATIENCE)[1].decode().strip()
        if done.returncode:
            self.problems.append(f"{' '.join(words)}: exit code {done.returncode}: {stderr[-300:]}")

    def resume(self) -> None:
        self.child.communicate(timeout=PATIENCE)
        self.child = launch(self.runs_dir, "resume", self.name, "--quiet")
        self.wait_until_running()

    def wait_until_running(self) -> None:
        """Wait until the process holds the run, so that the next action reaches it."""
        deadline = time.monotonic() + PATIENCE
        while self.info().get("pid") != self.child.pid or self.info()["status"] != "running":
            if self.child.poll() is not None:
                raise SystemExit(f"{self.name} ended: {self.child.communicate()[1].decode()}")
            if time.monotonic() > deadline:
                raise SystemExit(f"{self.name} did not start within {PATIENCE:.0f} seconds")
            time.sleep(0.1)

    def info(self) -> dict[str, Any]:
        try:
            return resolve(self.name, self.runs_dir)[0].info
        except Exception:  # not created yet
            return {}

    def sample(self, minutes: float) -> Sample | None:
        """Measure now; None while the training is being replaced."""
        try:
            process = psutil.Process(self.child.pid)
            family = [process, *process.children(recursive=True)]
            pss = sum(p.memory_full_info().pss for p in family)
            handles = sum(p.num_fds() for p in family)
        except psutil.Error:
            return None
        run = resolve(self.name, self.runs_dir)[0]
        sizes = [size for size in map(_size, run.path.rglob("*")) if size is not None]
        return Sample(
            minutes=minutes,
            pss_mb=pss / 1e6,
            handles=handles,
            processes=len(family),
            disk_mb=sum(sizes) / 1e6,
            files=len(sizes),
            env_steps=run.info["clocks"].get("env_steps", 0),
        )

    def report(self) -> dict[str, Any]:
        third = max(len(self.samples) // 3, 1)
        middle, last = self.samples[third : 2 * third], self.samples[-third:]
        columns = ("pss_mb", "handles", "processes", "disk_mb", "files")
        return {
            "actions": dict(self.actions),
            "attempts": self.info()["attempts"],
            "env_steps": self.samples[-1].env_steps,
            "samples": len(self.samples),
            "children_that_outlived_a_kill": self.survivors,
            "problems": self.problems,
            "exact_claims": self.exact_claims(),
            **{name: _thirds(name, middle, last, self.samples) for name in columns},
        }

    def exact_claims(self) -> dict[str, int]:
        """Returns the number of resumes that claimed to be bit-exact, and of those without that claim."""
        events = resolve(self.name, self.runs_dir)[0].events()
        claims = Counter(str(e["bit_exact"]).lower() for e in events if "bit_exact" in e)
        return dict(claims)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, help="where the report is stored as JSON")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        report = soak(Path(folder), options.minutes, options.seed)
    command = f"python -m tests.e2e.soak {' '.join(sys.argv[1:])}"
    text = json.dumps({"command": command, "revision": revision()} | report, indent=1)
    print(text)
    if options.out:
        options.out.write_text(text + "\n")


def soak(runs_dir: Path, minutes: float, seed: int) -> dict[str, Any]:
    chance = random.Random(seed)
    trainings = [Training.start(name, runs_dir) for name in TRAININGS]
    began = time.monotonic()
    next_act = began + chance.uniform(*ACT_SECONDS)
    try:
        while (elapsed := time.monotonic() - began) < minutes * 60:
            for training in trainings:
                sample = training.sample(elapsed / 60)
                if sample is not None:
                    training.samples.append(sample)
            if time.monotonic() >= next_act:
                chance.choice(trainings).take_action(chance)
                next_act = time.monotonic() + chance.uniform(*ACT_SECONDS)
            time.sleep(SAMPLE_SECONDS)
            if sys.stderr.isatty():
                print(f"\r{elapsed / 60:.1f} of {minutes:.0f} minutes", end="", file=sys.stderr)
    finally:
        for training in trainings:
            training.child.send_signal(signal.SIGINT)
        for training in trainings:
            training.child.communicate(timeout=PATIENCE)
    return {"minutes": minutes, **{training.name: training.report() for training in trainings}}


def launch(runs_dir: Path, *arguments: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "gymnast", *arguments, "--runs", str(runs_dir)]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def _thirds(
    name: str, middle: Sequence[Sample], last: Sequence[Sample], every: Sequence[Sample]
) -> dict[str, float]:
    values = [[getattr(sample, name) for sample in part] for part in (middle, last, every)]
    return {
        "middle_third_median": round(statistics.median(values[0]), 1),
        "last_third_median": round(statistics.median(values[1]), 1),
        "highest": round(max(values[2]), 1),
    }


def _size(path: Path) -> int | None:
    try:
        return path.stat().st_size if path.is_file() else None
    except OSError:  # replaced meanwhile
        return None


if __name__ == "__main__":
    main()
