"""docs/studies/overlap.json: what one update of lag costs in learning, and what it saves in time.

The same seeds with `overlap` off and on, compared as in engines.py: areas under the curves of
evaluations at the same env steps, paired by seed, all choices of signs.

    python docs/studies/overlap.py RUNS_DIR
"""

from __future__ import annotations

import itertools
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
from engines import COMMON, SEEDS, curve, detectable, sign_flips

from gymnast.runs.run import Run
from gymnast.training.notebook import train

FILE = Path(__file__).with_suffix(".json")
WAYS = ("off", "on")
TASKS: dict[str, dict[str, Any]] = {
    "CartPole-v1": {"stop.env_steps": 20_480, "eval.every": "2048 env_steps"},
    "Pendulum-v1": {"stop.env_steps": 40_960, "eval.every": "4096 env_steps"},
    "LunarLander-v3": {"stop.env_steps": 81_920, "eval.every": "8192 env_steps"},
}
TO_THE_END = {"eval.start_at": "off", "eval.warmup": "off", "stop.eval_return": "off"}


def studied(task: str, runs_dir: Path) -> dict[str, Any]:
    settings = COMMON | TO_THE_END | TASKS[task]
    runs: dict[str, list[Run]] = {way: [] for way in WAYS}
    for seed, way in itertools.product(SEEDS, WAYS):
        given = settings | {"overlap": way}
        runs[way].append(train(task, seed=seed, overrides=given, runs_dir=runs_dir, quiet=True))
    found = {way: [curve(run) for run in every] for way, every in runs.items()}
    env_steps = sorted(found["off"][0])
    curves = {w: [[one[at] for at in env_steps] for one in every] for w, every in found.items()}
    area = {way: np.array(of).mean(1) for way, of in curves.items()}
    differences = area["on"] - area["off"]
    return {
        "task": f"{task}:ppo",
        "command": f"gymnast train {task} --seed SEED "
        + " ".join(f"--set {k}={json.dumps(v)}" for k, v in settings.items())
        + " --set overlap=WAY",
        "revision": runs["on"][0].info["revision"],
        "seeds": list(SEEDS),
        "test": "paired sign flips of the area under the curve, all 1024, two-sided",
        "mean_area_off": float(area["off"].mean()),
        "mean_area_on": float(area["on"].mean()),
        "difference": float(differences.mean()),
        "p": sign_flips(differences),
        "detectable": detectable(differences),
        "mean_last_off": float(np.array(curves["off"])[:, -1].mean()),
        "mean_last_on": float(np.array(curves["on"])[:, -1].mean()),
        "env_steps": env_steps,
        "returns": curves,
    }


if __name__ == "__main__":
    entries = [studied(task, Path(sys.argv[1])) for task in TASKS]
    FILE.write_text(json.dumps(entries, indent=1) + "\n")
    for entry in entries:
        print({k: v for k, v in entry.items() if isinstance(v, float | str)})
