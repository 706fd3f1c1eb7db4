"""EnvPool environments, which are stepped together in C++, as a Gymnasium `VectorEnv`.

EnvPool takes one seed when the pool is created and none per episode, so a single running episode cannot
be restored. The step after the end of an episode only starts the next one (autoreset NEXT_STEP).
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Protocol

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space

from gymnast.config.sections.env import EnvConfig
from gymnast.envs.backends.backend import OTHER_BACKEND_FIX
from gymnast.envs.env_types import Info, Options, ResetResult, VectorEnv
from gymnast.errors import EnvError

Array = np.ndarray


class _PoolConfig(Protocol):
    max_episode_steps: int


class _PoolSpec(Protocol):
    config: _PoolConfig


class _Pool(Protocol):
    """The part of EnvPool's environments, which have no types, that is used here."""

    observation_space: gym.Space[object]
    action_space: gym.Space[object]
    spec: _PoolSpec

    def reset(self) -> ResetResult: ...

    def step(self, action: Array) -> tuple[object, Array, Array, Array, Info]: ...

    def close(self) -> None: ...


class EnvPoolVector(VectorEnv):
    """A pool with its spaces and autoreset mode, as `VectorBackend` expects them."""

    metadata = {"autoreset_mode": AutoresetMode.NEXT_STEP}

    def __init__(self, name: str, n_envs: int, settings: Mapping[str, object]) -> None:
        self._name, self._settings, self.num_envs = name, settings, n_envs
        self._pool = self._make_pool(0)
        self.single_observation_space = self._pool.observation_space
        self.single_action_space = self._pool.action_space
        self.observation_space = batch_space(self.single_observation_space, n_envs)
        self.action_space = batch_space(self.single_action_space, n_envs)
        self.time_limit = int(self._pool.spec.config.max_episode_steps)

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: Options = None
    ) -> ResetResult:
        """Resets all copies and returns their first observations and an empty info. With a seed, the pool is
        created again, since EnvPool takes a seed only then; without one, its random generators continue.
        Raises TypeError for one seed per copy."""
        if isinstance(seed, list):
            raise TypeError("EnvPool takes one seed for all copies")
        if seed is not None:  # a pool can only be seeded when it is created
            self._pool.close()
            self._pool = self._make_pool(seed)
        obs, _ = self._pool.reset()
        return obs, {}

    def step(self, actions: object) -> tuple[object, Array, Array, Array, Info]:
        typed = np.asarray(actions, self._pool.action_space.dtype)
        obs, reward, terminated, truncated, info = self._pool.step(typed)
        # EnvPool's info also contains nested dicts such as `players`, which are not arrays [N, ...].
        per_copy = {key: value for key, value in info.items() if _per_copy(value, self.num_envs)}
        return obs, reward, terminated, truncated, per_copy

    def close_extras(self, **kwargs: object) -> None:
        self._pool.close()

    def _make_pool(self, seed: int) -> _Pool:
        # EnvPool stores the seed in a C int.
        return import_module("envpool").make_gymnasium(
            self._name, num_envs=self.num_envs, seed=seed % 2**31, **self._settings
        )


def make_envpool(cfg: EnvConfig, limit: int | None) -> EnvPoolVector:
    """Returns EnvPool's version of the environment. `limit`: maximum steps per episode, instead of the
    environment's own limit; None keeps that. Raises EnvError if EnvPool is not installed, does not have the
    environment or rejects the settings."""
    try:
        known = import_module("envpool").list_all_envs()
    except ImportError:
        what = "env.backend envpool needs the package envpool"
        raise EnvError(what, fix="pip install 'gymnast[envpool]'") from None
    name = cfg.id.removeprefix("ALE/")
    if name not in known:
        raise EnvError(f"EnvPool has no {cfg.id}", at="env.backend", fix=OTHER_BACKEND_FIX)
    settings = dict[str, object](cfg.kwargs)
    gym_limit = None if limit is not None else _gymnasium_limit(cfg.id)
    if limit is not None or gym_limit is not None:
        settings["max_episode_steps"] = limit if limit is not None else gym_limit
    try:
        return EnvPoolVector(name, cfg.n_envs, settings)
    except (TypeError, AssertionError, ValueError, RuntimeError) as problem:
        what = f"EnvPool's {name} does not accept {settings}: {problem}"
        raise EnvError(what, at="env.kwargs", fix=OTHER_BACKEND_FIX) from None


def _gymnasium_limit(env_id: str) -> int | None:
    """Returns Gymnasium's time limit in steps, or None. EnvPool may use another one, but evaluation runs on
    Gymnasium."""
    spec = gym.registry.get(env_id)
    return None if spec is None else spec.max_episode_steps


def _per_copy(value: object, n_envs: int) -> bool:
    """True for an array with one row per copy."""
    return isinstance(value, np.ndarray) and value.shape[:1] == (n_envs,)
