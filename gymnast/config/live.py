"""Settings that can change while a run is training (`gymnast set`), and the config after such a change.

Each section lists in `LIVE` its fields that are read again at every rollout. Fields of an algorithm that
can be schedules are always live, and so are the weights of shaping terms.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import cast

from gymnast.config.config import Config
from gymnast.config.plain_value import PlainValue
from gymnast.config.resolve import apply_overrides
from gymnast.config.section import Section
from gymnast.config.sections.stop import BUDGETS
from gymnast.config.serialize import flat_values, to_plain
from gymnast.errors import ConfigError


def live_keys(config: Config) -> list[str]:
    """Returns every dotted key that may change, in the order of the config."""
    sections = [(name, type(value)) for name, value in config if isinstance(value, Section)]
    weights = [f"shaping.{name}.weight" for name in config.shaping]
    fields = [f"{name}.{field}" for name, section in sections for field in section.live_fields()]
    return [*fields, *weights]


def apply_assignments(config: Config, assignments: Mapping[str, object]) -> Config:
    """Returns the config after a live change, by the rules of `--set`. Raises ConfigError if a key is not
    live or a value is invalid."""
    allowed, known = live_keys(config), flat_values(config)
    fixed = [key for key in assignments if key not in allowed]
    if fixed and all(key in known for key in fixed):
        raise _refusal(fixed, allowed)
    # A misspelled key is not live either, but "did you mean" helps more: let validation report it first.
    changed, _ = apply_overrides(config, assignments)
    if fixed:
        raise _refusal(fixed, allowed)
    return changed


def _refusal(fixed: list[str], allowed: list[str]) -> ConfigError:
    return ConfigError(
        f"{', '.join(fixed)} cannot change while a run is training",
        fix=f"settings that can: {', '.join(allowed)}; for others, stop the run, then resume it or "
        "start a new one",
    )


def with_live_changes(config: Config, live: Mapping[str, object]) -> Config:
    """Returns the config with exactly these values, which were validated before. `live`: dotted key -> plain
    value. No other value is derived from them."""
    # Not by apply_overrides: a budget there would switch off the others, which were changed separately.
    tree = to_plain(config)
    for key, value in live.items():
        *sections, field = key.split(".")
        section: PlainValue = tree
        for name in sections:
            assert isinstance(section, dict)
            section = section[name]
        assert isinstance(section, dict)
        section[field] = cast("PlainValue", value)
    return type(config).model_validate(tree) if live else config


def overridden_live_keys(keys: Iterable[str]) -> set[str]:
    """Returns the keys whose live values are dropped when these keys are set permanently. A new budget
    replaces all budgets."""
    overridden = set(keys)
    budgets = {f"stop.{name}" for name in BUDGETS}
    return overridden | budgets if overridden & budgets else overridden
