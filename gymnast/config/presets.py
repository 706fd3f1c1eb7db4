"""Preset files: where they are, what they are called, what a variant is made of.

One YAML per environment, named after its id with `/` as `__`, or freely with `env: {id: ...}` in it:

    facts: {...}            # what the environment declares
    default: ppo            # the variant that the bare name means
    space_defaults: off     # complete as it is: no defaults chosen by the environment's spaces
    stop: {...}             # sections shared by every variant
    variants:
      ppo: {algo: {...}}    # named after an algorithm: implies it
      wide: {extends: ppo, policy: {hidden: [256, 256]}}
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from gymnast.config.algorithms import OWN, is_algorithm
from gymnast.config.families import OTHERS, YOURS, family_of
from gymnast.config.layers import Layer
from gymnast.config.numbers import parse_switch
from gymnast.config.problems import Problem, Refused
from gymnast.config.sections import ALGORITHMS
from gymnast.config.source import Source
from gymnast.config.versions import highest_version, without_version
from gymnast.errors import ConfigError
from gymnast.text.closest import closest

SHIPPED = Path(__file__).parent.parent / "presets"
STRUCTURE = ("default", "space_defaults", "variants")
"""Keys of a file that are about the file; all others are settings."""
_CLASS = ("py", "pettingzoo/py")
"""How the name of an environment begins that is a class."""
_CHECKPOINT = re.compile(r"best|latest|\d+(\.\d+)?[kMG]?")


@dataclass(frozen=True)
class Preset:
    name: str
    """The environment's id, or the file's."""
    path: Path | None = None
    """None: no file; every value is the default."""

    @property
    def shipped(self) -> bool:
        return self.path is not None and self.path.parent == SHIPPED

    @property
    def hides_shipped(self) -> bool:
        """Whether a preset that ships with gymnast has the same name, and is not used."""
        return not self.shipped and (SHIPPED / _file_name(self.name)).is_file()

    @cached_property
    def source(self) -> Source:
        if self.path is None:
            return Source(self.name, {})
        label = self.path.name if self.shipped else os.path.relpath(self.path)
        try:
            text = self.path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise Refused([Problem(label, "", f"cannot be read as text: {error}")]) from None
        source = Source.read(text, label)
        if not isinstance(source.data, dict):
            raise Refused([Problem(label, "", "is not a preset (expected `key: value` lines)")])
        return source

    @property
    def env_id(self) -> str:
        """The environment it is for: named in the file, or by the file."""
        try:
            env = self.source.data.get("env")
        except Refused:  # said when it is used
            return self.name
        return str(env["id"]) if isinstance(env, dict) and "id" in env else self.name

    @property
    def own(self) -> dict[str, dict]:
        """The variants the file defines."""
        variants = self.source.data.get("variants")
        variants = variants if isinstance(variants, dict) else {}
        return {
            str(name): layer if isinstance(layer, dict) else {} for name, layer in variants.items()
        }

    @property
    def variants(self) -> list[str]:
        """Every variant that may be asked for: an algorithm that the file does not define needs actions
        that it can learn, which only the environment knows."""
        return [*self.own, *(name for name in ALGORITHMS if name not in self.own)]

    def has_variant(self, name: str) -> bool:
        return name in self.variants or is_algorithm(name)

    @property
    def listed(self) -> list[str]:
        """Variants that are known to work: those the file defines, and its default."""
        return list(dict.fromkeys((*self.own, self.default)))

    @property
    def default(self) -> str:
        return str(self.source.data.get("default", next(iter(ALGORITHMS))))

    @property
    def space_defaults(self) -> bool:
        """Whether it is layered on top of the defaults chosen by the environment's spaces. Only a file
        that says `space_defaults: off` is not, so that declaring one value never drops the others."""
        try:
            return parse_switch(self.source.data.get("space_defaults", True))
        except ValueError:  # reported by problems()
            return True

    def chain(self, variant: str) -> list[str]:
        """From the algorithm's own variant down to this one."""
        if not self.has_variant(variant):
            known = ", ".join(self.listed)
            guess = closest(variant, self.variants)
            at = self.source.at(()) if self.path else ""
            text = f"{self.name} has no variant {variant} (known: {known}){guess}"
            raise Refused([Problem(at, "", text)])
        chain = [variant]
        while (parent := self.own.get(chain[0], {}).get("extends")) is not None:
            if not self.has_variant(str(parent)) or parent in chain:
                break  # said by problems()
            chain.insert(0, str(parent))
        return chain

    def layers(self, variant: str) -> list[Layer]:
        shared = {k: v for k, v in self.source.data.items() if k not in STRUCTURE}
        found = [Layer(self.source, shared)]
        for name in self.chain(variant):
            own = {k: v for k, v in self.own.get(name, {}).items() if k != "extends"}
            found.append(Layer(self.source, own, base=("variants", name)))
        return found

    def problems(self) -> list[Problem]:
        """What is wrong with the file's own structure; values are checked when resolved."""
        return [*self.source.repeated, *self._structure()]

    def _structure(self) -> Iterator[Problem]:
        def problem(text: str, *path: str) -> Problem:
            return Problem(self.source.at(path), ".".join(path), text)

        data, known = self.source.data, ", ".join(self.variants)
        if not data and self.path is not None:
            yield problem("is empty (a preset declares facts, settings or variants)")
        if "algo" in data:
            yield problem("belongs into a variant (an algorithm's settings are its own)", "algo")
        if not self.has_variant(self.default):
            guess = closest(self.default, self.variants)
            yield problem(f"no variant {self.default} (known: {known}){guess}", "default")
        try:
            parse_switch(data.get("space_defaults", True))
        except ValueError as error:
            yield problem(str(error), "space_defaults")
        if not isinstance(data.get("variants", {}), dict):
            yield problem("expected `name: settings` lines", "variants")
        for name, layer in self.own.items():
            parent = layer.get("extends")
            at = ("variants", name)
            if not isinstance(data["variants"].get(name, {}), dict):
                yield problem("expected a section", *at)
            if _CHECKPOINT.fullmatch(name):
                yield problem("names a checkpoint, so it cannot name a variant", *at)
            elif is_algorithm(name) and parent is not None:
                yield problem("an algorithm's own variant extends nothing", *at, "extends")
            elif not is_algorithm(name) and parent is None:
                yield problem("says no algorithm (add `extends: ppo`, or another variant)", *at)
            elif parent is not None and not self.has_variant(str(parent)):
                guess = closest(str(parent), self.variants)
                yield problem(f"no variant {parent} (known: {known}){guess}", *at, "extends")
            elif self._is_circular(name):
                yield problem("goes round in a circle", *at, "extends")
            if isinstance(layer.get("algo"), dict) and "name" in layer["algo"]:
                yield problem("is implied by the variant (leave it out)", *at, "algo", "name")

    def _is_circular(self, variant: str) -> bool:
        chain = self.chain(variant)
        return self.own.get(chain[0], {}).get("extends") in chain


def directories() -> list[Path]:
    """Where presets are looked for, nearest first: GYMNAST_PRESETS, ./presets, those shipped."""
    given = [Path(p) for p in os.environ.get("GYMNAST_PRESETS", "").split(os.pathsep) if p]
    return [*given, Path("presets"), SHIPPED]


def all_presets() -> dict[str, Preset]:
    """Name -> preset, in order of name; a nearer file hides one further away."""
    found: dict[str, Preset] = {}
    for directory in reversed(directories()):
        for path in directory.glob("*.yaml"):
            name = path.stem.replace("__", "/")
            found[name] = Preset(name, path)
    return dict(sorted(found.items()))


def find(name: str) -> Preset:
    """The preset of this name or, where it names no version, of the highest version that has one; or
    a preset without a file, whose every value is the default."""
    for directory in directories():
        path = directory / _file_name(name)
        if path.is_file():
            return Preset(name, path)
    if (
        name.partition(":")[0] in _CLASS
    ):  # it has no file name of its own: some preset may be for it
        meant = (p for p in all_presets().values() if not p.shipped and p.env_id == name)
        return next(meant, Preset(name))
    if without_version(name) == name:
        every = all_presets()
        latest = highest_version(name, every)
        return every[latest] if latest else Preset(name)
    return Preset(name)


def variants(name: str) -> list[str]:
    return find(name).variants


def search(text: str = "") -> list[Preset]:
    """Presets whose name or a variant's contains the text, or else comes close to it."""
    every = all_presets()
    low = text.lower()
    hits = [p for p in every.values() if low in p.name.lower() or low in p.own]
    if hits:
        return hits
    from difflib import SequenceMatcher

    def likeness(name: str) -> float:
        return SequenceMatcher(None, low, name.lower().split("-v")[0]).ratio()

    ranked = sorted(every.values(), key=lambda p: -likeness(p.name))
    return [p for p in ranked if likeness(p.name) > 0.5]


def described(preset: Preset) -> dict[str, Any]:
    """What a listing says about a preset, as the file has it."""
    facts = preset.source.data.get("facts")
    facts = facts if isinstance(facts, dict) else {}
    published = facts.get("published")
    scores = [x for x in published if _has_score(x)] if isinstance(published, list) else []
    family = family_of(preset.env_id)
    return {
        "name": preset.name,
        "family": (family.name if family else OTHERS) if preset.shipped else YOURS,
        "default": preset.default,
        "variants": preset.listed,
        **{fact: facts.get(fact, "off") for fact in ("threshold", "optimum", "source")},
        "published": max(scores, key=lambda entry: entry["score"], default=None),
        "path": str(preset.path),
        "shipped": preset.shipped,
    }


def _file_name(name: str) -> str:
    return f"{name.replace('/', '__')}.yaml"


def _has_score(entry: Any) -> bool:
    return isinstance(entry, dict) and isinstance(entry.get("score"), int | float)


def split(target: str) -> tuple[str, str | None]:
    """`ENV[:variant]` -> (env, variant or None). `[pettingzoo/]py:package.module:Class[:variant]` too.
    The variant may be an algorithm of the user's own: `ENV:py:package.module:Class`."""
    name, separator, algorithm = target.partition(f":{OWN}")
    if separator:
        return name, f"{OWN}{algorithm}"
    head, separator, rest = target.partition(":")
    if head in _CLASS and separator:
        module, _, tail = rest.partition(":")
        name, _, variant = tail.partition(":")
        # a module of PettingZoo's kind need not name its function
        own = name or not head.startswith("pettingzoo/")
        return f"{head}:{module}:{name}" if own else f"{head}:{module}", variant or None
    name, _, variant = target.rpartition(":") if separator else (target, "", "")
    if not name:
        raise ConfigError(f"`{target}` names no environment (expected ENV or ENV:variant)")
    if _CHECKPOINT.fullmatch(variant):
        raise ConfigError(f"`{variant}` is a checkpoint of a run, not a variant of {name}")
    return name, variant or None
