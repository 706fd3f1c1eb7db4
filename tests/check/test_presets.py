"""`gymnast check --all` trains and replays every preset; a preset that cannot be tried has not passed."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from gymnast.check.presets import PresetFailure, check_presets, preset_targets, replay
from gymnast.cli.check import SKIPPED, check
from gymnast.config.presets import BUILTIN_DIR, Preset
from tests.small_runs import traces, train_small

FACTS = """
facts: {reward: [-1, 1], deterministic: yes}
env: {id: "py:tests.check.planted:%s"}
variants: {ppo: {}}
"""


@pytest.fixture
def presets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Returns an empty directory for user presets."""
    monkeypatch.setenv("GYMNAST_PRESETS", str(tmp_path))
    monkeypatch.delenv("GYMNAST_NO_SKIPS", raising=False)
    return tmp_path


@pytest.fixture
def absent(presets: Path) -> str:
    """Creates a preset whose environment needs a package that does not exist."""
    settings = 'env: {id: "tests.check.absent:Absent-v0"}\nvariants: {ppo: {}}'
    (presets / "Absent-v0.yaml").write_text(settings)
    return "Absent-v0"


def invoke(*words: str) -> Any:
    return CliRunner().invoke(check, ["--all", *words], standalone_mode=False)


def test_every_variant_of_every_shipped_preset_is_tested():
    defined = {
        f"{preset.name}:{variant}"
        for preset in (Preset(p.stem.replace("__", "/"), p) for p in BUILTIN_DIR.glob("*.yaml"))
        for variant in preset.own_variants
    }
    assert defined
    assert defined == set(preset_targets())


def test_one_preset_per_algorithm_passes_and_leaves_no_files(runs_dir: Path):
    names = ["CartPole-v1:ppo", "CartPole-v1:a2c", "CartPole-v1:reinforce", "Pendulum-v1:ppo"]
    outcomes = list(check_presets(names))
    assert [(o.target, o.verdict, o.reason) for o in outcomes] == [(n, "passed", "") for n in names]
    assert not runs_dir.exists()


def test_wrong_facts_fail_with_the_reason(presets: Path):
    (presets / "mine.yaml").write_text(FACTS % "PaysTooMuch")
    found = invoke("mine", "--json")
    assert found.return_value == 1
    (outcome,) = json.loads(found.stdout)["presets"]
    assert outcome["verdict"] == "failed"
    assert "facts.reward: the reward is 3" in outcome["reason"]
    assert outcome["findings"][0]["where"]


def test_an_evaluation_that_is_not_reproducible_fails(presets: Path):
    (presets / "mine.yaml").write_text(FACTS % "GlobalGeneratorReward")
    (found,) = check_presets(preset_targets(["mine"]), allow=["deterministic"])
    assert found.verdict == "failed"
    assert "from the stored policy" in found.reason


def test_an_invalid_preset_fails_and_the_next_one_is_still_tested(presets: Path):
    (presets / "mine.yaml").write_text("variants: {ppo: {algo: {n_stepps: 3}}}")
    first, second = check_presets(["mine:ppo", "FrozenLake-v1:ppo"])
    assert (first.verdict, second.verdict) == ("failed", "passed")
    assert "n_stepps" in first.reason


def test_a_missing_package_is_a_skip_with_its_name_and_never_a_pass(absent: str):
    found = invoke(absent, "FrozenLake-v1:ppo")
    assert found.return_value == SKIPPED
    assert "Absent-v0 needs no_such_package" in found.stdout
    assert "1 passed, 0 failed, 1 skipped" in found.stdout


@pytest.mark.usefixtures("tasks_here")
def test_skips_are_failures_with_no_skips(absent: str, monkeypatch: pytest.MonkeyPatch):
    assert invoke(absent, "--no-skips").return_value == 1
    monkeypatch.setenv("GYMNAST_NO_SKIPS", "1")
    assert invoke(absent).return_value == 1


def test_a_replay_that_differs_from_the_recorded_episode_fails():
    run = train_small("CartPole-v1", {"stop.rollouts": 1, "algo.n_steps": 8})
    cfg = run.config()
    (trace, *_) = next(iter(traces(run, "confirm").values()))
    replay(cfg, trace)
    changed = trace.reward.copy()
    changed[3] += 1
    with pytest.raises(PresetFailure, match="at step 4"):
        replay(cfg, replace(trace, reward=changed))
    shortened = {name: getattr(trace, name)[:-1] for name in ("action", "reward", "value", "dist")}
    with pytest.raises(PresetFailure, match=f"at step {len(trace) - 1}"):
        replay(cfg, replace(trace, **shortened))


@pytest.mark.usefixtures("tasks_here")
def test_a_name_without_a_preset_is_rejected():
    refused = invoke("MountainCarContinuous-v0")
    assert "has no preset" in str(refused.exception)
