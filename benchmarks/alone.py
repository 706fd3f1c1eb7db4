"""One sample of the environment alone: copies stepped with random actions, without an RL library.

python -m benchmarks.alone TASK
"""

from __future__ import annotations

import sys
from typing import Any

import gymnasium as gym
import numpy as np

from benchmarks.tasks import SEED, TASKS, Task
from benchmarks.timing import cpu_seconds, measure_time, print_sample

CPU_SECONDS = 2.0
"""CPU seconds per sample."""
_DRAWN = 1000
"""Number of actions drawn beforehand and reused in turn, since drawing is not part of the environment."""


def main() -> None:
    task = TASKS[sys.argv[1]]
    step_all = _vector(task) if task.backend == "vector" else _copies(task)
    # By CPU time, so that a busy machine takes the same number of steps.
    env_steps, until = 0, cpu_seconds() + CPU_SECONDS
    with measure_time() as spent:
        while cpu_seconds() < until:
            for _ in range(50):
                step_all()
            env_steps += 50 * task.n_envs
    print_sample("gymnasium", env_steps, spent)


def _copies(task: Task) -> Any:
    """Returns a function that steps unwrapped copies one by one, the fastest way without a vector env."""
    envs = [gym.make(task.env, disable_env_checker=True) for _ in range(task.n_envs)]
    for i, env in enumerate(envs):
        env.reset(seed=SEED + i)
    envs[0].action_space.seed(SEED)
    drawn = [envs[0].action_space.sample() for _ in range(_DRAWN)]
    actions = iter(drawn)

    def step_all() -> None:
        nonlocal actions
        for env in envs:
            action = next(actions, None)
            if action is None:
                actions = iter(drawn)
                action = next(actions)
            _, _, terminated, truncated, _ = env.step(action)
            if terminated or truncated:
                env.reset()

    return step_all


def _vector(task: Task) -> Any:
    """Returns a function that steps the environment's own vector implementation."""
    envs: Any
    if task.pixels:  # four frames a step, no sticky actions: what the peers call PongNoFrameskip-v4
        from ale_py.vector_env import AtariVectorEnv

        envs = AtariVectorEnv("pong", task.n_envs, repeat_action_probability=0.0)
    else:
        envs = gym.make_vec(task.env, task.n_envs, "vector_entry_point")
    envs.reset(seed=SEED)
    envs.action_space.seed(SEED)
    actions = [np.asarray(envs.action_space.sample()) for _ in range(50)]

    def step_all() -> None:
        envs.step(actions[0])
        actions.append(actions.pop(0))

    return step_all


if __name__ == "__main__":
    main()
