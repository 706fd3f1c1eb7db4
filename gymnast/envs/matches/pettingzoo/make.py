"""Creates the environment behind an id `pettingzoo/NAME`; every error says how to fix it.

NAME is registered by PettingZoo (`knights_archers_zombies_v11`), belongs to MPE2 (`simple_spread_v3`), or is
your own class or function: `py:package.module:Class`, or `py:package.module` for its `parallel_env`.

PettingZoo converts environments with the AEC API to the parallel API. An environment that declares
`is_parallelizable` steps once per cycle of all agents, any other once per turn: then all agents choose an
action, but only that of the agent whose turn it is has an effect (decision 0027).
"""

from __future__ import annotations

import pkgutil
import re
import warnings
from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from gymnast.config.families import PETTINGZOO, install_hint
from gymnast.envs.backends.active_calls import constructors
from gymnast.envs.build.make import creation_error, import_constructor
from gymnast.envs.matches.pettingzoo.roles import MASK_UNSUPPORTED
from gymnast.errors import EnvError, NotInstalled
from gymnast.import_object import import_object
from gymnast.text.suggestions import did_you_mean

if TYPE_CHECKING:
    from pettingzoo import AECEnv

    from gymnast.envs.matches.pettingzoo.roles import AgentsEnv

PREFIX = PETTINGZOO
_INSTALLED = ("butterfly", "classic", "mpe", "sisl")
"""Groups whose dependencies are installed by `gymnast[pettingzoo]`."""


def make_parallel(name: str, kwargs: Mapping[str, object]) -> AgentsEnv:
    """Creates an environment, with `render_mode="rgb_array"` if it supports that. `name`: an id as above;
    `kwargs`: `env.kwargs`. Raises EnvError if it cannot be imported or created."""
    try:
        make = _user_env(name) if name.startswith(f"{PREFIX}py:") else _registered_env(name)
        with constructors.call(name):
            try:
                return _as_parallel(make(**{"render_mode": "rgb_array", **kwargs}))
            except ImportError:
                raise
            except Exception:  # probably no such render mode; other problems are raised again below
                return _as_parallel(make(**kwargs))
    except EnvError:
        raise
    except ImportError as problem:
        raise NotInstalled(f"{name}: {problem}", fix=_install(name)) from None
    except Exception as problem:
        raise creation_error(name, kwargs, problem) from problem


def _as_parallel(env: AgentsEnv | AECEnv[Any, Any, Any]) -> AgentsEnv:
    """Returns an environment with the parallel API for one with either API."""
    from pettingzoo import AECEnv
    from pettingzoo.utils import aec_to_parallel, turn_based_aec_to_parallel

    if not isinstance(env, AECEnv):
        return env
    together = env.metadata.get("is_parallelizable", False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about a missing render_mode, which is optional here
        return (aec_to_parallel if together else turn_based_aec_to_parallel)(env)


def time_limit_of(env: AgentsEnv) -> int | None:
    """Returns PettingZoo's `max_cycles` in steps, which some environments keep one level below; None if there
    is none, or if a step is one turn of a cycle."""
    from pettingzoo.utils.conversions import turn_based_aec_to_parallel_wrapper

    if isinstance(env, turn_based_aec_to_parallel_wrapper):
        return None
    inner = env.unwrapped
    limits = (getattr(e, "max_cycles", None) for e in (inner, getattr(inner, "env", None)))
    return next((limit for limit in limits if isinstance(limit, int) and limit > 0), None)


def _user_env(name: str) -> Callable[..., AgentsEnv]:
    """Returns the constructor that `py:package.module` or `py:package.module:function` names, also from the
    working directory; by default `parallel_env`. Raises EnvError if it cannot be imported."""
    module, _, attribute = name.removeprefix(f"{PREFIX}py:").partition(":")
    return import_constructor(name, module, attribute or "parallel_env")


def _registered_env(name: str) -> Callable[..., AgentsEnv]:
    """Returns the constructor of an environment of PettingZoo or MPE2, given with or without its group
    (`butterfly/`), with its version written as `_v11` or `-v11`. Raises EnvError if there is none."""
    from pettingzoo import aec_registry, parallel_registry

    wanted = _plain(name.removeprefix(PREFIX))
    # 1. PettingZoo's registry.
    for spec in parallel_registry.values():
        make = spec.entry_point
        if make is not None and wanted in (_plain(spec.id), _short(spec.id)):
            return partial(import_object(make) if isinstance(make, str) else make, **spec.kwargs)
    # 2. MPE2, which PettingZoo's MPE games have moved to; it has modules instead of a registry.
    if wanted.removeprefix("mpe/") in (games := _mpe_games()):
        return import_module(f"mpe2.{wanted.removeprefix('mpe/')}").parallel_env
    # 3. Explain why it cannot be used, or guess what was meant.
    if wanted in {form for id in aec_registry for form in (_plain(id), _short(id))}:
        what = f"{name} is a game with legal moves: {MASK_UNSUPPORTED}"
        raise EnvError(what, fix="choose an environment that PettingZoo lists with a parallel API")
    guess = did_you_mean(wanted, [*map(_short, parallel_registry), *games])
    raise EnvError(f"{name}: PettingZoo has no {wanted}{guess}")


def _mpe_games() -> list[str]:
    """Returns the names of the games in MPE2: its modules whose names end with a version."""
    modules = pkgutil.iter_modules(import_module("mpe2").__path__)
    return [module.name for module in modules if re.search(r"_v\d+$", module.name)]


def _plain(id: str) -> str:
    """Writes the version as `_v11`."""
    return re.sub(r"-v(\d+)$", r"_v\1", id)


def _short(id: str) -> str:
    """Removes the group."""
    return _plain(id).rpartition("/")[2]


def _install(name: str) -> str:
    """Returns the command that installs what an environment needs."""
    if name.startswith(f"{PREFIX}py:"):
        return "install that package"
    try:
        from pettingzoo import parallel_registry
    except ImportError:
        return install_hint(name)
    wanted = _short(name.removeprefix(PREFIX))
    groups = {_short(spec.id): spec.namespace for spec in parallel_registry.values()}
    group = groups.get(wanted, "mpe")
    return install_hint(name) if group in _INSTALLED else f"pip install 'pettingzoo[{group}]'"
