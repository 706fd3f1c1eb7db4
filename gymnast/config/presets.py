"""Preset files: where they are found, how they are named, and the layers that make up a variant.

There is one YAML file per environment, named after its id with `__` for `/`. A file with `env: {id: ...}`
may have any name:

    facts: {...}            # known facts about the environment
    default: ppo            # the variant that the bare name refers to
    space_defaults: off     # do not add defaults chosen by the environment's spaces
    stop: {...}             # sections shared by every variant
    variants:
      ppo: {algo: {...}}    # a variant named after an algorithm uses that algorithm
      wide: {extends: ppo, policy: {hidden: [256, 256]}}
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

from gymnast.config.algorithms import is_algorithm
from gymnast.config.layers import Layer
from gymnast.config.numbers import parse_switch
from gymnast.config.plain_value import PlainMapping
from gymnast.config.problems import InvalidConfig, Problem
from gymnast.config.sections import ALGORITHMS
from gymnast.config.source import Source
from gymnast.config.target import CHECKPOINT, CLASS_PREFIXES
from gymnast.config.versions import highest_version, without_version
from gymnast.text.suggestions import did_you_mean

BUILTIN_DIR = Path(__file__).parent.parent / "presets"
STRUCTURE_KEYS = ("default", "space_defaults", "variants")
"""Keys that describe the preset file itself; all others are settings."""


@dataclass(frozen=True)
class Preset:
    name: str
    """The environment's id, or the name of the file."""
    path: Path | None = None
    """None: there is no file, so every value is the default."""

    @property
    def is_builtin(self) -> bool:
        return self.path is not None and self.path.parent == BUILTIN_DIR

    @property
    def shadows_builtin(self) -> bool:
        """True if this preset hides one of the same name that ships with gymnast."""
        return not self.is_builtin and (BUILTIN_DIR / _file_name(self.name)).is_file()

    @cached_property
    def source(self) -> Source:
        """The content of the file, `{}` without one. Raises InvalidConfig if it cannot be read or is not a
        YAML mapping."""
        if self.path is None:
            return Source(self.name, {})
        label = self.path.name if self.is_builtin else os.path.relpath(self.path)
        try:
            text = self.path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise InvalidConfig([Problem(label, "", f"cannot be read as text: {error}")]) from None
        source = _parse(text, label)
        if not isinstance(source.data, dict):
            raise InvalidConfig(
                [Problem(label, "", "is not a preset (expected `key: value` lines)")]
            )
        return source

    @property
    def data(self) -> PlainMapping:
        """The content of the file as plain values. Raises InvalidConfig like `source`."""
        data = self.source.data
        assert isinstance(data, dict)  # `source` raises for anything else
        return data

    @property
    def env_id(self) -> str:
        """Id of the environment, from the file's content or else its name."""
        try:
            env = self.data.get("env")
        except InvalidConfig:  # reported when the preset is resolved
            return self.name
        return str(env["id"]) if isinstance(env, dict) and "id" in env else self.name

    @property
    def own_variants(self) -> dict[str, PlainMapping]:
        """Variants that the file defines: name -> settings."""
        variants = self.data.get("variants")
        variants = variants if isinstance(variants, dict) else {}
        return {
            str(name): layer if isinstance(layer, dict) else {} for name, layer in variants.items()
        }

    @property
    def variants(self) -> list[str]:
        """All variants that may be requested. Every algorithm is one, although an algorithm that the file
        does not define may not support the action space; that is only known once the environment is
        created."""
        return [*self.own_variants, *(name for name in ALGORITHMS if name not in self.own_variants)]

    def has_variant(self, name: str) -> bool:
        return name in self.variants or is_algorithm(name)

    @property
    def defined_variants(self) -> list[str]:
        """The variants that the file defines, or else its default: these are known to work."""
        return list(self.own_variants) or [self.default_variant]

    @property
    def listed_variants(self) -> list[str]:
        """Variants shown in listings: the ones that the file defines, and its default."""
        return list(dict.fromkeys((*self.own_variants, self.default_variant)))

    @property
    def default_variant(self) -> str:
        return str(self.data.get("default", next(iter(ALGORITHMS))))

    @property
    def space_defaults(self) -> bool:
        """True if defaults chosen by the environment's spaces belong below this preset. Only
        `space_defaults: off` in the file disables them, so that setting one value never drops the other
        defaults."""
        try:
            return parse_switch(self.data.get("space_defaults", True))
        except ValueError:  # reported by problems()
            return True

    def extends_chain(self, variant: str) -> list[str]:
        """Returns the chain of variants that `extends` builds, from the algorithm's variant to this one. It
        ends early at an unknown or circular `extends`. Raises InvalidConfig if the variant is unknown."""
        if not self.has_variant(variant):
            known = ", ".join(self.listed_variants)
            guess = did_you_mean(variant, self.variants)
            at = self.source.location(()) if self.path else ""
            text = f"{self.name} has no variant {variant} (known: {known}){guess}"
            raise InvalidConfig([Problem(at, "", text)])
        chain = [variant]
        while (parent := self.own_variants.get(chain[0], {}).get("extends")) is not None:
            if not self.has_variant(str(parent)) or parent in chain:
                break  # unknown or circular: reported by problems()
            chain.insert(0, str(parent))
        return chain

    def layers(self, variant: str) -> list[Layer]:
        """Returns the layers of a variant, lowest first: shared sections, then the chain of variants."""
        shared = {k: v for k, v in self.data.items() if k not in STRUCTURE_KEYS}
        layers = [Layer(self.source, shared)]
        for name in self.extends_chain(variant):
            own = {k: v for k, v in self.own_variants.get(name, {}).items() if k != "extends"}
            layers.append(Layer(self.source, own, base=("variants", name)))
        return layers

    def problems(self) -> list[Problem]:
        """Returns mistakes in the structure of the file; values are validated when it is resolved."""
        return [*self.source.duplicate_keys, *self._structure()]

    def _structure(self) -> Iterator[Problem]:
        """Yields the mistakes in the keys that describe the file itself: an empty file, `algo` outside of a
        variant, an unknown default variant, and variants with a forbidden name or a wrong `extends`."""

        def problem(text: str, *path: str) -> Problem:
            return Problem(self.source.location(path), ".".join(path), text)

        data, known = self.data, ", ".join(self.variants)
        if not data and self.path is not None:
            yield problem("is empty (a preset declares facts, settings or variants)")
        if "algo" in data:
            yield problem(
                "belongs in a variant (hyperparameters differ between algorithms)", "algo"
            )
        if not self.has_variant(self.default_variant):
            guess = did_you_mean(self.default_variant, self.variants)
            yield problem(
                f"unknown variant {self.default_variant} (known: {known}){guess}", "default"
            )
        try:
            parse_switch(data.get("space_defaults", True))
        except ValueError as error:
            yield problem(str(error), "space_defaults")
        variants = data.get("variants", {})
        if not isinstance(variants, dict):
            yield problem("expected `name: settings` lines", "variants")
            variants = {}
        for name, layer in self.own_variants.items():
            parent = layer.get("extends")
            at = ("variants", name)
            if not isinstance(variants.get(name, {}), dict):
                yield problem("expected a section", *at)
            if CHECKPOINT.fullmatch(name):
                yield problem("names a checkpoint, so it cannot name a variant", *at)
            elif is_algorithm(name) and parent is not None:
                yield problem(
                    "a variant named after an algorithm cannot extend another", *at, "extends"
                )
            elif not is_algorithm(name) and parent is None:
                yield problem("names no algorithm (add `extends: ppo`, or another variant)", *at)
            elif parent is not None and not self.has_variant(str(parent)):
                guess = did_you_mean(str(parent), self.variants)
                yield problem(f"unknown variant {parent} (known: {known}){guess}", *at, "extends")
            elif self._is_circular(name):
                yield problem("is circular", *at, "extends")
            algo = layer.get("algo")
            if isinstance(algo, dict) and "name" in algo:
                yield problem("is implied by the variant (leave it out)", *at, "algo", "name")

    def _is_circular(self, variant: str) -> bool:
        """True if the `extends` chain of a variant returns to one of its own members."""
        chain = self.extends_chain(variant)
        return self.own_variants.get(chain[0], {}).get("extends") in chain


def preset_dirs() -> list[Path]:
    """Returns the directories that are searched for presets, in order: GYMNAST_PRESETS, ./presets, and the
    presets that ship with gymnast."""
    from_environment = [
        Path(p) for p in os.environ.get("GYMNAST_PRESETS", "").split(os.pathsep) if p
    ]
    return [*from_environment, Path("presets"), BUILTIN_DIR]


def all_presets() -> dict[str, Preset]:
    """Returns name -> preset, sorted by name. Directories that are searched first take precedence."""
    presets: dict[str, Preset] = {}
    for directory in reversed(preset_dirs()):  # the first directory is written last, so it wins
        for path in directory.glob("*.yaml"):
            name = path.stem.replace("__", "/")
            presets[name] = Preset(name, path)
    return dict(sorted(presets.items()))


def find_preset(name: str) -> Preset:
    """Returns the preset of this name. A name without a version finds the highest version that has a
    preset. If there is none, returns a preset without a file, in which every value is the default."""
    for directory in preset_dirs():
        path = directory / _file_name(name)
        if path.is_file():
            return Preset(name, path)
    if name.partition(":")[0] in CLASS_PREFIXES:
        # A class has no file of its own name, but the user may have a preset with `env: {id: py:...}`.
        matching = (p for p in all_presets().values() if not p.is_builtin and p.env_id == name)
        return next(matching, Preset(name))
    if without_version(name) == name:  # `CartPole` means the newest version that has a preset
        every = all_presets()
        latest = highest_version(name, every)
        return every[latest] if latest else Preset(name)
    return Preset(name)


def search_presets(text: str = "") -> list[Preset]:
    """Returns presets whose name contains the text, ignoring letter case, or that define a variant of exactly
    this name. If there are none, returns presets with similar names, the most similar first."""
    every = all_presets()
    wanted = text.lower()
    hits = [p for p in every.values() if wanted in p.name.lower() or wanted in p.own_variants]
    if hits:
        return hits
    from difflib import SequenceMatcher  # only needed after a typo

    def similarity(name: str) -> float:
        return SequenceMatcher(None, wanted, name.lower().split("-v")[0]).ratio()

    ranked = sorted(every.values(), key=lambda p: -similarity(p.name))
    return [p for p in ranked if similarity(p.name) > 0.5]


@lru_cache(maxsize=256)
def _parse(text: str, label: str) -> Source:
    """Returns the content of a preset file. Cached, because parsing all presets takes half a second, and a
    server needs the same ones again and again."""
    return Source.parse(text, label)


def _file_name(name: str) -> str:
    return f"{name.replace('/', '__')}.yaml"
