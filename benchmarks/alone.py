"""One sample of the environment alone: copies stepped in turn with random actions, no library.

python -m benchmarks.alone TASK
"""

from __future__ import annotations

import sys

import gymnasium as gym

from benchmarks.child import cpu_seconds, tell
from benchmarks.tasks import SEED, TASKS

ENOUGH = 3.0
"""CPU seconds of stepping."""
_DRAWN = 1000
"""Actions drawn beforehand and used in turn: drawing them is no part of the environment."""


def main() -> None:
    task = TASKS[sys.argv[1]]
    envs = [gym.make(task.env, disable_env_checker=True) for _ in range(task.n_envs)]
    for i, env in enumerate(envs):
        env.reset(seed=SEED + i)
    envs[0].action_space.seed(SEED)
    actions = [envs[0].action_space.sample() for _ in range(_DRAWN)]
    before, env_steps = cpu_seconds(), 0
    while cpu_seconds() - before < ENOUGH:
        for action in actions:
            for env in envs:
                _, _, terminated, truncated, _ = env.step(action)
                if terminated or truncated:
                    env.reset()
        env_steps += len(actions) * len(envs)
    tell("gymnasium", env_steps, cpu_seconds() - before)


if __name__ == "__main__":
    main()
