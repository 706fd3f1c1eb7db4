"""A correct environment, and copies of it with one typical mistake each.

`py:tests.check.planted:Healthy` is a random walk on a line, with terminated and truncated episodes and a
rendered frame. Every other class here is the same walk with one mistake.
"""

from __future__ import annotations

import sys
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.spaces import Box, Discrete, Text

HEALTHY = "py:tests.check.planted:Healthy"
FACTS = {
    "facts.actions": ["left", "right"],
    "facts.keys": {"left": 0, "right": 1},
    "facts.observations": [
        {"name": "place", "low": -20, "high": 20},
        {"name": "wind", "low": -1, "high": 1},
    ],
    "facts.reward": [-1, 1],
    "facts.returns": [-40, 40],
    "facts.threshold": 1,
    "facts.fps": 10,
}
"""Facts that hold for all of these environments."""


class Healthy(gym.Env[np.ndarray, Any]):
    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": 10}

    def __init__(self, render_mode: str | None = None) -> None:
        self.observation_space = Box(-20.0, 20.0, (2,), np.float32)
        self.action_space = Discrete(2)
        self.render_mode = render_mode

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed, options=options)
        self.place, self.t, self.wind = float(self.np_random.integers(-3, 4)), 0, 0.0
        return self.observation(), self.info()

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        assert self.action_space.contains(action)
        self.t += 1
        self.wind = float(self.np_random.uniform(-1, 1))
        self.place += (1.0 if np.sum(action) > 0 else -1.0) + self.wind / 2
        away = abs(self.place) > 5
        return self.observation(), self.reward(), away, not away and self.t >= 40, self.info()

    def render(self) -> Any:
        picture = np.zeros((20, 41, 3), np.uint8)
        picture[:, int(np.clip(self.place + 20, 0, 40))] = 255
        return picture

    def observation(self) -> Any:
        return np.array([self.place, self.wind], np.float32)

    def reward(self) -> Any:
        return 1.0 if self.wind > 0 else -1.0

    def info(self) -> dict[str, Any]:
        return {}


class CannotBeMade(Healthy):
    def __init__(self, render_mode: str | None = None) -> None:
        super().__init__(render_mode)
        raise FileNotFoundError("the map is missing")


class OnlyOnce(Healthy):
    """Cannot be created a second time in the same process."""

    there: list[Any] = []

    def __init__(self, render_mode: str | None = None) -> None:
        super().__init__(render_mode)
        if self.there:
            raise OSError("the port is taken")
        self.there.append(self)

    def close(self) -> None:
        self.there.clear()


class TextObservation(Healthy):
    """Has Text observations, for which there is no network."""

    def __init__(self, render_mode: str | None = None) -> None:
        super().__init__(render_mode)
        self.observation_space = Text(10)


class TakesNoSeed(Healthy):
    def reset(self) -> Any:  # type: ignore[override]
        return super().reset(seed=0)


class OldReset(Healthy):
    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        return super().reset(seed=seed, options=options)[0]


class OldStep(Healthy):
    def step(self, action: Any) -> Any:
        obs, reward, terminated, truncated, info = super().step(action)
        return obs, reward, terminated or truncated, info


class Raises(Healthy):
    def reward(self) -> float:
        return 1.0 / (0 if self.place > 4 else 1)


class Exits(Healthy):
    def reward(self) -> float:
        if self.place > 4:
            sys.exit("enough")
        return 1.0


class LeavesItsSpace(Healthy):
    def observation(self) -> np.ndarray:
        return np.array([self.place * 10, self.wind], np.float32)


class AnotherShape(Healthy):
    def observation(self) -> np.ndarray:
        return np.array([self.place] if self.t == 2 else [self.place, self.wind], np.float32)


class NotANumber(Healthy):
    def observation(self) -> np.ndarray:
        place = np.nan if self.place > 4 else self.place
        return np.array([place, self.wind], np.float32)


class EndlessPay(Healthy):
    def reward(self) -> float:
        return np.inf if self.place > 4 else 1.0


class GlobalGenerator(Healthy):
    """Draws observations from the global NumPy generator."""

    def observation(self) -> np.ndarray:
        return np.array([self.place, np.random.uniform(-1, 1)], np.float32)


class OwnGenerator(Healthy):
    """Draws from a generator of its own, which reset() does not seed."""

    def __init__(self, render_mode: str | None = None) -> None:
        super().__init__(render_mode)
        self.rng = np.random.default_rng(7)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=0, options=options)
        self.place = float(self.rng.integers(-3, 4))
        return self.observation(), self.info()


class Remembers(Healthy):
    """Carries state from one episode into the next."""

    tired = 0.0

    def step(self, action: Any) -> Any:
        self.tired = min(self.tired + 1e-3, 0.9)
        return super().step(action)

    def observation(self) -> np.ndarray:
        return np.array([self.place + self.tired, self.wind], np.float32)


class OneArray(Healthy):
    """Returns the same array each time, with new numbers in it."""

    def __init__(self, render_mode: str | None = None) -> None:
        super().__init__(render_mode)
        self.array = np.zeros(2, np.float32)

    def observation(self) -> np.ndarray:
        self.array[:] = [self.place, self.wind]
        return self.array


class BothEnds(Healthy):
    def step(self, action: Any) -> Any:
        obs, reward, terminated, truncated, info = super().step(action)
        return obs, reward, terminated or truncated, terminated or truncated, info


class LimitAsEnd(Healthy):
    max_steps = 12

    def step(self, action: Any) -> Any:
        obs, reward, _, _, info = super().step(action)
        self.place = float(np.clip(self.place, -5, 5))
        return obs, reward, self.t >= self.max_steps, False, info


class FearsTheEdge(Healthy):
    """Fails at the bounds of its action space, which a clipped policy reaches and a random one never does."""

    def __init__(self, render_mode: str | None = None) -> None:
        super().__init__(render_mode)
        self.action_space = Box(-1.0, 1.0, (1,), np.float32)

    def step(self, action: Any) -> Any:
        if abs(action[0]) == 1.0:
            raise ZeroDivisionError("log(1 - x)")
        obs, reward, *rest = super().step(np.array([0.0], np.float32))
        return obs, reward, *rest


class WritesIntoActions(Healthy):
    def __init__(self, render_mode: str | None = None) -> None:
        super().__init__(render_mode)
        self.action_space = Box(-1.0, 1.0, (1,), np.float32)

    def step(self, action: Any) -> Any:
        action *= 0.5
        return super().step(action)


class AllowsNothing(Healthy):
    def info(self) -> dict[str, Any]:
        return {"action_mask": np.zeros(2, np.int8) if self.place > 4 else np.ones(2, np.int8)}


class ForgetsItsMask(Healthy):
    def info(self) -> dict[str, Any]:
        return {} if self.t == 2 else {"action_mask": np.ones(2, np.int8)}


class DrawsNumbers(Healthy):
    def render(self) -> Any:
        return np.zeros((20, 41))


class CannotDraw(Healthy):
    def render(self) -> Any:
        raise RuntimeError("no brush")


class PaysTooMuch(Healthy):
    def reward(self) -> float:
        return 3.0 if self.place > 4 else 0.5


class GlobalGeneratorReward(Healthy):
    """Draws rewards from the global NumPy generator."""

    def reward(self) -> float:
        return float(np.random.uniform(-1, 1))
