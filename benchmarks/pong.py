"""Pong in 84 x 84 grey pixels, four frames deep: one copy for a score, ALE's own vector to train on.

ALE registers its vector with this preprocessing and its single environment without, so that they
show different things; here the single one is a vector of one. Importing this file registers it.
"""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
from ale_py.vector_env import AtariVectorEnv

ID = "benchmarks/Pong-v0"


def many(num_envs: int, **_: Any) -> AtariVectorEnv:
    """Four frames a step, no sticky actions: what the peers call PongNoFrameskip-v4."""
    return AtariVectorEnv("pong", num_envs, repeat_action_probability=0.0)


class One(gym.Env[np.ndarray, int]):
    def __init__(self, render_mode: str | None = None) -> None:
        self.render_mode, self._vector = render_mode, many(1)
        self.observation_space = self._vector.single_observation_space
        self.action_space = self._vector.single_action_space

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[np.ndarray, Any]:
        return self._vector.reset(seed=seed)[0][0], {}

    def step(self, action: int) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        obs, reward, terminated, truncated, _ = self._vector.step(np.array([action]))
        return obs[0], float(reward[0]), bool(terminated[0]), bool(truncated[0]), {}


gym.register(ID, entry_point="benchmarks.pong:One", vector_entry_point=many)
