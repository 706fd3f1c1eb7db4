"""What can be changed about an environment between two episodes, and how each change is made.

An environment that a module here knows has that module's parameters beside its attributes. Of any
other, a number that is an attribute of the innermost environment is a parameter.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from importlib import import_module
from numbers import Real
from typing import Any

from gymnast.errors import EnvError
from gymnast.text.closest import closest

KEY = "env.randomize"
Values = Mapping[str, float]


@dataclass(frozen=True)
class Parameters:
    """Of one kind of environment."""

    names: tuple[str, ...] = ()
    """What can be set; attributes of these names need not exist."""
    other_attributes: bool = True
    """Whether any other number among its attributes can be set too."""
    check: Callable[[Any, Collection[str]], None] = lambda _env, _names: None
    """Refuses, as an EnvError, what would have no effect."""
    prepare: Callable[[Any, Values], None] = lambda _env, _values: None
    """Before the reset: whatever must follow from the values, which are attributes by now."""
    start: Callable[[Any, Values], Any] | None = None
    """After the reset: begin elsewhere; what is seen there, None where nothing was moved."""
    at_start: tuple[str, ...] = ()
    """Those of the names that are not attributes but are for `start`."""


KNOWN = {
    "gymnast.envs.build.fast_step.lander:FastLunarLander": "lander",
    "gymnasium.envs.classic_control.cartpole:CartPoleEnv": "cartpole",
    "gymnasium.envs.mujoco.mujoco_env:MujocoEnv": "mujoco",
}
"""An environment's class, or one it is derived from -> the module here that knows it."""


def parameters_of(env: Any) -> Parameters:
    for kind in type(env).__mro__:
        module = KNOWN.get(f"{kind.__module__}:{kind.__qualname__}")
        if module is not None:
            return import_module(f"{__name__}.{module}").PARAMETERS
    return Parameters()


def refuse_unknown(name: str, env: Any, wanted: Collection[str]) -> None:
    """`name`: the environment's, for people."""
    known = parameters_of(env)
    attributes = attributes_of(env) if known.other_attributes else []
    every = list(dict.fromkeys([*known.names, *attributes]))
    for parameter in wanted:
        if parameter not in every:
            what = f"{name} has no parameter {parameter}{closest(parameter, every)}"
            fix = f"use one of {', '.join(every)}" if every else "it has none that can be set"
            raise EnvError(what, at=f"{KEY}.{parameter}", fix=fix)
    known.check(env, wanted)


def attributes_of(env: Any) -> list[str]:
    """Names of the numbers that an environment keeps as attributes of its own or of its class."""
    held = dict[str, Any]()
    for kind in reversed(type(env).__mro__):
        held |= vars(kind)
    held |= vars(env)
    return sorted(name for name, value in held.items() if not name.startswith("_") and _is(value))


def apply(env: Any, values: Values) -> None:
    """Before the reset."""
    known = parameters_of(env)
    for name, value in values.items():
        if name not in known.at_start:
            setattr(env, name, value)
    known.prepare(env, values)


def _is(value: Any) -> bool:
    """A plain number, which a drawn one may replace."""
    return isinstance(value, Real) and not isinstance(value, bool)
