"""Makes docs/studies/lander-ground.json from the runs that the commands in lander-ground.md train.

python -m docs.studies.measure_lander RUNS_DIR
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np

from benchmarks.code_revision import measurement_info
from gymnast import api
from gymnast.rl.statistics import mean_interval

FILE = Path(__file__).with_name("lander-ground.json")
INSPECTED = "hover-s0"
SEEDS = range(10, 15)
EPISODES = 100
GROUPS = ("base", "ground", "quiet")
REPEATED, REPEATED_SEEDS = ("base2", "quiet2"), range(15, 20)
LEGS = ("obs/left leg touches", "obs/right leg touches")


def sink_rates(runs: Path, step: int) -> list[dict[str, Any]]:
    """Returns the decision at a step of the inspected episode, for other vertical velocities."""
    rows: list[dict[str, Any]] = []
    for velocity in np.linspace(-0.3, 0.1, 41).round(3).tolist():
        changes = {"obs/y velocity": velocity}
        found = api.what_if(INSPECTED, number=0, step=step, changes=changes, runs_dir=runs).changed
        rows.append({"y velocity": velocity, "action": found.label, "p": found.probabilities})
    return rows


def touching(runs: Path, step: int, touch: float) -> dict[str, Any]:
    """Returns value and decision at a step of the inspected episode as it was, and with other legs."""
    changes: dict[str, float] = dict.fromkeys(LEGS, touch)
    found = api.what_if(INSPECTED, number=0, step=step, changes=changes, runs_dir=runs)
    return {
        name: {"value_raw": decision.value_raw, "p": decision.probabilities}
        for name, decision in (("original", found.original), ("changed", found.changed))
    }


def variations(runs: Path, steps: Sequence[int]) -> list[dict[str, Any]]:
    """Returns the outcome of the inspected episode, continued from each step with sampled actions."""
    played = api.inspect(INSPECTED, number=0, runs_dir=runs)
    index = {action.name: action.index for action in played.actions}
    rows: list[dict[str, Any]] = []
    for step in steps:
        action = index[str(played.table["action"][step])]
        found = api.branch(
            INSPECTED, number=0, step=step, action=action, sampled=True, runs_dir=runs
        )
        both = np.minimum(*(np.asarray(found.table[leg], float) for leg in LEGS)) > 0
        rows.append(
            {
                "step": step,
                "return": found.raw_return,
                "outcome": found.outcome,
                "first step with both legs": int(step + both.argmax()) if both.any() else None,
                "steps with both legs": int(both.sum()),
            }
        )
    return rows


def engines_off(runs: Path, start: int) -> dict[str, Any]:
    """Replays the inspected episode in Gymnasium up to a step, then does nothing until it ends."""
    played = api.inspect(INSPECTED, number=0, runs_dir=runs)
    index = {action.name: action.index for action in played.actions}
    env = gymnasium.make("LunarLander-v3")
    env.reset(seed=played.info.seed)
    total, step, ended, reward = 0.0, 0, False, 0.0
    while not ended:
        action = index[str(played.table["action"][step])] if step < start else index["nothing"]
        _, reward, terminated, truncated, _ = env.step(action)
        total, step, ended = total + float(reward), step + 1, terminated or truncated
    env.close()
    return {"from": start, "ended after": step, "last reward": reward, "return": total}


def at_rest(runs: Path, group: str) -> list[dict[str, Any]]:
    """Returns what each seed's last policy decides for a lander that rests in the middle of the pad."""
    motion = ("x", "y", "x velocity", "y velocity", "angle", "angular velocity")
    changes = {f"obs/{name}": 0.0 for name in motion} | dict.fromkeys(LEGS, 1.0)
    rows: list[dict[str, Any]] = []
    for seed in SEEDS:
        ref = f"{group}-s{seed}:latest"
        found = api.what_if(ref, number=0, step=0, changes=changes, runs_dir=runs).changed
        rows.append({"seed": seed, "value_learned": found.value, "p": found.probabilities})
    return rows


def scores(runs: Path, group: str, seeds: Sequence[int], sampled: bool) -> list[dict[str, Any]]:
    """Returns the mean return and the share of truncated episodes of each seed's last checkpoint."""
    refs = [f"{group}-s{seed}:latest" for seed in seeds]
    tasks = [api.eval(ref, episodes=EPISODES, sampled=sampled, runs_dir=runs) for ref in refs]
    rows: list[dict[str, Any]] = []
    for seed, task in zip(seeds, tasks, strict=True):
        score = task.result().score
        assert score is not None
        limit = float(np.mean(np.asarray(score.lengths) == 1000))
        rows.append({"seed": seed, "return": score.mean, "at the limit": limit})
    return rows


def compare(runs: Path, groups: Sequence[str], seeds: Sequence[int]) -> dict[str, Any]:
    """Returns the scores of groups, and each group's return minus that of the first one, paired by seed:
    mean and 95 % interval by Student's t."""
    measured = {
        f"{group}, {'sampled' if sampled else 'greedy'}": scores(runs, group, seeds, sampled)
        for group in groups
        for sampled in (False, True)
    }
    found: dict[str, list[float]] = {}
    for group in groups[1:]:
        for way in ("greedy", "sampled"):
            base, other = (
                np.array([row["return"] for row in measured[f"{name}, {way}"]])
                for name in (groups[0], group)
            )
            interval = mean_interval(other - base)
            found[f"{group}, {way}"] = [interval.mean, interval.low, interval.high]
    return {"seeds": measured, "minus base": found}


def measure(runs: Path) -> dict[str, Any]:
    """Returns everything that the study states as a number."""
    info = measurement_info("code_revision")
    return {
        **info,
        "command": "python -m docs.studies.measure_lander RUNS_DIR",
        "inspected": f"{INSPECTED}, evaluation episode 0 after 100,000 env steps",
        "decisions at step 300 by y velocity": sink_rates(runs, 300),
        "legs touch at step 900": touching(runs, 900, 1.0),
        "legs in the air at step 980": touching(runs, 980, 0.0),
        "continued with sampled actions": variations(runs, (100, 300, 600, 900)),
        "engines off": engines_off(runs, 900),
        "at rest on the pad": {group: at_rest(runs, group) for group in GROUPS},
        "other seeds": compare(runs, GROUPS, SEEDS),
        "repeated": compare(runs, REPEATED, REPEATED_SEEDS),
    }


if __name__ == "__main__":
    FILE.write_text(json.dumps(measure(Path(sys.argv[1])), indent=1) + "\n", encoding="utf-8")
