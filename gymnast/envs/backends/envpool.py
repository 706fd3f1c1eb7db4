"""EnvPool's copies, stepped together in C++, as a Gymnasium vector.

They take one seed when they are made and none for an episode, so what runs cannot be had again. The
step after an end only begins the next episode, as with Gymnasium's NEXT_STEP vectors.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from gymnast.config.sections.env import EnvConfig
from gymnast.envs.backends.backend import OTHER_BACKEND_FIX
from gymnast.errors import EnvError

Array = np.ndarray


class EnvPoolVector(VectorEnv[Any, Any, Any]):
    metadata = {"autoreset_mode": AutoresetMode.NEXT_STEP}

    def __init__(self, name: str, n_envs: int, settings: dict[str, Any]) -> None:
        self._name, self._settings, self.num_envs = name, settings, n_envs
        self._pool = self._made(0)
        self.single_observation_space = self._pool.observation_space
        self.single_action_space = self._pool.action_space
        self.observation_space = batch_space(self.single_observation_space, n_envs)
        self.action_space = batch_space(self.single_action_space, n_envs)
        self.time_limit = int(self._pool.spec.config.max_episode_steps)

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        if isinstance(seed, list):
            raise TypeError("EnvPool takes one seed for all copies")
        if seed is not None:
            self._pool.close()
            self._pool = self._made(seed)
        obs, _ = self._pool.reset()
        return obs, {}

    def step(self, actions: Array) -> tuple[Any, Array, Array, Array, dict[str, Any]]:
        taken = actions.astype(self._pool.action_space.dtype, copy=False)
        obs, reward, terminated, truncated, info = self._pool.step(taken)
        told = {key: value for key, value in info.items() if _per_copy(value, self.num_envs)}
        return obs, reward, terminated, truncated, told

    def close_extras(self, **kwargs: Any) -> None:
        self._pool.close()

    def _made(self, seed: int) -> Any:
        of_31_bits = seed % 2**31
        return import_module("envpool").make_gymnasium(
            self._name, num_envs=self.num_envs, seed=of_31_bits, **self._settings
        )


def make_envpool(cfg: EnvConfig, limit: int | None) -> EnvPoolVector:
    """`limit` of steps per episode instead of the environment's own."""
    try:
        known = import_module("envpool").list_all_envs()
    except ImportError:
        what = "env.backend envpool needs the package envpool"
        raise EnvError(what, fix="pip install 'gymnast[envpool]'") from None
    name = cfg.id.removeprefix("ALE/")
    if name not in known:
        raise EnvError(f"EnvPool has no {cfg.id}", at="env.backend", fix=OTHER_BACKEND_FIX)
    settings = dict[str, Any](cfg.kwargs)
    own = None if limit is not None else _limit_of(cfg.id)
    if limit is not None or own is not None:
        settings["max_episode_steps"] = limit if limit is not None else own
    try:
        return EnvPoolVector(name, cfg.n_envs, settings)
    except (TypeError, AssertionError, ValueError, RuntimeError) as problem:
        what = f"EnvPool's {name} does not take {settings}: {problem}"
        raise EnvError(what, at="env.kwargs", fix=OTHER_BACKEND_FIX) from None


def _limit_of(env_id: str) -> int | None:
    """Gymnasium's own: what is trained must be what is evaluated."""
    spec = gym.registry.get(env_id)
    return None if spec is None else spec.max_episode_steps


def _per_copy(value: Any, n_envs: int) -> bool:
    return isinstance(value, np.ndarray) and value.shape[:1] == (n_envs,)
