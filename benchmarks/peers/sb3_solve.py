"""Trains with SB3 and rl-zoo's hyperparameters until solved: sb3_solve TASK THRESHOLD EVERY SEED

Tasks a and c have rl-zoo's settings for CartPole and LunarLander. Every EVERY env steps 20 episodes
are played in 8 copies, deterministically; at a mean of THRESHOLD training stops and 100 further
episodes on other seeds are played, as gymnast confirms. The parent times the process to its exit.
"""

from __future__ import annotations

import json
import sys

import numpy as np
import torch
from stable_baselines3.common.callbacks import EvalCallback, StopTrainingOnRewardThreshold
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.evaluation import evaluate_policy

from benchmarks.peers.sb3 import make_model
from benchmarks.tasks import TASKS

BUDGET = {"a": 100_000, "c": 1_000_000}


def main() -> None:
    letter, threshold, every, seed = sys.argv[1], *map(float, sys.argv[2:])
    torch.set_num_threads(1)
    task = TASKS[letter]

    def copies(n: int, first: int):
        return make_vec_env(task.env, n_envs=n, seed=first, env_kwargs={"render_mode": None})

    evaluation = EvalCallback(
        copies(8, 10_000),
        callback_on_new_best=StopTrainingOnRewardThreshold(threshold),
        n_eval_episodes=20,
        eval_freq=max(1, int(every) // task.n_envs),  # in vector steps
        verbose=0,
    )
    model = make_model(task, copies(task.n_envs, int(seed) * 1000), int(seed))
    model.learn(BUDGET[letter], callback=evaluation)
    solved = bool(evaluation.best_mean_reward >= threshold)
    returns, _ = evaluate_policy(model, copies(8, 20_000), 100, return_episode_rewards=True)
    result = {"env_steps": model.num_timesteps, "stopped": solved, "score": float(np.mean(returns))}
    print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main()
