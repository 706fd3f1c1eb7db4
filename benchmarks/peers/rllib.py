"""RLlib's PPO on its new API stack, with env runners as Ray actors.

python -m benchmarks.peers.rllib TASK HOSTS SECONDS PROGRESS_FILE [KEY=JSON...]

Trains for a number of seconds, without those of starting; appends a line with the seconds and the env steps
so far to PROGRESS_FILE after each iteration, and prints a sample as JSON. KEY=JSON: arguments of the
environment.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import gymnasium as gym
import ray
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.rl_module.default_model_config import DefaultModelConfig
from ray.tune import register_env

from benchmarks.distributed.tasks import (
    CLIP,
    ENTROPY_COEF,
    GAE_LAMBDA,
    GAMMA,
    HIDDEN,
    TASKS,
    DistributedTask,
)
from benchmarks.timing import TimeSpent, print_sample


def main() -> None:
    name, hosts, seconds, progress, *more = sys.argv[1:]
    kwargs = {key: json.loads(value) for key, _, value in (word.partition("=") for word in more)}
    task = TASKS[name].with_kwargs(**kwargs)
    register_env(name, lambda _: make_env(task))
    # the code of the environments, in the processes that Ray starts
    paths = {"env_vars": {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}}
    ray.init(address="local", num_cpus=int(hosts) + 1, include_dashboard=False, runtime_env=paths)
    algorithm = configure(task, name, int(hosts)).build_algo()
    steps, began, spent, iterations = 0, time.perf_counter(), TimeSpent(), 0
    with Path(progress).open("a") as file:
        while spent.wall < float(seconds):
            result = algorithm.train()
            iterations += 1
            steps = int(result["num_env_steps_sampled_lifetime"])
            spent.wall = time.perf_counter() - began
            file.write(f"{spent.wall} {steps}\n")
            file.flush()
    runners = result["env_runners"]
    episode_return = runners.get("episode_return_mean")
    algorithm.stop()
    ray.shutdown()
    print_sample("ray", steps, spent, iterations=iterations, episode_return=episode_return)


def make_env(task: DistributedTask) -> gym.Env[Any, Any]:
    if ":" not in task.env:
        return gym.make(task.env, **task.kwargs)
    module, _, cls = task.env.partition(":")
    return getattr(importlib.import_module(module), cls)(**task.kwargs)


def configure(task: DistributedTask, name: str, hosts: int) -> PPOConfig:
    """Returns the same settings as `benchmarks.distributed.ours`: the env copies of the task are divided
    among the env runners, and one learner is in the driver."""
    return (
        PPOConfig()
        .api_stack(enable_rl_module_and_learner=True, enable_env_runner_and_connector_v2=True)
        .environment(name)
        .env_runners(
            num_env_runners=hosts,
            num_envs_per_env_runner=task.n_envs // hosts,
            rollout_fragment_length=task.n_steps,
            num_cpus_per_env_runner=1,
            gym_env_vectorize_mode="sync",
        )
        .learners(num_learners=0)
        .training(
            train_batch_size_per_learner=task.rollout,
            minibatch_size=task.batch_size,
            num_epochs=task.epochs,
            lr=task.lr,
            gamma=GAMMA,
            lambda_=GAE_LAMBDA,
            clip_param=CLIP,
            entropy_coeff=ENTROPY_COEF,
            vf_loss_coeff=1.0,
            use_kl_loss=False,
            grad_clip=0.5,
        )
        .rl_module(
            model_config=DefaultModelConfig(
                fcnet_hiddens=list(HIDDEN), fcnet_activation="tanh", vf_share_layers=False
            )
        )
        .fault_tolerance(restart_failed_env_runners=True)
        .debugging(seed=1, log_level="ERROR")
    )


if __name__ == "__main__":
    main()
