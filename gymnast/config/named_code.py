"""Settings that name Python code to import, a file for an environment, or a directory to write to.

Who starts a training by hand may name any code. Settings that come from elsewhere (a request to a server, a
W&B sweep, a program that proposes settings) are searched for it first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from gymnast.config.presets import find_preset
from gymnast.config.problems import InvalidConfig
from gymnast.config.target import split_target
from gymnast.errors import ConfigError

_PREFIX = re.compile(r"(^|[:/=\s\"'\[{,])py:")
"""`py:` at a place where it may start the path of a class."""
WRITES_PATHS = ("traces.data",)
"""Settings that name a directory to write to."""
_OFF = (None, False, "", "off", "none", "null", "no", "false")
"""Values of a setting that name nothing."""


def untrusted_settings(values: object) -> Iterator[str]:
    """Yields `key: value` for every setting, nested or dotted, that only the user of this machine may
    choose."""
    yield from code_in(values)
    yield from _paths_in(values)


def code_in(values: object) -> Iterator[str]:
    """Yields `key: value` for every setting that names code to import, in nested or dotted settings."""
    yield from (key if name == key else f"{key}: {name}" for key, name in _code(values))


def code_names(values: object) -> Iterator[str]:
    """Yields the names of the code, without the keys of the settings, in nested or dotted settings."""
    yield from (name for _, name in _code(values))


def _code(values: object, key: str = "") -> Iterator[tuple[str, str]]:
    """Yields (key, value) of every setting that names code; for a key that does, (key, key)."""
    if isinstance(values, Mapping):
        for name, value in values.items():  # pyright: ignore[reportUnknownVariableType]
            inner = f"{key}.{name}" if key else str(name)  # pyright: ignore[reportUnknownArgumentType]
            if _PREFIX.search(str(name)):  # pyright: ignore[reportUnknownArgumentType]
                yield inner, inner
            yield from _code(value, inner)
    elif isinstance(values, Sequence) and not isinstance(values, str):
        for value in values:
            yield from _code(value, key)
    elif _names_code(key.split("."), values):
        yield key, str(values)


def code_of_target(target: str) -> Iterator[str]:
    """Yields the code that an environment id, an algorithm or their preset names."""
    if _PREFIX.search(target):
        yield target
        return
    try:
        env, _ = split_target(target)
    except ConfigError:
        return  # a run with a checkpoint
    if ":" in env:
        yield target
    try:
        yield from code_in(find_preset(env).data)
    except (InvalidConfig, OSError):
        return  # the operation reports it


def _names_code(key: Sequence[str], value: object) -> bool:
    """Returns whether a setting names code, a file for an environment, or a Ray cluster, whose answers Ray
    unpickles. `key`: the parts of its key."""
    if key[-1] == "module":
        return value not in _OFF
    if [*key[-2:]] == ["collect", "address"]:
        return value != "local"
    if not isinstance(value, str):
        return False
    if "kwargs" in key and ("/" in value or "\\" in value):
        return True  # e.g. the model file of a MuJoCo environment
    # Gymnasium imports the module of `module:Env-v0`.
    return _PREFIX.search(value) is not None or (key[-1] == "id" and ":" in value)


def _paths_in(values: object, key: str = "") -> Iterator[str]:
    """Yields `key: value` for every setting that names a directory to write to. Those of stored configs were
    chosen by whoever started the run."""
    if isinstance(values, Mapping):
        for name, value in values.items():  # pyright: ignore[reportUnknownVariableType]
            yield from _paths_in(value, f"{key}.{name}" if key else str(name))  # pyright: ignore[reportUnknownArgumentType]
    elif isinstance(values, Sequence) and not isinstance(values, str):
        for value in values:
            yield from _paths_in(value, key)
    elif key in WRITES_PATHS and values not in _OFF:
        yield f"{key}: {values}"
