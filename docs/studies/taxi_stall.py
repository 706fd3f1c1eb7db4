"""Makes docs/studies/taxi-stall.json from runs of Taxi-v4 that are tagged with the letter of their settings
(see taxi-stall.md).

python docs/studies/taxi_stall.py RUNS_DIR
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import gymnasium as gym

from gymnast.config.serialize import to_plain
from gymnast.runs import store
from gymnast.runs.run import Run
from gymnast.runs.trace import read_traces

STANDS = ("red", "green", "yellow", "blue", "in the taxi")
FAILED = -100.0
"""Returns below this are failures: 200 steps without a delivery return -200, a delivery far more."""


def failed_errands(run: Run) -> tuple[dict[str, int], dict[str, int]]:
    """Returns the number of failed initial states of the last evaluation by errand, and how often each action
    was among the last 50 of a failed episode."""
    env = gym.make("Taxi-v4")
    last = sorted(run.traces.glob("eval-*"))[-1]
    failed: Counter[str] = Counter()
    actions: Counter[str] = Counter()
    labels = ("south", "north", "east", "west", "pick up", "drop off")
    for trace in read_traces(last):
        if trace.raw_return < FAILED:
            state, _ = env.reset(seed=trace.seed)
            _, _, passenger, destination = env.unwrapped.decode(state)  # type: ignore[attr-defined]
            failed[f"{STANDS[passenger]} to {STANDS[destination]}"] += 1
            actions.update(labels[a] for a in trace.action[-50:].tolist())
    return dict(failed), dict(actions)


def main(runs_dir: Path) -> None:
    """Writes taxi-stall.json: one entry per run of the directory, sorted by tag and seed."""
    entries: list[dict[str, Any]] = []
    for info in reversed(store.list_runs(runs_dir)):
        run = Run(Path(info.path))
        failed, actions = failed_errands(run)
        algo, env = (json_config(run)[section] for section in ("algo", "env"))
        entries.append(
            {
                "tag": info.tags[0],
                "seed": info.seed,
                "n_envs": env["n_envs"],
                "n_steps": algo["n_steps"],
                "batch_size": algo["batch_size"],
                "entropy_coef": algo["entropy_coef"],
                "advantage_norm": algo["advantage_norm"],
                "score": info.score and info.score.mean,
                "env_steps": run.info["clocks"]["env_steps"],
                "failed_starts_by_errand": failed,
                "last_50_actions_of_failed": actions,
                "revision": run.info["revision"],
            }
        )
    entries.sort(key=lambda entry: (entry["tag"], entry["seed"]))
    Path(__file__).with_name("taxi-stall.json").write_text(json.dumps(entries, indent=1) + "\n")


def json_config(run: Run) -> dict[str, Any]:
    return to_plain(run.config())


if __name__ == "__main__":
    main(Path(sys.argv[1]))
