"""Peak memory of training: PSS of its process tree, sampled while it runs.

python -m benchmarks.memory                     # about four minutes; writes JSON and the page
"""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

import psutil

from benchmarks import measurement, sample
from benchmarks.code_revision import ROOT
from benchmarks.libraries import PEERS
from benchmarks.tables import table
from benchmarks.tasks import TASKS

TASK, PIXELS = TASKS["a"], TASKS["d"]
ROLLOUTS = 4
"""Budget for pixels; the peak is reached in the first update."""
REPETITIONS = 3
EVERY = 0.05
"""Seconds between two samples."""
LABELS = {
    "ours": "gymnast, task a",
    "torch": "gymnast, task a, `engine: torch`",
    "command": "`gymnast train CartPole-v1`, its evaluation process included",
    "sb3": "SB3, task a",
    "ours, pixels": "gymnast, task d: Pong in pixels",
    "sb3, pixels": "SB3, task d",
}


def main() -> None:
    options = measurement.parse_options(__doc__, REPETITIONS)
    entry = measurement.new_entry("memory") | {"samples": {}, "rollout": pixel_rollout_size()}
    print(f"observations of a rollout of task d: {entry['rollout']}", flush=True)
    for _ in range(options.repetitions):
        with tempfile.TemporaryDirectory() as folder:
            for who, command in _commands(folder):
                peak = _peak(command, folder)
                entry["samples"].setdefault(who, []).append(peak)
                print(f"{who}: {peak:.0f} MB", flush=True)
    measurement.save_entry("memory", entry, options.quick)


def _commands(folder: str) -> Iterator[tuple[str, list[str]]]:
    words = ["-m", "benchmarks.ours", "a", str(TASK.scaled_budget(2)), "1", folder]
    yield "ours", [sample.OURS, *words]
    yield "torch", [sample.OURS, *words, "engine=torch"]
    yield "command", [sample.OURS, "-m", "gymnast", "train", TASK.env, "--seed", "1"]
    pixels = ["d", str(ROLLOUTS * PIXELS.rollout), "1"]
    yield "ours, pixels", [sample.OURS, "-m", "benchmarks.ours", *pixels, folder]
    if PEERS["sb3"].why_missing() is None:
        sb3 = [str(PEERS["sb3"].python), "-m", "benchmarks.peers.sb3"]
        yield "sb3", [*sb3, "a", str(TASK.scaled_budget(1)), "1"]
        yield "sb3, pixels", [*sb3, *pixels]


def pixel_rollout_size() -> dict[str, float]:
    """Returns the MB of the observations of one rollout of task d: with every frame stored once, as
    gymnast does, and with complete frame stacks."""
    import numpy as np

    from benchmarks.ours import overrides
    from gymnast.clock import Clock
    from gymnast.training.learner import Learner
    from gymnast.training.lifecycle.prepare import prepare

    prepared = prepare(PIXELS.preset, overrides(PIXELS, PIXELS.rollout))
    cfg, collector = prepared.resolved.config, prepared.collector
    policies = {
        role: Learner(role, *role_spaces, cfg).policy
        for role, role_spaces in collector.spaces.items()
    }
    collector.start_episodes()
    clock = Clock(limits=cfg.stop.limits())
    collected = collector.collect(policies, cfg.initial_hyperparameters().rollout_length(), clock)
    collector.close()
    (rollout,) = collected.rollouts.values()
    return {"once": rollout.obs.nbytes / 1e6, "whole": np.asarray(rollout.obs).nbytes / 1e6}


def _peak(command: list[str], folder: str) -> float:
    """Returns the peak memory of a command in MB."""
    environ = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
    environ["GYMNAST_RUNS"] = f"{folder}/runs"
    quiet: Any = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    child = subprocess.Popen(command, cwd=folder, env=environ, **quiet)
    process, peak = psutil.Process(child.pid), 0
    # PSS, because RSS would count pages that parent and children share once for each of them.
    while child.poll() is None:
        peak = max(peak, sum(map(pss, [process.pid, *_children(process)])))
        time.sleep(EVERY)  # a shorter peak than this may be missed
    if child.returncode:
        raise RuntimeError(f"{' '.join(command)} failed")
    return peak / 1e6


def _children(process: psutil.Process) -> list[int]:
    try:
        return [child.pid for child in process.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


def pss(pid: int) -> int:
    """Returns the proportional set size in bytes: private pages, and its share of shared pages."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:  # it has ended
        return 0
    return sum(1024 * int(line.split()[1]) for line in lines if line.startswith("Pss:"))


def section(found: dict[str, Any]) -> str:
    samples = found["samples"]

    def relative_to_sb3(who: str) -> str:
        sb3 = "sb3, pixels" if who.endswith("pixels") else "sb3"
        if who == sb3 or sb3 not in samples:
            return ""
        return f"{median(samples[who]) / median(samples[sb3]):.2f}"

    rows = [
        [label, f"{median(samples[who]):.0f}", relative_to_sb3(who)]
        for who, label in LABELS.items()
        if who in samples
    ]
    head = ("", "peak PSS of the process tree, MB", "relative to SB3")
    text = f"{table(head, rows)}\n\n"
    if "rollout" in found:
        once, whole = (found["rollout"][how] for how in ("once", "whole"))
        text += (
            f"The observations of one rollout of task d ({PIXELS.n_envs} copies, {PIXELS.n_steps} steps) "
            f"take {once:.1f} MB, since each frame is stored once. As stacks of four they would take "
            f"{whole:.1f} MB.\n\n"
        )
    return text + measurement.info_text(found)


if __name__ == "__main__":
    main()
