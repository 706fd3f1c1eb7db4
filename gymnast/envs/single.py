"""One copy of an environment that exists as a vector only, as a Gymnasium environment.

Atari's does: its vector greys, shrinks and stacks the frames itself, and a single `ALE/...` shows
raw ones. Evaluation and play must see what training saw.
"""

from __future__ import annotations

import importlib
from typing import Any

import gymnasium as gym
import numpy as np

_PACKAGES = {"ALE": "ale_py"}
"""Namespace of environments of this kind -> the package that registers them."""


def exists_as_vector_only(env_id: str) -> bool:
    """Whether an id is of this kind; its package is loaded."""
    package = _PACKAGES.get(env_id.partition("/")[0])
    if package is None:
        return False
    importlib.import_module(package)
    spec = gym.registry.get(env_id)
    return spec is not None and spec.vector_entry_point is not None


class Single(gym.Env[Any, Any]):
    def __init__(self, env_id: str, kwargs: dict[str, Any]) -> None:
        # when it would reset by itself is of no weight: it is reset as soon as its episode is over
        self._vector = gym.make_vec(env_id, 1, "vector_entry_point", **kwargs)
        self.observation_space = self._vector.single_observation_space
        self.action_space = self._vector.single_action_space
        self.spec = self._vector.spec

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        obs, info = self._vector.reset(seed=seed, options=options)
        return obs[0], _first(info)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        obs, reward, terminated, truncated, info = self._vector.step(np.array([action]))
        return obs[0], float(reward[0]), bool(terminated[0]), bool(truncated[0]), _first(info)

    def close(self) -> None:
        self._vector.close()


def _first(info: dict[str, Any]) -> dict[str, Any]:
    return {key: column[0] for key, column in info.items() if not key.startswith("_")}
