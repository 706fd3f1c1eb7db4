"""One sample of gymnast through its public API, with metrics, log, traces and checkpoints enabled.

python -m benchmarks.ours TASK ENV_STEPS THREADS RUNS_DIR [KEY=VALUE...]
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import gymnast
from benchmarks.tasks import SEED, Task, task_of
from benchmarks.timing import measure_time, print_sample


def overrides(task: Task, env_steps: int, threads: int = 1) -> dict[str, Any]:
    """Returns the task as gymnast settings. Evaluation is off; the final policy is evaluated for one step."""

    def to_zero(value: float) -> str:
        return f"{value} -> 0" if task.anneal else str(value)

    # Backpropagation through whole rollouts, as in RecurrentPPO.
    memory = {"memory": f"lstm:{task.memory}", "bptt": task.n_steps} if task.memory else {}
    hide = {"hide": list(task.hide)} if task.hide else {}
    return {
        "threads": threads,
        "env": {"n_envs": task.n_envs, "backend": task.backend} | hide,
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
        "policy": {
            "hidden": list(task.hidden),
            "activation": "tanh",
            "shared": "off",
        }
        | memory,
        "normalize": {"obs": "off", "reward": "off"},
        "eval": {
            "every": "off",
            "mode": "inline",
            "confirm_episodes": 1,
            "n_envs": 1,
            "max_episode_steps": 1,
        },
        "stop": {"env_steps": env_steps, "solved": "off"},
        "checkpoint": {"every": f"{task.checkpoint_every} env_steps"},
        "traces": {"train": "1%"},  # the default except in presets with pixels
    }


def train(task: Task, settings: dict[str, Any], runs_dir: str) -> Path:
    """Trains until the budget is used up; returns the run directory."""
    run = gymnast.train(task.preset, seed=SEED, overrides=settings, runs_dir=runs_dir)
    return run.path


def main() -> None:
    letter, env_steps, threads, runs_dir, *more = sys.argv[1:]
    task, extra = task_of(letter), dict(word.split("=") for word in more)

    def settings(of: Task, steps: int) -> dict[str, Any]:
        return overrides(of, steps, int(threads)) | extra

    # A short training first: imports and the first update are one-time costs, reported elsewhere.
    train(task, settings(task.warm_up, task.warm_up.env_steps), runs_dir)
    with measure_time() as spent:
        path = train(task, settings(task, int(env_steps)), runs_dir)
    source = str(Path(gymnast.__file__).parent)
    print_sample("gymnast", int(env_steps), spent, run=str(path), source=source)


if __name__ == "__main__":
    main()
