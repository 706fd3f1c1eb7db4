"""Stable-Baselines3 on its fastest backend in one process."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.env_util import make_atari_env, make_vec_env
from stable_baselines3.common.vec_env import VecEnv, VecFrameStack

from benchmarks.peers.arguments import parse_arguments
from benchmarks.tasks import SEED, Task
from benchmarks.timing import measure_time, print_sample


def main() -> None:
    time_learning("stable-baselines3", make_envs, make_model)


def time_learning(
    library: str, make_envs: Callable[[Task], VecEnv], make_model: Callable[[Task, VecEnv], Any]
) -> None:
    """Prints a sample of an algorithm with SB3's interface."""
    task, env_steps, threads = parse_arguments()
    torch.set_num_threads(threads)
    make_model(task.warm_up, make_envs(task)).learn(task.warm_up.env_steps)
    with measure_time() as spent:
        model = make_model(task, make_envs(task))
        model.learn(env_steps)
    print_sample(
        library,
        model.num_timesteps,
        spent,
        updates=model._n_updates * task.updates_per_rollout // task.epochs,  # it counts epochs
        episode_return=mean_return(model),
    )


def make_envs(task: Task) -> VecEnv:
    if task.pixels:
        import ale_py

        gym.register_envs(ale_py)
        single = make_atari_env(f"{task.env}NoFrameskip-v4", n_envs=task.n_envs, seed=SEED)
        return VecFrameStack(single, n_stack=4)
    # Without a render mode: make_vec_env's own choice, rgb_array, slows LunarLander down.
    return make_vec_env(task.env, n_envs=task.n_envs, seed=SEED, env_kwargs={"render_mode": None})


def make_model(task: Task, envs: VecEnv, seed: int = SEED) -> PPO:
    return PPO(policy_name(task), envs, device="cpu", seed=seed, **settings(task))


def settings(task: Task) -> dict[str, Any]:
    """Returns the settings under the names of SB3, which SBX uses as well."""

    def to_zero(value: float) -> Any:
        return (lambda remaining: remaining * value) if task.anneal else value

    layers = list(task.hidden)
    mlp = {"net_arch": {"pi": layers, "vf": layers}, "activation_fn": torch.nn.Tanh}
    return {
        "n_steps": task.n_steps,
        "batch_size": task.batch_size,
        "n_epochs": task.epochs,
        "learning_rate": to_zero(task.lr),
        "clip_range": to_zero(task.clip),
        "gamma": task.gamma,
        "gae_lambda": task.gae_lambda,
        "ent_coef": task.entropy_coef,
        "policy_kwargs": {} if task.pixels else mlp,
    }


def policy_name(task: Task) -> str:
    return "CnnPolicy" if task.pixels else "MlpPolicy"


def mean_return(model: Any) -> float | None:
    """Returns the mean return of the last 100 training episodes; None before the first has ended."""
    returns = [episode["r"] for episode in model.ep_info_buffer or ()]
    return float(np.mean(returns)) if returns else None


if __name__ == "__main__":
    main()
