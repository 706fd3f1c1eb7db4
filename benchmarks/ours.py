"""One sample of gymnast, through its public call; metrics, log, traces and checkpoints are on.

python -m benchmarks.ours TASK ENV_STEPS RUNS_DIR
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

import gymnast
from benchmarks.child import cpu_seconds, tell
from benchmarks.tasks import HIDDEN, SEED, TASKS, Task


def overrides(task: Task, env_steps: int) -> dict[str, Any]:
    """The task in gymnast's config. Evaluation is off; one episode confirms the last version."""

    def to_zero(value: float) -> str:
        return f"{value} -> 0" if task.decays else str(value)

    return {
        "env": {"n_envs": task.n_envs},
        "algo": {
            "n_steps": task.n_steps,
            "batch_size": task.batch_size,
            "epochs": task.epochs,
            "lr": to_zero(task.lr),
            "clip": to_zero(task.clip),
            "gamma": task.gamma,
            "gae_lambda": task.gae_lambda,
            "entropy_coef": task.entropy_coef,
        },
        "policy": {"hidden": list(HIDDEN), "activation": "tanh", "shared": "off"},
        "normalize": {"obs": "off", "reward": "off"},
        "eval": {"every": "off", "mode": "inline", "confirm_episodes": 1},
        "stop": {"env_steps": env_steps, "solved": "off"},
        "checkpoint": {"every": f"{task.checkpoint_every} env_steps"},
    }


def main() -> None:
    task, env_steps, runs_dir = TASKS[sys.argv[1]], int(sys.argv[2]), sys.argv[3]
    # imports are not learning; the whole command has them
    importlib.import_module("gymnast.algos.ppo")
    from gymnast.training.notebook import train

    before = cpu_seconds()
    settings = overrides(task, env_steps)
    run = train(f"{task.env}:ppo", seed=SEED, overrides=settings, runs_dir=runs_dir)
    learning, source = cpu_seconds() - before, str(Path(gymnast.__file__).parent)
    tell("gymnast", env_steps, learning, run=str(run.path), source=source)


if __name__ == "__main__":
    main()
