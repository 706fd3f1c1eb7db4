"""The training copies of an environment, on the backend that the config names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

import gymnasium as gym
from gymnasium import error
from gymnasium.vector import VectorEnv

from gymnast.config.episode_limit import EpisodeLimit
from gymnast.config.sections.env import WHOLE, EnvConfig
from gymnast.config.sections.image import is_atari
from gymnast.envs.backends.backend import OTHER_BACKEND_FIX, Backend
from gymnast.envs.backends.envpool import make_envpool
from gymnast.envs.backends.inprocess import InProcessBackend
from gymnast.envs.backends.process import ProcessBackend
from gymnast.envs.backends.vector import VectorBackend
from gymnast.envs.build.make import make_env
from gymnast.envs.build.names import register
from gymnast.envs.suites.atari import SeededCopies, vector_settings
from gymnast.envs.wrappers import wanted
from gymnast.errors import EnvError
from gymnast.processes import guard

DONE_BY_ALE = ("env.view", "env.stack")
"""What the vector of Atari games does by itself."""


def open_envs(
    cfg: EnvConfig,
    *,
    limit: EpisodeLimit,
    info_keys: Sequence[str] = (),
    step_keys: Sequence[str] = (),
    tell: Callable[[str], None],
) -> Backend:
    """`info_keys`: what to keep of an episode's last info; `step_keys`: which numbers of every step's
    info; `tell` gets what environments print in other processes. The default of `limit` does not reach an
    environment's own vector, which takes only what its constructor takes."""
    if cfg.backend == "process":
        return ProcessBackend(cfg, limit=limit, info_keys=info_keys, step_keys=step_keys, tell=tell)
    if cfg.backend in WHOLE:
        _refuse_what_needs_python(cfg)
        if cfg.backend == "envpool":
            _refuse_what_is_wrong_with_one(cfg)
        make = partial(make_envpool if cfg.backend == "envpool" else make_vector, cfg, limit.steps)
        keys = {"info_keys": info_keys, "step_keys": step_keys}
        with guard.watch():
            return VectorBackend(make, cfg.id, **keys, masked=cfg.action_mask)
    make = partial(make_env, cfg, limit=limit)
    return InProcessBackend(make, cfg.n_envs, cfg.id, masked=cfg.action_mask, step_keys=step_keys)


def _refuse_what_needs_python(cfg: EnvConfig) -> None:
    keys = ["env.tasks"] if cfg.tasks else [layer.key for layer in wanted(cfg)]
    if is_atari(cfg.id) and cfg.backend == "vector":
        keys = [key for key in keys if key not in DONE_BY_ALE]
    if keys:
        what = f"env.backend {cfg.backend} cannot do that for {cfg.id}"
        raise EnvError(what, at=", ".join(keys), fix=OTHER_BACKEND_FIX)


def _refuse_what_is_wrong_with_one(cfg: EnvConfig) -> None:
    """A name that is not known, a package that is missing: said as for any other backend."""
    make_env(cfg).close()


def make_vector(cfg: EnvConfig, limit: int | None) -> VectorEnv[Any, Any, Any]:
    """The environment's own vector implementation."""
    with suppress(ImportError):
        register(cfg.id)
    spec = gym.registry.get(cfg.id)
    if spec is None or spec.vector_entry_point is None:
        _refuse_what_is_wrong_with_one(cfg)
        raise EnvError(f"{cfg.id} has no vector implementation of its own", fix=OTHER_BACKEND_FIX)
    kwargs = dict[str, Any](cfg.kwargs)
    if is_atari(cfg.id):
        kwargs = vector_settings(cfg, limit)
    elif limit is not None:
        kwargs["max_episode_steps"] = limit
    try:
        vector = gym.make_vec(cfg.id, cfg.n_envs, "vector_entry_point", **kwargs)
        return SeededCopies(vector) if is_atari(cfg.id) else vector
    except TypeError as problem:
        what = f"the vector implementation of {cfg.id} does not take {kwargs}: {problem}"
        raise EnvError(what, fix=OTHER_BACKEND_FIX) from None
    except (error.Error, ImportError) as problem:
        _refuse_what_is_wrong_with_one(cfg)
        what = f"the vector implementation of {cfg.id} cannot be made: {problem}"
        raise EnvError(what, fix=OTHER_BACKEND_FIX) from None
