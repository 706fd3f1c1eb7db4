"""From a name and overrides to a config, with the origin of every value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from gymnast.config import presets
from gymnast.config.config import CONFIGS, Config
from gymnast.config.layers import Layer, Leaves, merge, nest
from gymnast.config.problems import Key, Problem, closest, explain
from gymnast.config.saved import diff, load, plain, save, values
from gymnast.config.sections import ALGORITHMS
from gymnast.config.sections.stop import BUDGETS
from gymnast.config.source import Source
from gymnast.errors import ConfigError

__all__ = ["Resolved", "diff", "load", "parse_assignment", "resolve", "revise", "save"]

DEFAULT_BUDGET = 500_000
"""Env steps for an environment whose preset, if any, names no budget."""


@dataclass(frozen=True)
class Resolved:
    config: Config[Any]
    provenance: dict[str, str]
    """Dotted key -> where its value came from."""
    preset: str
    """`ENV:variant`, in full."""
    has_preset: bool
    """Whether a preset file exists for the environment."""


def resolve(
    target: str,
    overrides: Mapping[str, Any] = {},
    *,
    origin: str = "--set",
    algo: str | None = None,
) -> Resolved:
    """default < preset < variant < overrides. Everything that is wrong is said at once."""
    name, variant = presets.split(target)
    preset = presets.find(name)
    variant = variant or algo or preset.default
    if algo is not None and algo not in ALGORITHMS:
        guess = closest(algo, ALGORITHMS)
        raise ConfigError(f"no algorithm {algo} (known: {', '.join(ALGORITHMS)}){guess}")
    problems = preset.problems()
    if problems and variant not in preset.variants:
        raise ConfigError([str(p) for p in problems])
    own = preset.chain(variant)[0]
    algorithm = algo or (own if own in ALGORITHMS else next(iter(ALGORITHMS)))
    layers = preset.layers(variant)
    if algorithm != own:
        layers = [_without_algo(layer) for layer in layers]
    implied = [
        Layer.of({"env": {"id": name}}, "name"),
        Layer.of({"algo": {"name": algorithm}}, f"variant {own}" if algorithm == own else "--algo"),
    ]
    given = Layer.of(_nested(overrides), origin)
    config, provenance = _settle(algorithm, [*implied, *layers], given, problems)
    return Resolved(config, provenance, f"{name}:{variant}", preset.path is not None)


def revise(
    config: Config[Any],
    overrides: Mapping[str, Any],
    *,
    provenance: Mapping[str, str] = {},
    origin: str = "--set",
) -> tuple[Config[Any], dict[str, str]]:
    """A stored config with overrides on top, by the same rules; and the new origins."""
    stored, given = Layer.of(plain(config), "config.yaml"), Layer.of(_nested(overrides), origin)
    changed, origins = _settle(config.algo.name, [stored], given, [])
    for key, source in origins.items():
        if source == "config.yaml":
            origins[key] = provenance.get(key, source)
    return changed, origins


def parse_assignment(text: str) -> tuple[str, Any]:
    """`algo.lr=3e-3->0` -> ("algo.lr", "3e-3->0"); the value is read as YAML reads it."""
    key, equals, value = text.partition("=")
    key = key.strip()
    if not equals or not key or not all(key.split(".")):
        raise ConfigError(f"`{text}` sets nothing (expected KEY=VALUE such as algo.lr=3e-4)")
    try:
        return key, Source.read(value).data if value.strip() else None
    except ConfigError:
        return key, value.strip()  # text with marks that YAML gives a meaning


def _settle(
    algorithm: str, layers: list[Layer], given: Layer, problems: list[Problem]
) -> tuple[Config[Any], dict[str, str]]:
    model = CONFIGS[algorithm]
    leaves = merge([*layers, *_budget(layers, given), given], model)

    def at(path: Key) -> str:
        found = next(
            (leaves[path[:n]][1] for n in range(len(path), 0, -1) if path[:n] in leaves), None
        )
        return found.at(path) if found else ""

    config = None
    try:
        config = model.model_validate(nest(leaves))
    except ValidationError as error:
        problems = [*problems, *explain(error, model, at)]
    if config is None or problems:
        raise ConfigError([str(p) for p in problems])
    return config, _origins(config, leaves)


def _budget(layers: list[Layer], given: Layer) -> list[Layer]:
    """A budget given on top replaces the others; where none is named there is a default one."""
    named = [b for layer in (*layers, given) for b in BUDGETS if b in _section(layer, "stop")]
    if not named:
        return [Layer.of({"stop": {"env_steps": DEFAULT_BUDGET}}, "default budget")]
    chosen = [b for b in BUDGETS if _section(given, "stop").get(b, "off") not in ("off", None)]
    others = {b: "off" for b in BUDGETS if b in named and b not in chosen}
    return [Layer.of({"stop": others}, given.source.name)] if chosen and others else []


def _section(layer: Layer, name: str) -> Mapping[str, Any]:
    section = layer.data.get(name)
    return section if isinstance(section, Mapping) else {}


def _without_algo(layer: Layer) -> Layer:
    return Layer(layer.source, {k: v for k, v in layer.data.items() if k != "algo"}, layer.base)


def _nested(overrides: Mapping[str, Any]) -> dict[str, Any]:
    """Dotted keys and nested mappings alike, as one tree."""
    tree: dict[str, Any] = {}
    for key, value in overrides.items():
        *parents, last = str(key).split(".")
        at = tree
        for part in parents:
            at = at.setdefault(part, {})
        if isinstance(value, Mapping) and isinstance(at.get(last), dict):
            at[last] |= value
        else:
            at[last] = value
    return tree


def _origins(config: Config[Any], leaves: Leaves) -> dict[str, str]:
    written = {".".join(map(str, path)): layer.origin(path) for path, (_, layer) in leaves.items()}
    return {key: written.get(key, "default") for key in values(config)}
