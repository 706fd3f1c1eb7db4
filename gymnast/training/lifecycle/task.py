"""Tasks that look up the spaces of an environment."""

from __future__ import annotations

from collections.abc import Mapping

from gymnast.config.space_settings import SpaceSettings
from gymnast.envs.build.defaults import has_vector_obs, settings_for_spaces
from gymnast.progress import ProgressCallback


def spaces(
    target: str, *, overrides: Mapping[str, object], algo: str | None, progress: ProgressCallback
) -> SpaceSettings:
    """Returns the settings that follow from the spaces of an environment, see `api.spaces`."""
    progress(0, 1)
    return settings_for_spaces(target, overrides, algo=algo)


def has_vectors(target: str, *, progress: ProgressCallback) -> bool:
    """Returns whether a part of the observation is a vector of numbers, which `normalize.obs` applies to."""
    progress(0, 1)
    return has_vector_obs(target)
