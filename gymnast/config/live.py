"""Which settings may change while a run goes on, and what a change makes of the config.

A section names the fields that are read anew at every rollout in `LIVE`; those of an algorithm that
can be schedules always are, and so are the weights of shaping terms.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import reduce
from operator import getitem
from typing import Any

from gymnast.config.config import CONFIGS, Config
from gymnast.config.resolve import revise
from gymnast.config.saved import plain, values
from gymnast.config.section import Section
from gymnast.config.sections.stop import BUDGETS
from gymnast.errors import ConfigError


def live_keys(config: Config[Any]) -> list[str]:
    """Every dotted key that may change, in the config's own order."""
    sections = [(name, type(value)) for name, value in config if isinstance(value, Section)]
    weights = [f"shaping.{name}.weight" for name in config.shaping]
    fields = [f"{name}.{field}" for name, section in sections for field in section.live_fields()]
    return [*fields, *weights]


def changed(config: Config[Any], assignments: Mapping[str, Any]) -> Config[Any]:
    """The config after a live change, by the rules of `--set`; one clear error if it cannot be."""
    allowed, known = live_keys(config), values(config)
    fixed = [key for key in assignments if key not in allowed]
    if fixed and all(key in known for key in fixed):
        raise _refusal(fixed, allowed)
    after, _ = revise(config, assignments)  # knows what is wrong with keys and values
    if fixed:
        raise _refusal(fixed, allowed)
    return after


def _refusal(fixed: list[str], allowed: list[str]) -> ConfigError:
    return ConfigError(
        f"{', '.join(fixed)} cannot change while a run goes on",
        fix=f"what can: {', '.join(allowed)}; for the rest stop it, then resume or train anew",
    )


def with_live_changes(config: Config[Any], live: Mapping[str, Any]) -> Config[Any]:
    """The config with exactly these values, which were checked before; nothing follows from them."""
    tree = plain(config)
    for key, value in live.items():
        *sections, field = key.split(".")
        reduce(getitem, sections, tree)[field] = value
    return CONFIGS[config.algo.name].model_validate(tree) if live else config


def overridden_live_keys(keys: Iterable[str]) -> set[str]:
    """Keys whose live value ends when these are set for good: a budget replaces all budgets."""
    given = set(keys)
    budgets = {f"stop.{name}" for name in BUDGETS}
    return given | budgets if given & budgets else given
