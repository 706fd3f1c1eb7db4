"""From `pettingzoo/NAME` to a live environment. What goes wrong is said with its fix.

NAME is one that PettingZoo registers (`knights_archers_zombies_v11`), one of MPE2's
(`simple_spread_v3`), or `py:package.module` for a `parallel_env` of the user's own.
"""

from __future__ import annotations

import pkgutil
import re
from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from typing import Any

from gymnast.config.families import how_to_install
from gymnast.envs.build.make import unmade
from gymnast.errors import EnvError, NotInstalled
from gymnast.imported import imported
from gymnast.text.closest import closest

BEGINS = "pettingzoo/"
_INSTALLED = ("butterfly", "classic", "mpe", "sisl")
"""Groups of which our extra installs what their parallel environments need."""


def make_parallel(name: str, kwargs: Mapping[str, Any]) -> Any:
    """A fresh environment, one that can be drawn where it offers that."""
    try:
        make = _own(name) if name.startswith(f"{BEGINS}py:") else _theirs(name)
        try:
            return make(**{"render_mode": "rgb_array", **kwargs})
        except ImportError:
            raise
        except Exception:  # it may know no such mode; whatever else it was comes again
            return make(**kwargs)
    except EnvError:
        raise
    except ImportError as problem:
        raise NotInstalled(f"{name}: {problem}", fix=_install(name)) from None
    except TypeError as problem:
        what = f"{name} does not take env.kwargs {dict(kwargs)}: {problem}"
        raise EnvError(what) from problem
    except Exception as problem:
        raise unmade(name, problem) from problem


def _own(name: str) -> Callable[..., Any]:
    """`py:package.module` or `py:package.module:function`, found from the working directory too."""
    module, _, function = name.removeprefix(f"{BEGINS}py:").partition(":")
    try:
        return imported(f"{module}:{function or 'parallel_env'}")
    except (ImportError, AttributeError, ValueError) as problem:
        raise EnvError(f"{name} cannot be imported: {problem}") from None


def _theirs(name: str) -> Callable[..., Any]:
    """With its group or without, its version written `_v11` or `-v11`."""
    from pettingzoo import aec_registry, parallel_registry

    wanted = _plain(name.removeprefix(BEGINS))
    for spec in parallel_registry.values():
        if wanted in (_plain(spec.id), _short(spec.id)):
            make: Any = spec.entry_point
            return partial(imported(make) if isinstance(make, str) else make, **spec.kwargs)
    if wanted.removeprefix("mpe/") in (games := _mpe_games()):
        return import_module(f"mpe2.{wanted.removeprefix('mpe/')}").parallel_env
    if wanted in {form for id in aec_registry for form in (_plain(id), _short(id))}:
        what = f"{name}: its agents move in turns, and here all agents have to move at once"
        raise EnvError(what, fix="choose one that PettingZoo lists with a parallel API")
    guess = closest(wanted, [*map(_short, parallel_registry), *games])
    raise EnvError(f"{name}: PettingZoo has no {wanted}{guess}")


def _mpe_games() -> list[str]:
    found = pkgutil.iter_modules(import_module("mpe2").__path__)
    return [module.name for module in found if re.search(r"_v\d+$", module.name)]


def _plain(id: str) -> str:
    return re.sub(r"-v(\d+)$", r"_v\1", id)


def _short(id: str) -> str:
    return _plain(id).rpartition("/")[2]


def _install(name: str) -> str:
    if name.startswith(f"{BEGINS}py:"):
        return "install that package"
    try:
        from pettingzoo import parallel_registry
    except ImportError:
        return how_to_install(name)
    wanted = _short(name.removeprefix(BEGINS))
    groups = {_short(spec.id): spec.namespace for spec in parallel_registry.values()}
    group = groups.get(wanted, "mpe")
    return how_to_install(name) if group in _INSTALLED else f"pip install 'pettingzoo[{group}]'"
