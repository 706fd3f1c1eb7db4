"""Overrides of settings, in the two forms in which callers may write them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

Overrides = Mapping[str, object] | Sequence[str]
"""Dotted config key -> value, or KEY=VALUE texts as with --set."""


def parse_overrides(overrides: Overrides | None) -> dict[str, object]:
    """Returns overrides as dotted key -> value. Raises ConfigError for a text that is not KEY=VALUE."""
    if overrides is None:
        return {}
    if isinstance(overrides, Mapping):
        return dict(overrides)
    from gymnast.config.resolve import parse_assignment

    return dict(map(parse_assignment, overrides))
