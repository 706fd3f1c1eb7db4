"""Merges layers of settings; later layers take precedence: default < preset < variant < --set.

Layers are merged leaf by leaf, so that the origin of each value is known. A leaf is a field of a section or
an entry of an open mapping such as `env.kwargs`. A schedule written as a mapping is a single leaf: it is
replaced, not merged.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import get_args, get_origin

from pydantic import BaseModel

from gymnast.config.plain_value import PlainMapping, PlainValue
from gymnast.config.problems import Key
from gymnast.config.section import DottedKey
from gymnast.config.source import Source

Branches = dict[str, "Branches"]
"""The schema reduced to the keys that contain further keys."""
ANY_KEY = "*"
"""Stands for any key of a mapping with user-chosen names: tasks, shaping terms, metrics."""
DOTTED_KEYS = "."
"""Stands for mappings whose keys are dotted names of settings: `algo.lr` is one key, not a path."""


@dataclass(frozen=True)
class Layer:
    source: Source
    data: PlainMapping
    base: Key = ()
    """Path of the data within the source: ("variants", "ppo")."""

    @classmethod
    def from_data(cls, data: PlainMapping, name: str) -> Layer:
        """Returns a layer that does not come from a file."""
        return cls(Source(name, data), data)

    def location(self, path: Key) -> str:
        """Returns `file:line` of a key of this layer."""
        return self.source.location((*self.base, *path))

    def origin(self, path: Key) -> str:
        """Returns the origin of a value, as `gymnast config show` prints it."""
        variant = f"variant {self.base[1]}, " if self.base else ""
        return f"{variant}{self.location(path)}"


Leaves = dict[Key, tuple[PlainValue, Layer]]


def merge(layers: list[Layer], model: type[BaseModel]) -> Leaves:
    """Returns path -> (value, layer it came from), for all leaves that any layer sets."""
    leaves: Leaves = {}
    for layer in layers:
        for path, value in flatten(layer.data, branches(model)):
            # A later leaf also replaces everything below its path, if it is a plain value for a section.
            overridden = [p for p in leaves if p[: len(path)] == path]
            if value == {} and any(len(p) > len(path) for p in overridden):
                continue  # an entry without settings must not delete those of lower layers
            for old_path in overridden:
                del leaves[old_path]
            leaves[path] = (value, layer)
    return leaves


def nest(leaves: Leaves) -> dict[str, PlainValue]:
    """Returns the leaves as a nested dict. A plain value in the place of a section is kept, so that
    validation can report it."""
    tree: dict[str, PlainValue] = {}
    for path, (value, _) in leaves.items():
        at: PlainValue = tree
        for part in path[:-1]:
            at = at.setdefault(str(part), {}) if isinstance(at, dict) else None
        if isinstance(at, dict):
            at[str(path[-1])] = value
    return tree


def flatten(
    data: PlainMapping, shape: Branches, path: Key = ()
) -> Iterator[tuple[Key, PlainValue]]:
    """Yields (path, value) for every leaf of nested settings. `shape`: the keys that contain further keys,
    from `branches`; `path`: the path of `data` itself."""
    for key, value in data.items():
        inner = (*path, str(key))
        below = shape.get(str(key), shape.get(ANY_KEY))
        if DOTTED_KEYS in shape and isinstance(value, Mapping) and value:
            # {algo: {lr: x}} and {algo.lr: x} are the same key; --set produces the nested form.
            for name, setting in value.items():
                yield from flatten({f"{key}.{name}": setting}, shape, path)
        elif below is None or not isinstance(value, Mapping):
            yield inner, value
        elif not value and ANY_KEY in shape:
            yield inner, {}  # an entry without settings of its own: all defaults
        else:
            yield from flatten(value, below, inner)


def has_subkeys(path: Key, model: type[BaseModel]) -> bool:
    """True if a key contains further keys: a section, or an open mapping such as `env.kwargs`. User-chosen
    names do not count, because `{}` is a valid entry for them (all defaults)."""
    shape, named = branches(model), False  # named: the last part is a user-chosen name
    for part in path:
        named = part not in shape
        below = shape.get(str(part), shape.get(ANY_KEY))
        if below is None:
            return False
        shape = below
    return not named


@cache
def branches(model: type[BaseModel]) -> Branches:
    """Returns the keys of a model that contain further keys, recursively."""
    tree: Branches = {}
    for name, field in model.model_fields.items():
        kind = field.annotation
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            tree[name] = branches(kind)
        elif get_origin(kind) is dict:
            key, each = get_args(kind)
            named = isinstance(each, type) and issubclass(each, BaseModel)
            tree[name] = {ANY_KEY: branches(each)} if named else {}
            if key == DottedKey:
                tree[name] = {DOTTED_KEYS: {}}
    return tree
