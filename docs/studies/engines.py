"""Makes docs/studies/engines.json: learning curves of the native and the torch engine, with the same seeds.

Both engines start with the same weights and the same episodes. Rounding then makes single runs diverge. If
one of the engines learned worse, its curves would be lower over many seeds.

The test was chosen before the runs. The area under a curve is the mean of its evaluations, which both
engines take at the same env steps. Under the null hypothesis that the engines do not differ, each seed's
difference of areas (native - torch) could as well have the other sign. p is the fraction of all 2^n choices
of signs whose mean is at least as far from 0 as the observed one. `detectable` is the difference that a test
of this size finds in 80 % of repetitions, given the standard deviation of the differences.

    PYTHONPATH=docs/studies python docs/studies/engines.py RUNS_DIR [TASK...]     # repeat only these tasks
"""

from __future__ import annotations

import itertools
import json
import math
import sys
from pathlib import Path
from typing import Any

import catch
import numpy as np

from gymnast.metrics.store import MetricStore
from gymnast.runs.run import Run
from gymnast.training.python_api import train

FILE = Path(__file__).with_suffix(".json")
SEEDS = range(10)
ENGINES = ("native", "torch")
TASKS: dict[str, dict[str, Any]] = {
    "CartPole-v1": {"stop.env_steps": 20_000, "eval.every": "2000 env_steps"},
    "Pendulum-v1": {"stop.env_steps": 60_000, "eval.every": "4096 env_steps"},
    catch.TASK: catch.SETTINGS,
}
COMMON = {
    "stop.solved": "off",
    "eval.mode": "inline",
    "eval.episodes": 20,
    "eval.confirm_episodes": 4,
}


def curve(run: Run) -> dict[int, float]:
    """Returns env steps of a version -> its mean return."""
    with MetricStore(run.path / "metrics.db") as store:
        scored = [row for row in store.rows() if "eval:episode/return" in row]
    return {int(row["eval:clock/env_steps"]): row["eval:episode/return"] for row in scored}


def sign_flips(differences: np.ndarray) -> float:
    """Returns the two-sided p of paired differences [n] over all choices of their signs."""
    signs = np.array(list(itertools.product((1, -1), repeat=len(differences))))
    means = np.abs((signs * differences).mean(1))
    return float((means >= abs(differences.mean()) * (1 - 1e-12)).mean())


def detectable(differences: np.ndarray) -> float:
    """Returns the difference that a test at the 5 % level finds with a power of 80 %."""
    assert len(differences) == 10
    # Student's t with 9 degrees of freedom: quantiles at 97.5 % and at 80 %.
    return float((2.262 + 0.883) * differences.std(ddof=1) / math.sqrt(10))


def compare_curves(curves: dict[str, list[list[float]]]) -> dict[str, float]:
    """Returns the test result for the first setting compared with the second, from their curves
    [seed][evaluation]."""
    first, second = curves
    area = {way: np.array(found).mean(1) for way, found in curves.items()}
    last = {way: np.array(found)[:, -1] for way, found in curves.items()}
    differences = area[first] - area[second]
    return {
        f"mean_area_{first}": float(area[first].mean()),
        f"mean_area_{second}": float(area[second].mean()),
        "difference": float(differences.mean()),
        "p": sign_flips(differences),
        "detectable": detectable(differences),
        f"mean_last_{first}": float(last[first].mean()),
        f"mean_last_{second}": float(last[second].mean()),
    }


def study(
    task: str, settings: dict[str, Any], key: str, ways: tuple[str, str], runs_dir: Path
) -> dict[str, Any]:
    """Trains a task with both values of a setting, for each seed, and compares the curves."""
    found: dict[str, list[dict[int, float]]] = {way: [] for way in ways}
    revision = ""
    for seed, way in itertools.product(SEEDS, ways):
        given = settings | {key: way}
        run = train(task, seed=seed, overrides=given, runs_dir=runs_dir, quiet=True)
        found[way].append(curve(run))
        revision = run.info["revision"]
    env_steps = sorted(found[ways[0]][0])
    assert all(sorted(one) == env_steps for every in found.values() for one in every)
    curves = {w: [[one[at] for at in env_steps] for one in every] for w, every in found.items()}
    return {
        "task": f"{task}:ppo",
        "command": f"gymnast train {task} --seed SEED "
        + " ".join(f"--set {k}={json.dumps(v)}" for k, v in settings.items())
        + f" --set {key}={key.upper()}",
        "revision": revision,
        "seeds": list(SEEDS),
        "test": "paired sign flips of the area under the curve, all 1024, two-sided",
        **compare_curves(curves),
        "env_steps": env_steps,
        "returns": curves,
    }


def store(file: Path, entries: list[dict[str, Any]]) -> None:
    """Writes the entries as JSON, and prints the numbers and texts of each."""
    file.write_text(json.dumps(entries, indent=1) + "\n")
    for entry in entries:
        print({k: v for k, v in entry.items() if isinstance(v, float | str)})


if __name__ == "__main__":
    place, *chosen = sys.argv[1:]
    known = {entry["task"]: entry for entry in json.loads(FILE.read_text())}
    for task in chosen or TASKS:
        entry = study(task, COMMON | TASKS[task], "engine", ENGINES, Path(place))
        known[entry["task"]] = entry
    store(FILE, [known[f"{task}:ppo"] for task in TASKS])
