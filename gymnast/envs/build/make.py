"""Creates an environment from its config. Every failure becomes an EnvError with a fix."""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

import gymnasium as gym
from gymnasium import error

from gymnast.config.episode_limit import ENV_LIMIT, EpisodeLimit
from gymnast.config.families import PETTINGZOO, install_hint, require_single_agent
from gymnast.config.sections.env import EnvConfig
from gymnast.config.sections.image import is_atari
from gymnast.envs.backends.active_calls import constructors
from gymnast.envs.build.env_ids import make_registered, register, successor_error
from gymnast.envs.build.fast_step import use_fast_step
from gymnast.envs.build.strip_wrappers import DefaultTimeLimit, time_limit
from gymnast.envs.build.tasks import TaskEnv
from gymnast.envs.env_types import Env
from gymnast.envs.suites.atari import make_game
from gymnast.envs.wrappers import apply_task_wrappers, apply_wrappers
from gymnast.errors import CodeNotAllowed, EnvError, NotInstalled
from gymnast.import_object import import_user_code
from gymnast.processes import guard
from gymnast.text.suggestions import did_you_mean


def make_env(cfg: EnvConfig, *, limit: EpisodeLimit = ENV_LIMIT) -> Env:
    """Returns a new environment with the wrappers that the config asks for.

    `limit`: time limit to use instead of, or in the absence of, the environment's own.
    """
    require_single_agent(cfg.id, "use train, eval, video, net or league, which support roles")
    with guard.watch(), constructors.call(cfg.id):
        return apply_wrappers(_make_unwrapped(cfg, limit), cfg)


def _make_unwrapped(cfg: EnvConfig, limit: EpisodeLimit) -> Env:
    """Returns the environment with its time limit, before the wrappers of the config."""
    if cfg.tasks:
        return TaskEnv(cfg, lambda task: apply_task_wrappers(_make_unwrapped(task, limit), task))
    if cfg.id.startswith("py:"):
        return _limited(_from_class(cfg.id, cfg.kwargs), limit)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            register(cfg.id)
            if is_atari(cfg.id):
                return _limited(make_game(cfg), limit)
            kwargs = dict[str, object](cfg.kwargs)
            if limit.steps is not None:
                kwargs["max_episode_steps"] = limit.steps
            env = use_fast_step(make_registered(cfg.id, kwargs))
            # Gymnasium has applied limit.steps already.
            return _limited(env, limit._replace(steps=None))
    # Each failure is translated to a message with a fix; the more specific exceptions come first.
    except (EnvError, CodeNotAllowed):
        raise
    except error.DependencyNotInstalled as problem:
        raise NotInstalled(f"{cfg.id}: {problem}", fix=install_hint(cfg.id)) from None
    except (error.DeprecatedEnv, error.UnregisteredEnv) as problem:
        from gymnast.config.presets import all_presets

        known = [*gym.registry, *all_presets()]
        if (successor := successor_error(cfg.id)) is not None:
            raise successor from None
        what = str(problem).partition(" Did you mean")[0].rstrip(".")
        guess = did_you_mean(cfg.id, known)
        raise EnvError(f"{what}{guess}", fix="`gymnast presets` lists what ships") from None
    except ModuleNotFoundError as problem:
        raise NotInstalled(f"{cfg.id} needs {problem.name}", fix=install_hint(cfg.id)) from None
    except Exception as problem:
        # Gymnasium keeps ids of removed environments (MuJoCo v2 and v3), whose import then fails.
        successor = successor_error(cfg.id) if isinstance(problem, ImportError) else None
        raise successor or creation_error(cfg.id, cfg.kwargs, problem) from problem


def _from_class(name: str, kwargs: Mapping[str, object]) -> Env:
    """Returns an instance of `py:package.module:Class`. The working directory is searched too.

    Raises EnvError if the class cannot be imported, its constructor raises, or a space is missing.
    """
    try:
        _, module, attribute = name.split(":")
    except ValueError:
        raise EnvError(f"{name} is not of the form py:package.module:Class") from None
    env_class = import_constructor(name, module, attribute)
    try:
        env = env_class(**kwargs)
    except Exception as problem:
        raise creation_error(name, kwargs, problem) from problem
    if hasattr(env, "possible_agents"):
        what = f"{name} is a PettingZoo environment, whose id starts with {PETTINGZOO}"
        raise EnvError(what, fix=f"use {PETTINGZOO}{name}")
    for space in ("observation_space", "action_space"):
        found = getattr(env, space, None)
        if found is None:
            raise EnvError(f"{name} has no {space}", fix="set it in its __init__")
        if not isinstance(found, gym.Space):
            kind = f"{type(found).__module__}.{type(found).__qualname__}"
            raise EnvError(
                f"{name}: its {space} is a {kind}, not a space of gymnasium",
                fix="create it with gymnasium.spaces",
            )
    return env


def import_constructor(name: str, module: str, attribute: str) -> Callable[..., Any]:
    """Returns the class or function of a user that creates an environment. `name`: id of the environment for
    messages. Raises EnvError, whose cause is the exception that the module raised, if any."""
    try:
        return import_user_code(f"{module}:{attribute}")
    except CodeNotAllowed:
        raise
    except Exception as problem:  # the module of a user can raise anything
        what = f"{name} cannot be imported: {type(problem).__name__}: {problem}"
        # For a name that does not exist, the traceback would only show our own call.
        no_module = isinstance(problem, ModuleNotFoundError) and f"{module}.".startswith(
            f"{problem.name}."
        )
        no_attribute = isinstance(problem, AttributeError) and isinstance(problem.obj, ModuleType)
        raise EnvError(what) from (None if no_module or no_attribute else problem)


def _limited(env: Env, limit: EpisodeLimit) -> Env:
    """Returns the environment with the configured time limit or, if nothing limits its episodes, with the
    default one. An environment that ends its episodes by itself gets at least its own limit."""
    if limit.steps is not None:
        return gym.wrappers.TimeLimit(env, limit.steps)
    if limit.default is None or time_limit(env) is not None:
        return env
    if (internal := internal_time_limit(env)) is not None:
        # The environment ends its episodes by itself; this limit only guards against a bug in it.
        return gym.wrappers.TimeLimit(env, max(limit.default, internal))
    return DefaultTimeLimit(env, limit.default)


def internal_time_limit(env: Env) -> int | None:
    """Returns the time limit that an environment applies by itself, in steps, as far as its attributes show
    it: MiniGrid's `max_steps`, VizDoom's timeout, ALE's frames (an upper bound, since a step can be several
    frames). None if there is no such attribute."""
    inner = env.unwrapped
    limits = [getattr(inner, name, None) for name in _LIMIT_ATTRIBUTES]
    game, ale = getattr(inner, "game", None), getattr(inner, "ale", None)
    if game is not None and hasattr(game, "get_episode_timeout"):  # VizDoom, in frames
        limits.append(math.ceil(game.get_episode_timeout() / getattr(inner, "frame_skip", 1)))
    if ale is not None:
        limits.append(ale.getInt("max_num_frames_per_episode"))
    # 0 means no limit in VizDoom and ALE; a bool is an int too, but no limit.
    return max((n for n in limits if type(n) is int and n > 0), default=None)


_LIMIT_ATTRIBUTES = ("max_episode_steps", "_max_episode_steps", "max_steps", "_max_steps", "pulls")
"""Attributes that hold the time limit in several packages, and in our own bandits."""


def creation_error(name: str, kwargs: Mapping[str, object], problem: Exception) -> EnvError:
    """Returns the error for an exception that an environment's constructor raised when it was called with
    `kwargs` (`env.kwargs`). It names the kwargs as the cause only if the exception names one of them."""
    # A TypeError alone proves nothing: a bug inside the constructor often raises one too.
    unexpected = re.search(r"unexpected keyword argument '(\w+)'", str(problem))
    if isinstance(problem, TypeError) and unexpected and unexpected[1] in kwargs:
        return EnvError(f"{name} does not accept env.kwargs {dict(kwargs)}: {problem}")
    what = f"{name} cannot be created: {type(problem).__name__}: {problem}"
    return EnvError(what, fix="fix its __init__, or the env.kwargs that it gets")
