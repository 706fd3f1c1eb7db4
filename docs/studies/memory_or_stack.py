"""Makes docs/studies/memory-or-stack.json: tasks that hide something, learned from the current observation,
from stacked observations and with memory.

    python docs/studies/memory_or_stack.py RUNS_DIR

The presets with memory were tuned on seeds below 10. The seeds here are fresh.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path

from gymnast import api
from gymnast.jobs.groups import GroupResult

FILE = Path(__file__).with_name("memory-or-stack.json")
FIRST_SEED = 100
NO_FILMS = "traces.film=off"
CARTPOLE = ("env.hide=[1, 3]",)
PENDULUM = ("env.hide=[2]", "stop.env_steps=200k")
WAYS: tuple[tuple[str, str, str, tuple[str, ...], int], ...] = (
    ("CartPole", "current", "CartPole-v1:ppo", CARTPOLE, 10),
    ("CartPole", "stacked", "CartPole-v1:ppo", (*CARTPOLE, "env.stack=2"), 10),
    ("CartPole", "memory", "CartPole-v1:memory", (), 10),
    ("Pendulum", "current", "Pendulum-v1:ppo", PENDULUM, 10),
    ("Pendulum", "stacked", "Pendulum-v1:ppo", (*PENDULUM, "env.stack=3"), 10),
    ("Pendulum", "memory", "Pendulum-v1:memory", (), 10),
    ("MiniGrid", "current", "MiniGrid-MemoryS9-v0", ("policy.memory=off",), 2),
)
"""Task, what the policy decides from, preset, settings, and number of seeds. MiniGrid with memory is in
fresh-seeds.json."""


def train(name: str, preset: str, settings: tuple[str, ...], seeds: int, runs: str) -> GroupResult:
    """Returns the scores of a preset with these settings on the fresh seeds."""
    overrides = [*settings, NO_FILMS]
    api.start(
        preset,
        overrides=overrides,
        seed=FIRST_SEED,
        seeds=seeds,
        name=name,
        max_jobs=1,
        runs_dir=runs,
    )
    api.wait([name], runs_dir=runs)
    return api.group(name, runs_dir=runs)


def main(runs: str) -> None:
    """Trains every way on its seeds and writes their scores, with the revision of the code."""
    entries: list[dict[str, object]] = []
    for task, way, preset, settings, seeds in WAYS:
        name = f"{task}-{way}".lower()
        result = train(name, preset, settings, seeds, runs)
        info = json.loads((Path(runs) / result.scores[0].id / "run.json").read_text())
        command = api.train_command(
            preset, overrides=[*settings, NO_FILMS], seed=FIRST_SEED, seeds=seeds, name=name
        )
        entry: dict[str, object] = {
            "task": task,
            "way": way,
            "command": command,
            "revision": info["revision"],
            "mean": result.mean,
            "low": result.low,
            "high": result.high,
            "scores": [asdict(score) for score in result.scores],
        }
        entries.append(entry)
        print(name, result.mean, result.low, result.high)
    FILE.write_text(json.dumps(entries, indent=1) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
