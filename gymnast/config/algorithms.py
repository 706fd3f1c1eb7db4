"""Looks up algorithms by name: the built-in ones, and user-defined classes, `py:package.module:Class`.

A user-defined class has an attribute `settings`, the section of its hyperparameters. It is registered when
its name is first used, and is then treated like a built-in algorithm.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from functools import lru_cache
from typing import Any, Literal

from pydantic import create_model

from gymnast.config.config import CONFIGS, Config, config_class, register_config
from gymnast.config.section import AlgoSection, Hyperparameters
from gymnast.config.sections import ALGORITHMS
from gymnast.config.target import CUSTOM_PREFIX
from gymnast.errors import CodeNotAllowed, ConfigError
from gymnast.import_object import import_user_code
from gymnast.text.suggestions import did_you_mean

REQUIRED_METHODS = ("update", "state", "memory", "load")
"""Methods that an algorithm must have; see the protocol `gymnast.algos.algorithm.Algorithm`."""


class CustomConfig(Config):
    """The config of a run with a user-defined algorithm."""

    def __reduce__(self) -> tuple[Callable[..., Config], tuple[str, Mapping[str, object]]]:
        # The evaluation process unpickles the config, and must register the algorithm there first.
        return _restore, (self.algo.name, self.model_dump(mode="json"))


def is_algorithm(name: str) -> bool:
    """True if this is the name of an algorithm. A user-defined class is not imported for this."""
    return name in ALGORITHMS or name.startswith(CUSTOM_PREFIX)


def config_type(name: str) -> type[Config]:
    """Returns the config class of an algorithm. Raises ConfigError if there is no such algorithm."""
    if name not in CONFIGS:
        if not name.startswith(CUSTOM_PREFIX):
            known = ", ".join([*ALGORITHMS, f"{CUSTOM_PREFIX}package.module:Class"])
            raise ConfigError(
                f"unknown algorithm {name} (known: {known}){did_you_mean(name, ALGORITHMS)}"
            )
        _register(name)
    return CONFIGS[name]


def stored_config_type(name: str, settings: Mapping[Any, object]) -> type[Config]:
    """Returns the config class for reading a stored config. A user-defined algorithm is not imported: its
    section has the stored settings as they are. `settings`: that section. Raises ConfigError for settings
    that no section can have."""
    if name in CONFIGS or not name.startswith(CUSTOM_PREFIX):
        return config_type(name)
    return _described(name, tuple(str(key) for key in settings if key != "name"))


@lru_cache(maxsize=64)
def _described(name: str, keys: tuple[str, ...]) -> type[Config]:
    taken = {*dir(AlgoSection), *Hyperparameters.__annotations__} - {"gamma", "n_steps"}
    for key in keys:
        if not key.isidentifier() or key.startswith(("_", "model_")) or key in taken:
            raise ConfigError(f"algo.{key} is not a setting that an algorithm can have")
    typed: dict[str, Any] = dict.fromkeys(keys, (Any, ...)) | {"name": (Literal[name], name)}
    required: dict[str, Any] = {key: (Any, None) for key in ("gamma", "n_steps") if key not in keys}
    section = create_model(
        "StoredConfig", __base__=AlgoSection, __module__=__name__, **typed, **required
    )
    return config_class(section, Config)


def _register(name: str) -> None:
    """Imports the class of a user-defined algorithm, `py:package.module:Class`, and adds it to ALGORITHMS and
    CONFIGS under this name. Raises ConfigError if the class cannot be imported, has no `settings`, lacks one
    of REQUIRED_METHODS, or if its settings lack a hyperparameter that their class of values requires."""
    path = name.removeprefix(CUSTOM_PREFIX)
    try:
        algorithm = import_user_code(path)
    except CodeNotAllowed:
        raise
    except Exception as problem:  # user code: importing it may raise anything
        raise ConfigError(
            f"algorithm {name} cannot be imported: {type(problem).__name__}: {problem}",
            fix="start gymnast in the directory that contains the module, or install its package",
        ) from problem
    settings = getattr(algorithm, "settings", None)
    if not (isinstance(settings, type) and issubclass(settings, AlgoSection)):
        fix = "add `settings = MyConfig` to the class, where MyConfig is a subclass of GradientSection"
        raise ConfigError(f"algorithm {name} does not declare its hyperparameters", fix=fix)
    if missing := [
        method for method in REQUIRED_METHODS if not callable(getattr(algorithm, method, None))
    ]:
        problem = f"algorithm {name} has no method {', '.join(missing)}"
        raise ConfigError(problem, fix=f"implement all of {', '.join(REQUIRED_METHODS)}")
    required = [f.name for f in fields(settings.hyperparameters) if f.default is MISSING]
    if absent := [field for field in required if field not in settings.model_fields]:
        fix = f"add them to {settings.__name__}, or derive it from GradientSection"
        raise ConfigError(f"algorithm {name} has no setting {', '.join(absent)}", fix=fix)
    # A stored config must name its class exactly, so that it can be loaded again.
    field: Any = (Literal[name], name)
    section = create_model(
        settings.__name__, __base__=settings, __module__=settings.__module__, name=field
    )
    # From here on every lookup (presets, --algo, config fmt) treats it like a built-in algorithm.
    ALGORITHMS[name] = (section, path)
    register_config(section, name, CustomConfig)


def _restore(name: str, values: Mapping[str, object]) -> Config:
    """Returns the config with these plain values, after registering its algorithm; used by pickle."""
    return config_type(name).model_validate(values)
