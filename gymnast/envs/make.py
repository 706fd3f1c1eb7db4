"""From an environment's name to a live environment. What goes wrong is said with its fix."""

from __future__ import annotations

import warnings
from importlib import import_module
from typing import Any

import gymnasium as gym
from gymnasium import error

from gymnast.config.families import family_of, has_roles, how_to_install
from gymnast.config.sections.env import EnvConfig
from gymnast.config.sections.image import is_atari
from gymnast.envs.atari import make_game
from gymnast.envs.quick import quickened
from gymnast.envs.tasks import OneOfTasks
from gymnast.envs.wrappers import wrapped, wrapped_task
from gymnast.errors import EnvError, NotInstalled
from gymnast.imported import imported
from gymnast.text.closest import closest


def make_env(cfg: EnvConfig, *, max_episode_steps: int | None = None) -> gym.Env[Any, Any]:
    """A fresh copy in what the config puts around it. `max_episode_steps` replaces the environment's
    own limit."""
    if has_roles(cfg.id):
        fix = "train, eval, video, net and league know roles"
        raise EnvError(f"{cfg.id} has several roles, and one agent is asked for", fix=fix)
    return wrapped(_alone(cfg, max_episode_steps), cfg)


def _alone(cfg: EnvConfig, max_episode_steps: int | None) -> gym.Env[Any, Any]:
    if cfg.tasks:
        return OneOfTasks(cfg, lambda task: wrapped_task(_alone(task, max_episode_steps), task))
    if cfg.id.startswith("py:"):
        return _from_class(cfg.id, cfg.kwargs, max_episode_steps)
    limit: dict[str, Any] = {}
    if max_episode_steps is not None:
        limit["max_episode_steps"] = max_episode_steps
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            register(cfg.id)
            if is_atari(cfg.id):
                return _limited(make_game(cfg), max_episode_steps)
            kwargs = dict[str, Any](cfg.kwargs)
            return quickened(gym.make(cfg.id, disable_env_checker=True, **limit, **kwargs))
    except EnvError:
        raise
    except error.DeprecatedEnv as problem:
        raise EnvError(str(problem), fix="use the version it names") from None
    except error.DependencyNotInstalled as problem:
        raise NotInstalled(f"{cfg.id}: {problem}", fix=how_to_install(cfg.id)) from None
    except error.UnregisteredEnv as problem:
        what = str(problem).partition(" Did you mean")[0].rstrip(".")
        from gymnast.config.presets import all_presets  # it would load what reads YAML

        guess = closest(cfg.id, [*gym.registry, *all_presets()])
        raise EnvError(f"{what}{guess}", fix="see `gymnast presets` for what ships") from None
    except ModuleNotFoundError as problem:
        raise NotInstalled(f"{cfg.id} needs {problem.name}", fix=how_to_install(cfg.id)) from None
    except TypeError as problem:
        raise EnvError(f"{cfg.id} does not take env.kwargs {cfg.kwargs}: {problem}") from problem
    except Exception as problem:
        raise unmade(cfg.id, problem) from problem


def _from_class(name: str, kwargs: dict[str, Any], limit: int | None) -> gym.Env[Any, Any]:
    """`py:package.module:Class`, found from the working directory too."""
    try:
        _, module, attribute = name.split(":")
    except ValueError:
        raise EnvError(f"{name} is not of the form py:package.module:Class") from None
    try:
        env = imported(f"{module}:{attribute}")(**kwargs)
    except (ImportError, AttributeError) as problem:
        raise EnvError(f"{name} cannot be imported: {problem}") from None
    except TypeError as problem:
        raise EnvError(f"{name} does not take env.kwargs {kwargs}: {problem}") from problem
    except Exception as problem:
        raise unmade(name, problem) from problem
    for space in ("observation_space", "action_space"):
        if not isinstance(getattr(env, space, None), gym.Space):
            raise EnvError(f"{name} has no {space}", fix="set it in its __init__")
    return _limited(env, limit)


def _limited(env: gym.Env[Any, Any], limit: int | None) -> gym.Env[Any, Any]:
    return env if limit is None else gym.wrappers.TimeLimit(env, limit)


def unmade(name: str, problem: Exception) -> EnvError:
    what = f"{name} cannot be made: {type(problem).__name__}: {problem}"
    return EnvError(what, fix="mend its __init__, or the env.kwargs it is given")


def register(env_id: str) -> None:
    """Load the package that registers an id, which costs time, only for an id of its family."""
    family = family_of(env_id)
    if family is not None and family.module:
        import_module(family.module)
