"""The settings for an environment, and the preparation of a training, as tasks."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing

from gymnast.config.space_settings import SpaceSettings
from gymnast.envs.build.defaults import settings_for_spaces
from gymnast.progress import ProgressCallback
from gymnast.training.lifecycle.prepare import prepare as prepare_run
from gymnast.training.lifecycle.summary import Preflight


def spaces(
    target: str, *, overrides: Mapping[str, object], algo: str | None, progress: ProgressCallback
) -> SpaceSettings:
    """Returns the settings that follow from the spaces of an environment, see `api.spaces`."""
    progress(0, 1)
    return settings_for_spaces(target, overrides, algo=algo)


def prepare(
    target: str, *, overrides: Mapping[str, object], algo: str | None, progress: ProgressCallback
) -> Preflight:
    """Opens the environments as training would, and describes the training, see `api.prepare`."""
    progress(0, 1)
    prepared = prepare_run(target, overrides, algo)
    with closing(prepared.collector):
        return prepared.preflight()
