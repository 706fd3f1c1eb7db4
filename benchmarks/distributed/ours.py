"""Trains gymnast on a task of `benchmarks.distributed` until it is ended.

python -m benchmarks.distributed.ours TASK RUNS_DIR KEYWORDS [KEY=VALUE...]

KEYWORDS: arguments of the environment, as JSON; KEY=VALUE: settings in addition to those of the task.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import gymnast
from benchmarks.distributed.tasks import (
    CLIP,
    ENTROPY_COEF,
    GAE_LAMBDA,
    GAMMA,
    HIDDEN,
    TASKS,
    DistributedTask,
)
from benchmarks.tasks import SEED


def settings(task: DistributedTask) -> dict[str, Any]:
    """Returns the task as settings: no evaluations, and a budget that is never reached."""
    mlp = {"policy": {"hidden": list(HIDDEN), "activation": "tanh", "shared": "off"}}
    return {
        "env": {"n_envs": task.n_envs, "kwargs": task.kwargs, "backend": "auto"},
        "algo": {
            "n_steps": task.n_steps,
            "batch_size": task.batch_size,
            "epochs": task.epochs,
            "lr": str(task.lr),
            "clip": str(CLIP),
            "gamma": GAMMA,
            "gae_lambda": GAE_LAMBDA,
            "entropy_coef": ENTROPY_COEF,
            "value_coef": 1.0,
        },
        **({} if task.pixels else mlp),  # the preset of Pong has a convolutional network
        "normalize": {"obs": "off", "reward": "off"},
        "eval": {"every": "off", "mode": "inline", "confirm_episodes": 1, "n_envs": 1},
        "stop": {"env_steps": 10**12, "solved": "off"},
        "checkpoint": {"every": "1M env_steps"},
        "traces": {"train": "0%"},
    }


def main() -> None:
    name, runs_dir, kwargs, *more = sys.argv[1:]
    task = TASKS[name].with_kwargs(**json.loads(kwargs))
    target = f"py:{task.env}" if ":" in task.env else task.env
    if task.pixels:
        target = f"{task.env}:pixels-deterministic"
    extra = dict(word.split("=", 1) for word in more)
    gymnast.train(
        target,
        algo="ppo",
        seed=SEED,
        overrides=settings(task) | extra,
        runs_dir=runs_dir,
        quiet=True,
    )


if __name__ == "__main__":
    main()
