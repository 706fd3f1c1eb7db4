"""A layer with chance of its own: a stream per episode, from the seed that the episode began with.

There is no generator state to save: the same seed and actions give the same episode.
"""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np

from gymnast.seeds import stream
from gymnast.spaces import spaces

Env = gym.Env[Any, Any]
Stepped = tuple[Any, Any, bool, bool, dict[str, Any]]


class EpisodeRandomness(gym.Wrapper[Any, Any, Any, Any]):
    NAME = ""
    """Of its stream."""

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        root = int(self.np_random.integers(2**31)) if seed is None else seed
        self.rng = self.stream_of(root)
        return self.begin(*self.env.reset(seed=seed, options=options))

    def stream_of(self, seed: int, *more: str) -> np.random.Generator:
        return stream(seed, self.NAME, *more)

    def begin(self, obs: Any, info: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        """What an episode begins with; its chance is there."""
        return obs, info


class ActionWrapper(EpisodeRandomness):
    """Something else may be done than was chosen. The info names what was, `applied_action`."""

    def __init__(self, env: Env, *, masked: bool) -> None:
        """`masked`: the environment's `info["action_mask"]` is obeyed."""
        super().__init__(env)
        self._masked, self._kind = masked, spaces.action(env.action_space)
        self._mask: np.ndarray | None = None

    def begin(self, obs: Any, info: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        self._note_mask(info)
        return obs, info

    def step(self, action: Any) -> Stepped:
        done = self.transform_action(action)
        obs, reward, terminated, truncated, info = self.env.step(done)
        self._note_mask(info)
        return obs, reward, terminated, truncated, {"applied_action": done, **info}

    def transform_action(self, action: Any) -> Any:
        """What is done."""
        raise NotImplementedError

    def options(self) -> np.ndarray | None:
        """Which are allowed now, for each element one after the other; None where all are."""
        return None if self._mask is None else spaces.as_masks(self._kind, [self._mask])[0]

    def _note_mask(self, info: dict[str, Any]) -> None:
        self._mask = info.get("action_mask") if self._masked else None
