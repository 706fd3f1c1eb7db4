from __future__ import annotations

from pathlib import Path

import pytest

from gymnast.config import presets
from gymnast.config.check import check
from gymnast.config.resolve import resolve
from gymnast.errors import ConfigError


def test_a_user_preset_hides_the_shipped_one(preset):
    path = preset("stop: {env_steps: 1k}", name="CartPole-v1")
    assert presets.find_preset("CartPole-v1").path == path
    assert presets.all_presets()["CartPole-v1"].path == path
    assert resolve("CartPole-v1").config.stop.env_steps == 1000


def test_presets_in_the_working_directory_are_found(tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "presets").mkdir()
    (tmp_path / "presets" / "ALE__Pong-v5.yaml").write_text("seed: 3\n")
    assert resolve("ALE/Pong-v5").config.seed == 3
    assert resolve("ALE/Pong-v5").provenance["seed"] == "presets/ALE__Pong-v5.yaml:1"


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("CartPole", "CartPole-v1"),
        ("ALE/Pong", "ALE/Pong-v5"),
        ("pettingzoo/simple_speaker_listener", "pettingzoo/simple_speaker_listener_v4"),
        ("CartPole-v0", "CartPole-v0"),
        ("Cart", "Cart"),
    ],
)
def test_a_name_without_a_version_means_the_highest_version_that_has_a_preset(asked, found):
    resolved = resolve(asked)
    assert resolved.preset.rpartition(":")[0] == resolved.config.env.id == found
    assert resolved.requested_env == asked


def test_a_preset_that_was_found_by_another_name_says_why(tmp_path: Path, monkeypatch):
    assert resolve("CartPole-v1").found_as == ""
    assert resolve("CartPole").found_as == "the highest version of CartPole"
    monkeypatch.setenv("GYMNAST_PRESETS", str(tmp_path))
    (tmp_path / "mine.yaml").write_text("env: {id: 'py:tests.envs.test_names:Wordy'}\n")
    found = resolve("py:tests.envs.test_names:Wordy")
    assert found.preset.startswith("mine:")
    assert found.found_as == "the preset of py:tests.envs.test_names:Wordy"


def test_the_highest_version_is_the_largest_number(preset):
    for version in (2, 10, 9):
        preset("seed: 1", name=f"Thing-v{version}")
    assert presets.find_preset("Thing").name == "Thing-v10"
    assert resolve("Thing:a2c").preset == "Thing-v10:a2c"


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("CartPole-v1", "CartPole-v1"),
        ("cart", "CartPole-v1"),
        ("lunr", "LunarLander-v3"),
        ("continuous", "LunarLander-v3"),
        ("frozen", "FrozenLake-v1"),
    ],
)
def test_search_finds_presets_by_part_of_the_name_by_variant_and_by_similarity(text, first):
    assert presets.search_presets(text)[0].name == first


def test_search_finds_nothing_for_nonsense_and_everything_for_an_empty_text():
    assert not presets.search_presets("zzzzzz")
    assert [p.name for p in presets.search_presets("")] == list(presets.all_presets())


def test_an_unknown_variant_is_reported_with_the_known_ones(problems):
    (problem,) = problems(resolve, "LunarLander-v3:continous")
    assert "known: ppo, continuous" in problem
    assert "did you mean continuous?" in problem


@pytest.mark.parametrize("name", ["CartPole-v1:best", "CartPole-v1:latest", "CartPole-v1:120k"])
def test_a_checkpoint_name_is_rejected_as_a_variant(name):
    with pytest.raises(ConfigError, match="checkpoint"):
        resolve(name)


@pytest.mark.parametrize("name", ["", ":ppo"])
def test_a_target_without_an_environment_is_rejected(name):
    with pytest.raises(ConfigError, match="names no environment"):
        resolve(name)


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("algo: {lr: 1}", 1, "algo: belongs in a variant"),
        (
            "default: pp",
            1,
            "default: unknown variant pp (known: ppo, a2c, dqn, reinforce); did you mean ppo?",
        ),
        ("variants:\n  fast: {}", 2, "variants.fast: names no algorithm"),
        ("variants:\n  fast: {extends: ppp}", 2, "variants.fast.extends: unknown variant ppp"),
        ("variants:\n  best: {extends: ppo}", 2, "variants.best: names a checkpoint"),
        ("variants:\n  100k: {extends: ppo}", 2, "variants.100k: names a checkpoint"),
        ("variants:\n  ppo: {extends: x}\n  x: {extends: ppo}", 2, "cannot extend another"),
        ("variants:\n  a: {extends: b}\n  b: {extends: a}", 2, "is circular"),
        ("", None, "is empty (a preset declares facts, settings or variants)"),
        ("# nothing but a comment", None, "is empty"),
        ("variants:\n  ppo: {algo: {name: ppo}}", 2, "variants.ppo.algo.name: is implied"),
        ("variants:\n  ppo: 3", 2, "variants.ppo: expected a section"),
        ("space_defaults: maybe", 1, "space_defaults: maybe is not a switch"),
        ("variants: 3", 1, "variants: expected `name: settings` lines"),
        ("seed: 1\nseed: 2", 2, "seed: is given twice (line 1)"),
        ("seed: [1", 1, "is not YAML"),
        ("- 1", None, "is not a preset"),
    ],
)
def test_a_file_with_a_wrong_structure_is_rejected_with_the_line(preset, text, line, problem):
    path = preset(text)
    (found,) = check([str(path)]).values()
    assert any(problem in str(p) for p in found), found
    if line:
        assert any(p.at.endswith(f"Thing-v0.yaml:{line}") for p in found), found


def test_a_base_variant_without_an_algorithm_is_reported_once_and_not_as_circular(preset):
    path = preset("variants:\n  base: {env: {n_envs: 4}}\n  fast: {extends: base}")
    (found,) = check([str(path)]).values()
    assert [problem.key for problem in found] == ["variants.base"]
    assert "names no algorithm" in found[0].text


def test_a_variant_may_use_another_environment(preset):
    preset(
        """
        variants:
          big:
            extends: ppo
            env: {id: BigThing-v0}
            facts: {threshold: 9}
        """
    )
    found = resolve("Thing-v0:big")
    assert found.config.env.id == "BigThing-v0"
    assert found.config.facts.threshold == 9
    assert resolve("Thing-v0").config.env.id == "Thing-v0"


def test_every_shipped_preset_is_valid_complete_and_in_canonical_order():
    from gymnast.config.fmt import format_config

    assert check() == {name: [] for name in presets.all_presets()}
    for path in presets.BUILTIN_DIR.glob("*.yaml"):
        assert format_config(path.read_text()) == path.read_text(), path.name


def test_a_threshold_above_the_optimum_is_rejected(preset):
    path = preset("facts:\n  optimum: 7.93\n  threshold: 8\n  returns: [-2000, 7.95]")
    found = [str(p) for p in check([str(path)])[str(path)]]
    assert found == [
        "mine/Thing-v0.yaml:3: facts.threshold: 8 is above the optimum 7.93",
        "mine/Thing-v0.yaml:3: facts.threshold: 8 is outside returns [-2000, 7.95]",
    ]


def test_check_accepts_names_variants_files_and_stored_configs(tmp_path):
    from gymnast.config.resolve import save

    stored = tmp_path / "config.yaml"
    stored.write_text(save(resolve("CartPole-v1").config))
    good = check(["CartPole-v1", "LunarLander-v3:continuous", str(stored)])
    assert not any(good.values())
    bad = check(["Nowhere-v0", "CartPole-v1:x", "gone.yaml"])
    assert all(bad.values())
    stored.write_text(stored.read_text().replace("epochs: 10", "epochs: x"))
    assert check([str(stored)])[str(stored)]
