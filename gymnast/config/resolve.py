"""Resolves a target such as `CartPole-v1:ppo` and overrides into a config, with the origin of every value."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import chain
from typing import cast

from pydantic import ValidationError

from gymnast.config import presets
from gymnast.config.algorithms import config_type, is_algorithm
from gymnast.config.config import Config
from gymnast.config.layers import Layer, Leaves, has_subkeys, merge, nest
from gymnast.config.named_code import code_names, code_of_target
from gymnast.config.plain_value import PlainMapping, PlainValue, Scalar
from gymnast.config.presets import Preset
from gymnast.config.problems import InvalidConfig, Key, Problem, dotted_key, explain_errors
from gymnast.config.sections import ALGORITHMS
from gymnast.config.sections.stop import BUDGETS
from gymnast.config.serialize import diff, flat_values, load, save, to_plain
from gymnast.config.source import Source
from gymnast.config.target import split_target
from gymnast.config.versions import without_version
from gymnast.errors import CodeNotAllowed, ConfigError
from gymnast.import_object import permit_code

__all__ = [
    "ResolvedConfig",
    "apply_overrides",
    "diff",
    "load",
    "parse_assignment",
    "resolve",
    "save",
]

SPACE_DEFAULT_ORIGIN = "default for its spaces"
"""Origin of values that were chosen by the environment's spaces."""
REGISTERED_ORIGIN = "registered with Gymnasium"
"""Origin of facts that the environment's registration declares."""
OTHER_TASK_ORIGIN = "unknown, because it is declared for another {}"
"""Origin of facts that a preset declares and overrides of this setting make invalid."""
_TASK_SETTINGS = ("id", "kwargs", "tasks")
"""Settings of `env` that make the environment another task."""
_TASK_FACTS = ("reward", "returns", "optimum", "threshold", "published", "grid")
"""Facts that only hold for the task that they were declared for."""
DEFAULT_BUDGET = 500_000
"""Env steps if neither a preset nor the user sets a budget."""


@dataclass(frozen=True)
class ResolvedConfig:
    config: Config
    provenance: dict[str, str]
    """Dotted key -> origin of its value."""
    preset: str
    """`ENV:variant`, in full."""
    has_preset: bool
    """True if there is a preset file for the environment."""
    requested_env: str
    """The environment as the user wrote it. If that has no version, `preset` has the highest known one."""
    space_defaults: bool
    """True if defaults chosen by the environment's spaces belong below the preset."""
    explicit_keys: tuple[str, ...] = ()
    """Dotted keys that the overrides or the variant itself set. Inherited values are not included: they were
    not chosen for this variant, so it is no mistake if they have no effect in it."""

    @property
    def title(self) -> str:
        """The preset, with a note if there is no file for it, or if the user did not write its name."""
        if not self.has_preset:
            return f"{self.preset} (no preset: defaults for its spaces)"
        return f"{self.preset} ({self.found_as})" if self.found_as else self.preset

    @property
    def found_as(self) -> str:
        """Says why this preset was chosen if the user wrote another name: as the highest version, or as the
        preset of a class. Empty for the same name."""
        name = split_target(self.preset)[0]
        if self.requested_env == name:
            return ""
        kind = "highest version" if self.requested_env == without_version(name) else "preset"
        return f"the {kind} of {self.requested_env}"


def resolve(
    target: str,
    overrides: Mapping[str, object] = {},
    *,
    origin: str = "--set",
    algo: str | None = None,
    suggested: Mapping[str, object] = {},
) -> ResolvedConfig:
    """Returns the config of a target; precedence: default < suggested < preset < variant < overrides.

    Raises InvalidConfig with all problems at once. `overrides`: keys, dotted or nested -> values; `origin`:
    how messages and `provenance` name the overrides; `algo`: algorithm to use instead of the variant's,
    without the variant's hyperparameters; `suggested`: defaults chosen by the environment's spaces, once
    these are known (see `gymnast.envs.build.defaults.resolve_for_spaces`).
    """
    name, variant = split_target(target)
    resolved = resolve_preset(
        presets.find_preset(name), variant, overrides, origin=origin, algo=algo, suggested=suggested
    )
    return replace(resolved, requested_env=name)


def resolve_without_code(target: str) -> ResolvedConfig:
    """Returns the config of a target that a run names. Raises CodeNotAllowed if it or its preset names code,
    which would be imported."""
    for code in code_of_target(target):
        raise CodeNotAllowed(f"the preset {target} names code: {code}")
    return resolve(target)


def resolve_preset(
    preset: Preset,
    variant: str | None = None,
    overrides: Mapping[str, object] = {},
    *,
    origin: str = "--set",
    algo: str | None = None,
    suggested: Mapping[str, object] = {},
) -> ResolvedConfig:
    """Returns the config of a preset that was found already. `variant`: None for `algo`, or else the preset's
    default; the other arguments are those of `resolve`."""
    # Whoever resolves a preset has named it and these settings, so their code may be imported.
    permit_code(
        code_names([preset.data, overrides, {"id": preset.name, "name": algo, "variant": variant}])
    )
    if algo is not None:
        config_type(algo)  # raises for an unknown algorithm, before anything else is reported
    # 1. Which variant, and which algorithm it uses: the one at the root of its `extends` chain.
    problems = preset.problems()
    variant = variant or algo or preset.default_variant
    if problems and not preset.has_variant(variant):
        raise InvalidConfig(problems)
    root = preset.extends_chain(variant)[0]
    algorithm = algo or (root if is_algorithm(root) else next(iter(ALGORITHMS)))
    # 2. The layers, lowest first. With --algo, the variant's hyperparameters are dropped: those of another
    # algorithm have other names, or the same name and another meaning.
    registered = {key: suggested[key] for key in suggested if key == "facts"}
    for_spaces = {key: suggested[key] for key in suggested if key != "facts"}
    layers = [
        Layer.from_data(_nested(registered), REGISTERED_ORIGIN),
        Layer.from_data(_nested(for_spaces), SPACE_DEFAULT_ORIGIN),
        Layer.from_data({"env": {"id": preset.name}}, "name"),
        Layer.from_data(
            {"algo": {"name": algorithm}}, f"variant {root}" if algorithm == root else "--algo"
        ),
        *(_without_algo(x) if algorithm != root else x for x in preset.layers(variant)),
    ]
    override_layer = Layer.from_data(_nested(overrides), origin)
    # 3. Validate the merged layers, and report all problems at once.
    problems = [*problems, *_empty_overrides(overrides, config_type(algorithm), origin)]
    model = config_type(algorithm)
    config, provenance, leaves = _validated(model, layers, override_layer, problems)
    variant_path = ("variants", variant)
    explicit = [
        dotted_key(path)
        for path, (_, layer) in leaves.items()
        if layer is override_layer or layer.base == variant_path
    ]
    return ResolvedConfig(
        config,
        provenance,
        preset=f"{preset.name}:{variant}",
        has_preset=preset.path is not None,
        requested_env=preset.name,
        space_defaults=preset.space_defaults,
        explicit_keys=tuple(explicit),
    )


def apply_overrides(
    config: Config,
    overrides: Mapping[str, object],
    *,
    provenance: Mapping[str, str] = {},
    origin: str = "--set",
) -> tuple[Config, dict[str, str]]:
    """Returns a stored config with overrides applied by the rules of `resolve`, and dotted key -> origin of
    every value. `provenance`: the origins that were stored with the config; `origin`: the origin of the
    overrides."""
    stored = Layer.from_data(to_plain(config), "config.yaml")
    override_layer = Layer.from_data(_nested(overrides), origin)
    problems = _empty_overrides(overrides, type(config), origin)
    changed, origins, _ = _validated(type(config), [stored], override_layer, problems)
    for key, source in origins.items():
        if source == "config.yaml":
            origins[key] = provenance.get(key, source)
    return changed, origins


def parse_assignment(text: str) -> tuple[str, PlainValue]:
    """Parses `algo.lr=3e-3->0` into ("algo.lr", "3e-3->0"). The value is parsed as YAML; it is None if empty,
    and plain text if it is not YAML. Raises ConfigError if there is no key or no `=`."""
    key, equals, value = text.partition("=")
    key = key.strip()
    if not equals or not key or not all(key.split(".")):
        raise ConfigError(f"`{text}` sets nothing (expected KEY=VALUE such as algo.lr=3e-4)")
    if re.fullmatch(r"\s*[\d.eE+-]+[kMG]?\s*-", value):
        quoted = "quote it, because the shell reads `>` as a redirection: --set 'algo.lr=3e-4 -> 0'"
        raise ConfigError(f"`{text}` ends in the middle of an arrow", fix=quoted)
    try:
        return key, Source.parse(value).data if value.strip() else None
    except ConfigError:
        return key, value.strip()  # plain text with characters that are special in YAML


def _validated(
    model: type[Config], layers: list[Layer], overrides: Layer, problems: list[Problem]
) -> tuple[Config, dict[str, str], Leaves]:
    """Merges and validates the layers, with the overrides on top. Returns the config, dotted key -> origin of
    every value, and the merged leaves. `problems`: mistakes that were found before. Raises InvalidConfig for
    these and all that validation finds."""
    leaves = merge([*layers, *_budget(layers, overrides), overrides], model)
    if "env" in overrides.data:
        leaves |= _unknown_facts(merge(layers, model), leaves, overrides)

    def locate(path: Key) -> str:
        """Returns the location of a key, of the nearest key above it, or of the first key below it."""
        above = (leaves[path[:n]][1] for n in range(len(path), 0, -1) if path[:n] in leaves)
        below = (layer for key, (_, layer) in leaves.items() if key[: len(path)] == path)
        layer = next(chain(above, below), None)
        return layer.location(path) if layer else ""

    config = None
    try:
        config = model.model_validate(nest(leaves))
    except ValidationError as error:
        problems = [*problems, *explain_errors(error, model, locate)]
    if config is None or problems:
        raise InvalidConfig(problems)
    return config, _origins(config, leaves), leaves


def _unknown_facts(below: Leaves, leaves: Leaves, overrides: Layer) -> Leaves:
    """Returns leaves that switch off the facts of the layers `below` if an override makes another task, by
    giving one of its settings another value. `leaves`: all layers merged."""
    changed = [
        path
        for path, (value, layer) in leaves.items()
        if layer is overrides
        and path[0] == "env"
        and {*path[1:2]} & {*_TASK_SETTINGS}
        and (path not in below or below[path][0] != value)
    ]
    if not changed:
        return {}
    origin = Layer.from_data({}, OTHER_TASK_ORIGIN.format(dotted_key(changed[0])))
    return {
        path: ([] if path[1] == "published" else "off", origin)
        for path, (_, layer) in leaves.items()
        if layer is not overrides and path[0] == "facts" and {*path[1:2]} & {*_TASK_FACTS}
    }


def _budget(layers: list[Layer], overrides: Layer) -> list[Layer]:
    """Returns the layer that a budget in the overrides needs to switch off all other budgets, or the layer
    with the default budget if no layer sets one."""
    if not any(_budgets(layer) for layer in (*layers, overrides)):
        return [Layer.from_data({"stop": {"env_steps": DEFAULT_BUDGET}}, "default budget")]
    if not _limits(overrides):
        return []
    # `--minutes 5` on a preset with 100k env steps means 5 minutes, not whichever comes first.
    requested = _limits(overrides)
    replaced = {b: "off" for layer in layers for b in _limits(layer) if b not in requested}
    return [Layer.from_data({"stop": replaced}, overrides.source.name)]


def _budgets(layer: Layer) -> dict[str, PlainValue]:
    """Returns the budgets that a layer mentions, including the ones that it switches off."""
    stop = layer.data.get("stop")
    return {b: stop[b] for b in BUDGETS if b in stop} if isinstance(stop, Mapping) else {}


def _limits(layer: Layer) -> list[str]:
    """Returns the budgets that a layer sets to an amount."""
    return [budget for budget, amount in _budgets(layer).items() if amount != "off"]


def _without_algo(layer: Layer) -> Layer:
    return replace(layer, data={k: v for k, v in layer.data.items() if k != "algo"})


def _nested(overrides: Mapping[str, object]) -> PlainMapping:
    """Returns overrides with dotted keys and nested mappings as one nested mapping."""
    tree: PlainMapping = {}
    for key, value in overrides.items():
        *parents, name = str(key).split(".")
        # Whatever a caller passes is validated with the rest of the config.
        branch: dict[str, PlainValue] = {name: cast("PlainValue", value)}
        for part in reversed(parents):
            branch = {part: branch}
        tree = _joined(tree, branch, str(key))
    return tree


def _empty_overrides(
    overrides: Mapping[str, object], model: type[Config], origin: str
) -> list[Problem]:
    """Returns a problem for each override whose value is `{}`, which a merge would silently ignore."""
    empty = "{} sets nothing: mappings are merged key by key (expected `key: value` pairs)"
    keys = [str(key) for key, value in overrides.items() if value == {}]
    return [Problem(origin, k, empty) for k in keys if has_subkeys(tuple(k.split(".")), model)]


def _joined(tree: PlainMapping, branch: PlainMapping, key: str) -> PlainMapping:
    """Returns `tree` with the nested overrides in `branch` added. `key`: the override as the user wrote it,
    for the ConfigError that is raised if two overrides set the same value."""
    joined: dict[Scalar, PlainValue] = dict(tree.items())
    for name, value in branch.items():
        if isinstance(value, Mapping):
            before = joined.setdefault(name, {})
            if not isinstance(before, Mapping):
                raise ConfigError(f"{key} is given twice")
            joined[name] = _joined(before, value, key)
        elif name in joined:
            raise ConfigError(f"{key} is given twice")
        else:
            joined[name] = value
    return joined


def _origins(config: Config, leaves: Leaves) -> dict[str, str]:
    """Returns dotted key -> origin of its value, for every setting of the config."""
    explicit = {dotted_key(path): layer.origin(path) for path, (_, layer) in leaves.items()}
    return {key: explicit.get(key, "default") for key in flat_values(config)}
