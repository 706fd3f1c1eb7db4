"""Settings that follow from the spaces of an environment, as a record. Looking them up needs the
environment; merging them with presets and overrides does not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from gymnast.config.resolve import ResolvedConfig, resolve


@dataclass(frozen=True)
class SpaceSettings:
    """The defaults for the observation and action spaces of an environment."""

    target: str
    """The environment, as `ENV[:VARIANT]`, with its version."""
    requested_env: str
    """The environment as the user wrote it."""
    settings: dict[str, dict[str, object]]
    """Section -> key -> value. A preset has precedence over them."""


def resolve_with(
    found: SpaceSettings, overrides: Mapping[str, object] = {}, *, algo: str | None = None
) -> ResolvedConfig:
    """Returns the config that training uses. Later layers win: plain defaults, defaults for the spaces,
    preset, overrides. `algo`: algorithm to use instead of the one of the variant."""
    resolved = resolve(found.target, overrides, algo=algo, suggested=found.settings)
    return replace(resolved, requested_env=found.requested_env)
