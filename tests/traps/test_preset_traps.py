"""Regression tests for past bugs in presets. The numbers are those of the list of traps."""

from __future__ import annotations

from pathlib import Path

import pytest

from gymnast.api import config_show
from gymnast.config import presets
from gymnast.config.serialize import flat_values
from gymnast.envs.build.defaults import resolve_for_spaces

ENV = "MountainCarContinuous-v0"
OF_ITS_SPACES = "default for its spaces"


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Returns a directory for a user's own presets."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "presets").mkdir()
    return tmp_path / "presets"


@pytest.mark.parametrize(
    ("text", "key", "value"),
    [
        ("facts: {threshold: 90}", "facts.threshold", 90.0),
        ("stop: {env_steps: 30k}", "stop.env_steps", 30_000),
        ("env: {n_envs: 4}", "env.n_envs", 4),
        ("variants: {ppo: {algo: {gamma: 0.9}}}", "algo.gamma", 0.9),
    ],
)
def test_53_a_preset_that_sets_one_value_changes_no_other(mine: Path, text, key, value):
    without = flat_values(resolve_for_spaces(ENV).config)
    (mine / f"{ENV}.yaml").write_text(text)
    found = resolve_for_spaces(ENV)
    assert flat_values(found.config) == without | {key: value}
    assert without["normalize.obs"] == "running"
    assert found.provenance["normalize.obs"] == OF_ITS_SPACES
    assert found.provenance[key] == f"presets/{ENV}.yaml:1" or key == "algo.gamma"


def test_53_config_show_prints_the_values_that_training_uses(mine: Path):
    (mine / f"{ENV}.yaml").write_text("facts: {threshold: 90}")
    shown = config_show(ENV)
    assert shown.values == flat_values(resolve_for_spaces(ENV).config)
    assert shown.provenance["algo.n_steps"] == OF_ITS_SPACES


def test_53_a_preset_may_decline_the_defaults_for_its_spaces(mine: Path):
    (mine / f"{ENV}.yaml").write_text("space_defaults: off\nfacts: {threshold: 90}")
    found = resolve_for_spaces(ENV)
    assert found.config.normalize.obs == "off"
    assert OF_ITS_SPACES not in found.provenance.values()


def test_53_built_in_presets_are_complete_so_that_no_default_changes_their_numbers():
    shipped = [preset for preset in presets.all_presets().values() if preset.is_builtin]
    assert shipped
    assert [preset.name for preset in shipped if preset.space_defaults] == []
