"""Finds injected bad actions again: the share among the five worst marks of the search for blunders.

python -m benchmarks.blunders --runs /tmp/blunders --out benchmarks/results/blunders.json   # 30 min

A policy per environment is trained to its preset's score, if `--runs` has none. It then plays episodes in
which bad actions are forced at random steps, and the search gets only the stored episode. What counts as bad
is decided without the inspector: on FrozenLake by exact values (dynamic programming with the time limit of
the environment), elsewhere by playing the episode again with and without the action. One action hardly
matters there, so an action is forced from a random step on until one is decisive: counted are the actions
that lose a large share of the return by themselves, although the policy continues right after them.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.code_revision import measurement_info
from benchmarks.injected_actions import (
    FrozenLakeValues,
    Injected,
    Player,
    cells_of,
    inject_burst,
    inject_by_values,
)
from gymnast.evaluation.rescore import load_policy
from gymnast.inspector.address import EpisodeAddress
from gymnast.inspector.attribution import attribution
from gymnast.inspector.blunders import find_blunders
from gymnast.inspector.branch import branch
from gymnast.inspector.episode import OpenEpisode
from gymnast.inspector.what_if import what_if
from gymnast.runs import checkpoint
from gymnast.runs.run import Run
from gymnast.runs.trace import write_traces
from gymnast.training.python_api import train

TOP = 5
ENVS: dict[str, float] = {"FrozenLake-v1": 0.15, "CartPole-v1": 100.0, "LunarLander-v3": 100.0}
"""Environment -> the loss of return from which on a forced action counts as bad."""


def measure(env: str, run: Run, episodes: int, seed: int) -> dict[str, Any]:
    """Returns how many injected actions are among the worst marks, and the times."""
    saved = checkpoint.find(run.path, "best")
    player = Player(run.config(), load_policy(saved), saved.step)
    rng = np.random.default_rng(seed)
    injected: list[Injected] = []
    while len(injected) < episodes:
        made = (
            inject_by_values(player, rng, ENVS[env])
            if env == "FrozenLake-v1"
            else inject_burst(player, rng, ENVS[env])
        )
        if made is not None and made.bad:
            injected.append(made)
    clean = [player.play(int(rng.integers(2**31)), {}) for _ in range(max(2, episodes // 5))]
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / run.path.name
        shutil.copytree(run.path, copy)
        file = copy / "traces" / f"confirm-{saved.step:012d}.safetensors"
        traces = [*(i.trace for i in injected), *clean]
        write_traces(file, traces, {"kind": "confirm", "version": saved.step})
        found = [search(copy, saved.step, i) for i in range(len(traces))]
    ranks = [rank(found[i]["steps"], step) for i, made in enumerate(injected) for step in made.bad]
    losses = [loss for made in injected for loss in made.bad.values()]
    result = {
        "run score": run.info["score"],
        "episodes": episodes,
        "least loss of an injected action": ENVS[env],
        "median loss of the injected actions": float(np.median(losses)),
        "injected": len(ranks),
        f"among the top {TOP}": sum(r is not None and r < TOP for r in ranks),
        "first": sum(r == 0 for r in ranks),
        "share": sum(r is not None and r < TOP for r in ranks) / len(ranks),
        "marks in episodes without injected actions": [
            len(f["steps"]) for f in found[len(injected) :]
        ],
        "search seconds": _summary([f["search"] for f in found]),
        "search env steps": _summary([f["env_steps"] for f in found]),
        "branch seconds": _summary([s for f in found for s in f["branch"]]),
        "what-if seconds": _summary([s for f in found for s in f["what_if"]]),
        "attribution seconds": _summary([s for f in found for s in f["attribution"]]),
    }
    if env == "FrozenLake-v1":
        result["error of lost return, against exact values of the policy"] = _exact_errors(
            player, injected, found
        )
    return result


def search(run: Path, version: int, number: int) -> dict[str, Any]:
    """Searches a stored episode, and times this and single questions about it."""
    with closing(OpenEpisode(EpisodeAddress(str(run), "confirm", version, number))) as episode:
        _ = episode.table  # the page has asked for it before
        report = find_blunders(episode)
        middle = len(episode.trace) // 2
        other = next(a for a in (0, 1) if a != int(episode.trace.action[middle]))
        times: dict[str, list[float]] = {"branch": [], "what_if": [], "attribution": []}
        for step in (0, middle):
            times["branch"].append(_timed(lambda at=step: branch(episode, step=at, action=other)))
            times["what_if"].append(_timed(lambda at=step: what_if(episode, step=at)))
            times["attribution"].append(_timed(lambda at=step: attribution(episode, step=at)))
    steps = [mark.step for mark in report.marks]
    print(f"{number}: {report.seconds:.1f} s, {steps[:TOP]}", file=sys.stderr)
    lost = {mark.step: mark.lost_raw for mark in report.marks}
    return (
        {"steps": steps, "lost": lost, "search": report.seconds}
        | times
        | {"env_steps": report.env_steps}
    )


def rank(steps: list[int], step: int) -> int | None:
    return steps.index(step) if step in steps else None


def _exact_errors(
    player: Player, injected: list[Injected], found: list[dict[str, Any]]
) -> dict[str, float]:
    """Compares the lost return of each mark with the exact one, if the policy follows."""
    exact = FrozenLakeValues(player).policy_q
    errors: list[float] = []
    for made, result in zip(injected, found, strict=False):
        cells = cells_of(made.trace)
        for step, lost in result["lost"].items():
            q = exact[99 - step][cells[step]]
            errors.append(abs(lost - float(q.max() - q[int(made.trace.action[step])])))
    return _summary(errors)


def _timed(call: Any) -> float:
    started = time.perf_counter()
    call()
    return time.perf_counter() - started


def _summary(values: list[float]) -> dict[str, float]:
    return {"median": float(np.median(values)), "max": float(np.max(values))}


def trained(env: str, runs_dir: Path) -> Run:
    """Returns the run of an environment; trains it if there is none."""
    for path in sorted(runs_dir.glob("*/run.json")):
        run = Run(path.parent)
        if run.info["env"] == env and run.info["status"] == "finished":
            return run
    print(f"train {env}", file=sys.stderr)
    return train(env, runs_dir=runs_dir, quiet=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=Path, required=True, help="folder of the runs, kept")
    parser.add_argument(
        "--episodes", type=int, default=20, help="episodes per environment and seed"
    )
    parser.add_argument("--seeds", type=int, default=2, help="number of seeds of the injections")
    parser.add_argument(
        "--first-seed",
        type=int,
        default=100,
        help="seeds below 100 were used for choosing the search",
    )
    parser.add_argument("--envs", nargs="+", default=list(ENVS), choices=list(ENVS))
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    result: dict[str, Any] = {}
    for env in options.envs:
        run = trained(env, options.runs)
        result[env] = []
        for seed in range(options.first_seed, options.first_seed + options.seeds):
            result[env].append({"seed": seed} | measure(env, run, options.episodes, seed))
            print(json.dumps({env: result[env][-1]}, indent=1))
            if options.out is not None:
                info = measurement_info("blunders")
                options.out.write_text(json.dumps(info | result, indent=1) + "\n")


if __name__ == "__main__":
    main()
