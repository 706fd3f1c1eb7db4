"""One environment for every space: the observation determines the correct action of each step.

Use `py:tests.identity:Identity`, with `action` and `obs` naming the kinds of spaces. A correct learner
masters any of them in seconds. Every action is checked against the space and the mask.
"""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.spaces import Box, Dict, Discrete, MultiBinary, MultiDiscrete, Text, Tuple

ACTIONS = {
    "choice": lambda: Discrete(4, start=2),
    "choices": lambda: MultiDiscrete([[3], [2]], start=[[1], [0]]),
    "integers": lambda: Box(np.array([-1, 0]), np.array([2, 1]), dtype=np.int32),
    "switches": lambda: MultiBinary(2),
    "amounts": lambda: Box(np.float32([-2, 0]), np.float32([6, 1])),
    "tuple": lambda: Tuple([ACTIONS[part]() for part in PARTS["tuple"]]),
    "dict": lambda: Dict({name: ACTIONS[part]() for name, part in PARTS["dict"].items()}),
}
PARTS: dict[str, Any] = {
    "tuple": ("choice", "amounts"),
    "dict": {"turn": "choices", "fire": "switches", "inner": "tuple"},
}
"""Kinds of the entries of Tuple and Dict actions."""
OBSERVATIONS = {
    "vector": lambda: Box(-1.0, 1.0, (2, 2), np.float32),
    "category": lambda: Discrete(4, start=-1),
    "categories": lambda: MultiDiscrete([2, 2], start=[3, 0]),
    "binary": lambda: MultiBinary(2),
    "image": lambda: Box(0, 255, (1, 6, 8), np.uint8),
    "grey image": lambda: Box(0, 255, (6, 8), np.uint8),
    "parts": lambda: Dict(
        {
            "eye": Dict(
                {"camera": Box(0, 255, (6, 8, 3), np.uint8), "noise": Discrete(3, start=1)}
            ),
            "sense": Box(-np.inf, np.inf, (1,), np.float32),
        }
    ),
    "tuple": lambda: Tuple((Discrete(2), MultiBinary(1))),
}


class Identity(gym.Env[Any, Any]):
    def __init__(
        self, action: str = "choice", obs: str = "vector", masked: bool = False, length: int = 8
    ) -> None:
        self.action_space, self.observation_space = ACTIONS[action](), OBSERVATIONS[obs]()
        self.action, self.kind, self.masked, self.length = action, obs, masked, length

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed, options=options)
        self.t = 0
        return self._draw()

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        assert self.action_space.contains(action), f"{action!r} is not of {self.action_space}"
        mask = self.mask if self.masked else None
        reward = self._worth(self.action, action, mask)
        self.t += 1
        obs, info = self._draw()
        return obs, reward, False, self.t == self.length, info

    def _draw(self) -> tuple[Any, dict[str, Any]]:
        """Two bits determine the correct action, in every space."""
        self.bits = self.np_random.integers(2, size=2)
        info: dict[str, Any] = {}
        if self.masked:
            self.mask = self._mask(self.action)
            info["action_mask"] = self.mask
        return self._shown(*self.bits.tolist()), info

    def _worth(self, kind: str, action: Any, mask: Any) -> float:
        """Returns 1 for the correct action; of several entries, the mean."""
        a, b = self.bits.tolist()
        match kind:
            case "choice":
                assert mask is None or mask[action - 2]
                return float(action - 2 == 2 * a + b)
            case "choices":
                first, second = int(action[0, 0]) - 1, int(action[1, 0])
                assert mask is None or (mask[0][first] and mask[1][second])
                return ((first == 2 * a) + (second == b)) / 2
            case "integers":
                first, second = action.tolist()
                return ((first == 3 * a - 1) + (second == b)) / 2
            case "switches":
                assert mask is None or ((mask == 2) | (mask == action)).all()
                first, second = action.tolist()
                return ((first == a) + (second == b)) / 2
            case "tuple" | "dict":
                parts = PARTS[kind].items() if kind == "dict" else enumerate(PARTS[kind])
                masks = {} if mask is None else mask
                own = [
                    self._worth(part, action[name], None if mask is None else masks[name])
                    for name, part in parts
                ]
                return sum(own) / len(own)
            case _:
                first, second = action.tolist()  # correct: -1 or 5 of -2..6, and 0.2 or 0.8 of 0..1
                return 1 - (abs(first - (6 * a - 1)) / 8 + abs(second - (0.2 + 0.6 * b))) / 2

    def _mask(self, kind: str) -> Any:
        """Allows the correct action, and others at random."""
        match kind:
            case "tuple":
                return tuple(map(self._mask, PARTS[kind]))
            case "dict":
                return {name: self._mask(part) for name, part in PARTS[kind].items()}
            case "amounts":
                return None
            case _:
                return self._mask_of_options(kind)

    def _mask_of_options(self, kind: str) -> Any:
        a, b = self.bits.tolist()
        coin = self.np_random.integers(2, size=5, dtype=np.int8)
        match kind:
            case "choice":
                coin[2 * a + b] = 1
                return coin[:4]
            case "choices":
                coin[2 * a] = coin[3 + b] = 1
                return (coin[:3], coin[3:])
            case _:
                return np.where(coin[:2] == 1, self.bits, 2).astype(np.int8)

    def _shown(self, a: int, b: int) -> Any:
        if self.kind in ("image", "grey image"):
            return self._picture(a, b).reshape(self.observation_space.shape)
        shown: dict[str, Any] = {
            "category": 2 * a + b - 1,
            "categories": np.array([a + 3, b]),
            "binary": np.array([a, b], np.int8),
            "tuple": (a, np.array([b], np.int8)),
        }
        if self.kind in shown:
            return shown[self.kind]
        if self.kind == "vector":
            return np.array([[a, b], [0, 1]], np.float32)
        camera = np.stack([self._picture(a, 0), *np.zeros((2, 6, 8))], -1).astype(np.uint8)
        noise = int(self.np_random.integers(1, 4))
        return {
            "eye": {"camera": camera, "noise": noise},
            "sense": np.array([40 * b + 100], np.float32),
        }

    def _picture(self, a: int, b: int) -> np.ndarray:
        """Returns an image that is bright in its left or right half, and there in the upper or
        lower half."""
        picture = np.zeros((6, 8), np.uint8)
        picture[3 * b : 3 * b + 3, 4 * a : 4 * a + 4] = 255
        return picture


class Storyteller(gym.Env[str, Any]):
    """Has text observations, which no policy supports."""

    observation_space, action_space = Text(9), Discrete(2)


class DelayedMatch(gym.Env[np.ndarray, Any]):
    """Shows one of two cues in the first observation only. After `delay` blank observations, the action that
    names the cue is worth 1, any other 0; earlier actions are worth nothing. With memory, every episode is
    worth 1. Whatever a policy without memory does in the blank last state, half of the cues differ from it:
    its optimum is 1/2."""

    def __init__(self, delay: int = 4) -> None:
        self.delay = delay
        self.observation_space = Box(-1.0, 1.0, (2,), np.float32)
        self.action_space = Discrete(2)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[np.ndarray, dict]:
        super().reset(seed=seed, options=options)
        self.t, self.cue = 0, int(self.np_random.integers(2))
        return np.array([2 * self.cue - 1, 0], np.float32), {}

    def step(self, action: Any) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        reward = float(self.t == self.delay and int(action) == self.cue)
        self.t += 1
        obs = np.array([0, self.t == self.delay], np.float32)
        return obs, reward, self.t > self.delay, False, {}
