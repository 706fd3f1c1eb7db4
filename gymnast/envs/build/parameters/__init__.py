"""Parameters of environments that `env.randomize` can set before an episode.

A module of this package declares the parameters of the environments it knows. For any other
environment, every numeric attribute of the innermost environment is a parameter.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from importlib import import_module
from numbers import Real

from gymnast.errors import EnvError
from gymnast.text.suggestions import did_you_mean

KEY = "env.randomize"
Values = Mapping[str, float]


@dataclass(frozen=True)
class Parameters:
    """The parameters of one kind of environment, and how they are applied."""

    names: tuple[str, ...] = ()
    """Parameters that can be set; attributes of these names need not exist."""
    other_attributes: bool = True
    """Whether any other numeric attribute can be set too."""
    check: Callable[[object, Collection[str]], None] = lambda _env, _names: None
    """Called with the environment and the chosen names; raises EnvError for one that has no effect."""
    prepare: Callable[[object, Values], None] = lambda _env, _values: None
    """Called before the reset, once the values are set as attributes; updates what is derived from them."""
    set_initial_state: Callable[[object, Values], object] | None = None
    """Called after the reset to change the initial state; returns the new observation, None if unchanged."""
    non_attributes: tuple[str, ...] = ()
    """Names that `apply` does not set as attributes: `prepare` or `set_initial_state` uses their values."""


KNOWN = {
    "gymnast.envs.build.fast_step.lander:FastLunarLander": "lander",
    "gymnasium.envs.classic_control.cartpole:CartPoleEnv": "cartpole",
    "gymnasium.envs.mujoco.mujoco_env:MujocoEnv": "mujoco",
}
"""Class of an environment, or a base class of it -> module of this package that declares its
parameters."""


def parameters_of(env: object) -> Parameters:
    """Returns the declared parameters of the environment's class or its nearest known base class."""
    for kind in type(env).__mro__:
        module = KNOWN.get(f"{kind.__module__}:{kind.__qualname__}")
        if module is not None:
            return import_module(f"{__name__}.{module}").PARAMETERS
    return Parameters()


def refuse_unknown(name: str, env: object, wanted: Collection[str]) -> None:
    """Raises EnvError for a parameter that the environment does not have. `name`: the environment's name in
    messages."""
    known = parameters_of(env)
    attributes = numeric_attributes(env) if known.other_attributes else []
    every = list(dict.fromkeys([*known.names, *attributes]))
    for parameter in wanted:
        if parameter not in every:
            what = f"{name} has no parameter {parameter}{did_you_mean(parameter, every)}"
            fix = (
                f"use one of {', '.join(every)}"
                if every
                else "remove it: this environment has none"
            )
            raise EnvError(what, at=f"{KEY}.{parameter}", fix=fix)
    known.check(env, wanted)


def numeric_attributes(env: object) -> list[str]:
    """Returns the names of an environment's public numeric attributes, including those of its classes."""
    attributes = dict[str, object]()
    for kind in reversed(type(env).__mro__):  # base classes first, so that overrides win
        attributes |= vars(kind)
    attributes |= vars(env)
    return sorted(
        name for name, value in attributes.items() if not name.startswith("_") and _is_number(value)
    )


def apply(env: object, values: Values) -> None:
    """Sets the values, parameter -> value, on the innermost environment. To be called before the reset."""
    known = parameters_of(env)
    for name, value in values.items():
        if name not in known.non_attributes:
            setattr(env, name, value)
    known.prepare(env, values)


def _is_number(value: object) -> bool:
    """True for a number other than a bool."""
    return isinstance(value, Real) and not isinstance(value, bool)
