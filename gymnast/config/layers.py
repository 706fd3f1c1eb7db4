"""Values from several places, the later ones on top: default < preset < variant < --set.

Layers are compared leaf by leaf, so each value knows which layer it came from. A leaf is a field
of a section or an entry of an open mapping such as `env.kwargs`; a schedule written as a mapping
is one leaf, replaced whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, get_args, get_origin

from pydantic import BaseModel

from gymnast.config.problems import Key
from gymnast.config.section import DottedKey
from gymnast.config.source import Source

Branches = dict[str, "Branches"]
"""The keys that hold further keys."""
EACH = "*"
"""Stands for every key where names are the user's own: of tasks, terms, metrics."""
DOTTED = "."
"""Stands for the keys of settings, `algo.lr`: whether --set gives them or a file, each is one name."""


@dataclass(frozen=True)
class Layer:
    source: Source
    data: Mapping[Any, Any]
    base: Key = ()
    """Where in the source the data sits: ("variants", "ppo")."""

    @classmethod
    def of(cls, data: Mapping[Any, Any], name: str) -> Layer:
        """A layer that no file holds."""
        return cls(Source(name, data), data)

    def at(self, path: Key) -> str:
        return self.source.at((*self.base, *path))

    def origin(self, path: Key) -> str:
        """Where a value came from, for the reader of `config show`."""
        variant = f"variant {self.base[1]}, " if self.base else ""
        return f"{variant}{self.at(path)}"


Leaves = dict[Key, tuple[Any, Layer]]


def merge(layers: list[Layer], model: type[BaseModel]) -> Leaves:
    leaves: Leaves = {}
    for layer in layers:
        for path, value in flatten(layer.data, branches(model)):
            shadowed = [p for p in leaves if p[: len(path)] == path]
            if value == {} and any(len(p) > len(path) for p in shadowed):
                continue  # a name of which nothing more is set
            for gone in shadowed:
                del leaves[gone]
            leaves[path] = (value, layer)
    return leaves


def nest(leaves: Leaves) -> dict[str, Any]:
    """Back to a tree. A value where a section should be stays, to be refused by name."""
    tree: dict[str, Any] = {}
    for path, (value, _) in leaves.items():
        at: Any = tree
        for part in path[:-1]:
            at = at.setdefault(part, {}) if isinstance(at, dict) else None
        if isinstance(at, dict):
            at[path[-1]] = value
    return tree


def flatten(data: Mapping[Any, Any], shape: Branches, path: Key = ()) -> Iterator[tuple[Key, Any]]:
    for key, value in data.items():
        inner = (*path, str(key))
        below = shape.get(str(key), shape.get(EACH))
        if DOTTED in shape and isinstance(value, Mapping) and value:
            for name, setting in value.items():
                yield from flatten({f"{key}.{name}": setting}, shape, path)
        elif below is None or not isinstance(value, Mapping):
            yield inner, value
        elif not value and EACH in shape:
            yield inner, {}  # a name of which nothing is set
        else:
            yield from flatten(value, below, inner)


def holds_keys(path: Key, model: type[BaseModel]) -> bool:
    """Whether a key holds further keys: a section, or an open mapping such as `env.kwargs`. A name of
    the user's own does not count: `{}` for it is an entry with defaults."""
    shape, named = branches(model), False
    for part in path:
        named = part not in shape
        below = shape.get(str(part), shape.get(EACH))
        if below is None:
            return False
        shape = below
    return not named


@cache
def branches(model: type[BaseModel]) -> Branches:
    found: Branches = {}
    for name, field in model.model_fields.items():
        kind = field.annotation
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            found[name] = branches(kind)
        elif get_origin(kind) is dict:
            key, each = get_args(kind)
            named = isinstance(each, type) and issubclass(each, BaseModel)
            found[name] = {EACH: branches(each)} if named else {}
            if key == DottedKey:
                found[name] = {DOTTED: {}}
    return found
