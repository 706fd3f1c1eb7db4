"""Opens the training copies of an environment on the backend that the config names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

import gymnasium as gym
from gymnasium import error

from gymnast.config.episode_limit import EpisodeLimit
from gymnast.config.sections.env import VECTOR_BACKENDS, EnvConfig
from gymnast.config.sections.image import is_atari
from gymnast.envs.backends.backend import OTHER_BACKEND_FIX, Backend
from gymnast.envs.backends.envpool import make_envpool
from gymnast.envs.backends.inprocess import InProcessBackend
from gymnast.envs.backends.process import ProcessBackend
from gymnast.envs.backends.vector import VectorBackend
from gymnast.envs.build.env_ids import register
from gymnast.envs.build.make import make_env
from gymnast.envs.env_types import VectorEnv
from gymnast.envs.suites.atari import SeededCopies, vector_settings
from gymnast.envs.wrappers import enabled_wrappers
from gymnast.errors import EnvError
from gymnast.processes import guard

DONE_BY_ALE = ("env.view", "env.stack")
"""Config keys that ALE's vectorized implementation applies by itself."""


def open_envs(
    cfg: EnvConfig,
    *,
    limit: EpisodeLimit,
    info_keys: Sequence[str] = (),
    step_keys: Sequence[str] = (),
    on_output: Callable[[str], None],
) -> Backend:
    """Returns the backend with `cfg.n_envs` copies.

    `info_keys`: entries to keep from the last info of an episode; `step_keys`: numbers to read from the
    info of every step; `on_output`: called with each line that environments print in other processes.
    The default in `limit` does not apply to an environment's own vectorized implementation, which only
    has the options of its constructor.
    """
    if cfg.backend == "process":
        return ProcessBackend(
            cfg, limit=limit, info_keys=info_keys, step_keys=step_keys, on_output=on_output
        )
    if cfg.backend in VECTOR_BACKENDS:
        _refuse_wrappers(cfg)
        if cfg.backend == "envpool":
            _check_single_env(cfg)
        make = partial(make_envpool if cfg.backend == "envpool" else make_vector, cfg, limit.steps)
        keys = {"info_keys": info_keys, "step_keys": step_keys}
        with guard.watch():
            return VectorBackend(make, cfg.id, **keys, masked=cfg.action_mask)
    make = partial(make_env, cfg, limit=limit)
    return InProcessBackend(make, cfg.n_envs, cfg.id, masked=cfg.action_mask, step_keys=step_keys)


def _refuse_wrappers(cfg: EnvConfig) -> None:
    """Raises EnvError for settings that need a wrapper around each copy: a vectorized implementation
    steps all copies at once, so there is no single environment to wrap."""
    keys = ["env.tasks"] if cfg.tasks else [layer.key for layer in enabled_wrappers(cfg)]
    if is_atari(cfg.id) and cfg.backend == "vector":
        keys = [key for key in keys if key not in DONE_BY_ALE]
    if keys:
        what = f"env.backend {cfg.backend} does not support this setting for {cfg.id}"
        raise EnvError(what, at=", ".join(keys), fix=OTHER_BACKEND_FIX)


def _check_single_env(cfg: EnvConfig) -> None:
    """Creates one environment, so that an unknown id or a missing package gives the usual error."""
    make_env(cfg).close()


def make_vector(cfg: EnvConfig, limit: int | None) -> VectorEnv:
    """Returns the environment's own vectorized implementation with `cfg.n_envs` copies. `limit`: maximum
    steps per episode; None for the environment's own. Raises EnvError if there is no such implementation, or
    if it rejects the settings."""
    with suppress(ImportError):  # reported below, by creating a single environment
        register(cfg.id)
    spec = gym.registry.get(cfg.id)
    if spec is None or spec.vector_entry_point is None:
        _check_single_env(cfg)
        raise EnvError(f"{cfg.id} has no vector implementation of its own", fix=OTHER_BACKEND_FIX)
    kwargs: dict[str, Any] = {**cfg.kwargs}  # the constructor decides what it accepts
    if is_atari(cfg.id):
        kwargs = vector_settings(cfg, limit)
    elif limit is not None:
        kwargs["max_episode_steps"] = limit
    try:
        vector = gym.make_vec(cfg.id, cfg.n_envs, "vector_entry_point", **kwargs)
        return SeededCopies(vector) if is_atari(cfg.id) else vector
    except TypeError as problem:
        what = f"the vector implementation of {cfg.id} does not accept {kwargs}: {problem}"
        raise EnvError(what, fix=OTHER_BACKEND_FIX) from None
    except (error.Error, ImportError) as problem:
        _check_single_env(cfg)
        what = f"the vector implementation of {cfg.id} cannot be created: {problem}"
        raise EnvError(what, fix=OTHER_BACKEND_FIX) from None
