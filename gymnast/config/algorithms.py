"""Algorithms by name: shipped ones, and classes of the user's own, `py:package.module:Class`.

A class of the user's own has an attribute `settings`, the section of its hyperparameters. It is registered
when its name is first used, and is then an algorithm like any other.
"""

from __future__ import annotations

from typing import Any, Generic, Literal, TypeVar

from pydantic import create_model

from gymnast.config.config import CONFIGS, Config
from gymnast.config.section import AlgoSection
from gymnast.config.sections import ALGORITHMS
from gymnast.errors import ConfigError
from gymnast.imported import imported
from gymnast.text.closest import closest

OWN = "py:"
METHODS = ("update", "credit", "state", "memory", "load")
"""Methods that an algorithm must have: `gymnast.training.learner.Algorithm`."""
Own = TypeVar("Own", bound=AlgoSection)


class OwnConfig(Config[Own], Generic[Own]):
    """The config of an algorithm of the user's own."""

    def __reduce__(self) -> tuple[Any, ...]:
        # The evaluation process receives it, and has to register the algorithm before it can exist there.
        return _restored, (self.algo.name, self.model_dump(mode="json"))


def is_algorithm(name: str) -> bool:
    """Returns whether this names an algorithm, without importing a class of the user's own."""
    return name in ALGORITHMS or name.startswith(OWN)


def config_type(name: str) -> type[Config[Any]]:
    """Returns the config of an algorithm. Raises ConfigError if there is no such algorithm."""
    if name not in CONFIGS:
        if not name.startswith(OWN):
            known = ", ".join([*ALGORITHMS, f"{OWN}package.module:Class"])
            raise ConfigError(f"no algorithm {name} (known: {known}){closest(name, ALGORITHMS)}")
        _register(name)
    return CONFIGS[name]


def _register(name: str) -> None:
    path = name.removeprefix(OWN)
    try:
        found = imported(path)
    except Exception as problem:  # the module is the user's: anything may be raised while it loads
        raise ConfigError(
            f"algorithm {name} cannot be imported: {type(problem).__name__}: {problem}",
            fix="start gymnast in the directory that contains the module, or install its package",
        ) from problem
    settings = getattr(found, "settings", None)
    if not (isinstance(settings, type) and issubclass(settings, AlgoSection)):
        fix = "add `settings = MyConfig` to the class, where MyConfig is a subclass of GradientSection"
        raise ConfigError(f"algorithm {name} does not declare its hyperparameters", fix=fix)
    if missing := [method for method in METHODS if not callable(getattr(found, method, None))]:
        problem = f"algorithm {name} has no method {', '.join(missing)}"
        raise ConfigError(problem, fix=f"an algorithm has {', '.join(METHODS)}")
    # A stored config must name its class exactly, so that it can be loaded again.
    field: Any = (Literal[name], name)
    section = create_model(
        settings.__name__, __base__=settings, __module__=settings.__module__, name=field
    )
    ALGORITHMS[name] = (section, path)
    CONFIGS[name] = OwnConfig[section]


def _restored(name: str, values: dict[str, Any]) -> Config[Any]:
    return config_type(name).model_validate(values)
