"""RecurrentPPO of sb3-contrib, on the same backend as SB3."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
from sb3_contrib import RecurrentPPO
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.vec_env import VecEnv

from benchmarks.peers import sb3
from benchmarks.tasks import SEED, Task


def main() -> None:
    sb3.time_learning("sb3-contrib", make_envs, make_model)


def make_envs(task: Task) -> VecEnv:
    def make() -> gym.Env[Any, Any]:
        env = gym.make(task.env)
        shown = [i for i in range(env.observation_space.shape[0]) if i not in task.hide]  # pyright: ignore
        full: Any = env.observation_space
        seen = gym.spaces.Box(full.low[shown], full.high[shown], dtype=np.float32)
        return gym.wrappers.TransformObservation(env, lambda obs: obs[shown], seen)

    return make_vec_env(make, n_envs=task.n_envs, seed=SEED)


def make_model(task: Task, envs: VecEnv) -> RecurrentPPO:
    settings = sb3.settings(task)
    settings["policy_kwargs"] |= {"lstm_hidden_size": task.memory, "enable_critic_lstm": True}
    return RecurrentPPO("MlpLstmPolicy", envs, device="cpu", seed=SEED, **settings)


if __name__ == "__main__":
    main()
