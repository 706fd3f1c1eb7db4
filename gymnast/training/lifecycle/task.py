"""The settings that follow from the spaces of an environment, as a task."""

from __future__ import annotations

from collections.abc import Mapping

from gymnast.config.space_settings import SpaceSettings
from gymnast.envs.build.defaults import settings_for_spaces
from gymnast.progress import ProgressCallback


def spaces(
    target: str, *, overrides: Mapping[str, object], algo: str | None, progress: ProgressCallback
) -> SpaceSettings:
    """Returns the settings that follow from the spaces of an environment, see `api.spaces`."""
    progress(0, 1)
    return settings_for_spaces(target, overrides, algo=algo)
