"""One sample of Stable-Baselines3 on its fastest backend in one process.

benchmarks/.venv/bin/python -m benchmarks.peers.sb3 TASK ENV_STEPS
benchmarks/.venv/bin/python -m benchmarks.peers.sb3 first-step
"""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.env_util import make_vec_env

from benchmarks.child import cpu_seconds, tell
from benchmarks.tasks import HIDDEN, SEED, TASKS, Task


def learn(task: Task, env: Any, env_steps: int) -> PPO:
    def to_zero(value: float) -> Any:
        return (lambda remaining: remaining * value) if task.decays else value

    # without a render mode: make_vec_env's own choice, rgb_array, slows LunarLander down
    envs = make_vec_env(env, n_envs=task.n_envs, seed=SEED, env_kwargs={"render_mode": None})
    layers = list(HIDDEN)
    return PPO(
        "MlpPolicy",
        envs,
        n_steps=task.n_steps,
        batch_size=task.batch_size,
        n_epochs=task.epochs,
        learning_rate=to_zero(task.lr),
        clip_range=to_zero(task.clip),
        gamma=task.gamma,
        gae_lambda=task.gae_lambda,
        ent_coef=task.entropy_coef,
        policy_kwargs={
            "net_arch": {"pi": layers, "vf": layers},
            "activation_fn": torch.nn.Tanh,
        },
        seed=SEED,
        device="cpu",
    ).learn(env_steps)


def main() -> None:
    torch.set_num_threads(1)
    if sys.argv[1:] == ["first-step"]:
        from benchmarks.first_step import FirstStep

        learn(TASKS["a"], FirstStep, TASKS["a"].env_steps)
    task, env_steps = TASKS[sys.argv[1]], int(sys.argv[2])
    before = cpu_seconds()
    model = learn(task, task.env, env_steps)
    learning = cpu_seconds() - before
    updates = model._n_updates * math.ceil(task.rollout / task.batch_size)  # it counts epochs
    returns = [episode["r"] for episode in model.ep_info_buffer or ()]
    tell(
        "stable-baselines3",
        model.num_timesteps,
        learning,
        updates=updates,
        episode_return=float(np.mean(returns)),
    )


if __name__ == "__main__":
    main()
