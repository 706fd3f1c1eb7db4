"""The settings that follow from the spaces of an environment."""

from __future__ import annotations

from collections.abc import Mapping

from gymnast.config.space_settings import SpaceSettings
from gymnast.insight.settings import look_up_spaces
from gymnast.tasks import Task


def spaces(
    target: str,
    *,
    overrides: Mapping[str, object] | None = None,
    algo: str | None = None,
    deadline: float | None = None,
) -> Task[SpaceSettings]:
    """Creates an environment (`ENV[:VARIANT]`) and returns the settings that follow from its spaces, on which
    presets and overrides are layered. `overrides`: dotted config key -> value; `algo`: algorithm to use
    instead of the one of the variant."""
    return look_up_spaces(target, overrides or {}, algo=algo, deadline=deadline)
