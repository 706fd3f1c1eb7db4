"""An environment whose `info` holds numbers that are computed from the step count and the action."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np

LENGTH = 7


class Informative(gym.Env[Any, Any]):
    observation_space = gym.spaces.Box(0, 1, (2,), np.float32)
    action_space = gym.spaces.Discrete(2)

    def __init__(self, extra: Any = None) -> None:
        """`extra` is the value of `info["extra"]` from the third step on; "nan" stands for NaN, which a
        config does not accept."""
        self.extra, self.age = float("nan") if extra == "nan" else extra, 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.age = 0
        self.start = float(self.np_random.random())
        return self._obs(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.age += 1
        energy = energy_of(self.age, int(action))
        info: dict[str, Any] = {"energy": energy, "parts": {"double": np.float32(2 * energy)}}
        if self.age % 3 == 0:
            info["rare"] = self.age
        if self.extra is not None and self.age > 2:
            info["extra"] = self.extra
        return self._obs(), 1.0, self.age == LENGTH, False, info

    def _obs(self) -> Any:
        return np.array([self.age / LENGTH, self.start], np.float32)


def energy_of(age: int, action: int) -> float:
    return 0.5 * age + 100 * action
