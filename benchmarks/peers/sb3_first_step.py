"""A Stable-Baselines3 script that runs until its first environment step."""

from __future__ import annotations

import torch
from stable_baselines3.common.env_util import make_vec_env

from benchmarks.first_step import FirstStep
from benchmarks.peers.sb3 import make_model
from benchmarks.tasks import TASKS

if __name__ == "__main__":
    torch.set_num_threads(1)
    task = TASKS["a"]
    make_model(task, make_vec_env(FirstStep, n_envs=task.n_envs)).learn(task.env_steps)
