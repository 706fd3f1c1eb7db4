"""An environment that records its actions and returns a fixed observation of a chosen space."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.spaces import Box, Dict, Discrete, MultiBinary, MultiDiscrete, Tuple

OBSERVATIONS: dict[str, tuple[gym.Space[Any], Any]] = {
    "numbers": (
        Box(np.float32([-1, -np.inf, 0]), np.float32([1, np.inf, 8])),
        np.array([0, 5, 4], np.float32),
    ),
    "image": (Box(0, 255, (12, 12, 3), np.uint8), np.full((12, 12, 3), 100, np.uint8)),
    "whole": (Box(-9, 9, (2,), np.int64), np.array([3, -3])),
    "state": (Discrete(5), 3),
    "states": (MultiDiscrete([3, 4]), np.array([1, 2])),
    "flags": (MultiBinary(3), np.array([1, 0, 1], np.int8)),
    "dict": (
        Dict({"a": Dict({"x": Box(-4, 4, (2,), np.float32), "y": Discrete(3)}), "z": Discrete(2)}),
        {"a": {"x": np.zeros(2, np.float32), "y": 1}, "z": 0},
    ),
    "tuple": (
        Tuple((Discrete(3), Box(-4, 4, (2,), np.float32))),
        (2, np.zeros(2, np.float32)),
    ),
    "indices": (Dict({"a": Discrete(3), "b": MultiBinary(2)}), {"a": 1, "b": np.zeros(2, np.int8)}),
}
ACTION_SPACES: dict[str, gym.Space[Any]] = {
    "choice": Discrete(4, start=1),
    "choices": MultiDiscrete([3, 2], start=[1, 0]),
    "integers": Box(np.array([-1, 0]), np.array([2, 1]), dtype=np.int8),
    "switches": MultiBinary(3),
    "amounts": Box(np.float32([-2, 0]), np.float32([2, 10])),
}
COMPOSITE_ACTIONS: dict[str, gym.Space[Any]] = {
    "dict": Dict(aim=Box(-2, 2, (2,), np.float32), gear=Discrete(4, start=1), on=MultiBinary(2)),
}


class Echo(gym.Env[Any, Any]):
    """Returns the observation `shows`. With `counts`, the second number of the Box counts the steps."""

    def __init__(
        self,
        shows: str = "numbers",
        takes: str = "choice",
        masked: bool = False,
        counts: bool = False,
    ) -> None:
        self.observation_space, self.shown = OBSERVATIONS[shows]
        self.action_space = (ACTION_SPACES | COMPOSITE_ACTIONS)[takes]
        self.masked, self.counts = masked, counts
        self.done: list[Any] = []
        self.luck: list[float] = []

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed, options=options)
        self.done, self.luck = [], []
        return self._shows(), self._allows()

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        assert self.action_space.contains(action), f"{action!r} is not of {self.action_space}"
        assert not self.masked or self._allows()["action_mask"][action - 1]
        self.done.append(action)
        self.luck.append(float(self.np_random.random()))
        return self._shows(), self.luck[-1], False, False, self._allows()

    def _shows(self) -> Any:
        if not self.counts:
            return self.shown
        return np.float32([0, len(self.done), 4])

    def _allows(self) -> dict[str, Any]:
        """Returns a mask that allows all actions but one, a different one at every step."""
        if not self.masked:
            return {}
        return {"action_mask": np.arange(4) != len(self.done) % 4}
