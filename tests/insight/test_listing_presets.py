"""`gymnast presets`: presets by family, with published scores and our stored results."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gymnast import api
from gymnast.config.families import FAMILIES
from gymnast.config.presets import find_preset
from gymnast.insight import results
from tests.cli_output import cli_output


def listed(*words: str) -> str:
    return cli_output("presets", *words)


def test_every_preset_is_listed_under_its_family_in_the_order_of_families():
    lines = listed().splitlines()
    heads = [line for line in lines[1:] if not line.startswith(" ")]
    known = [family.name for family in FAMILIES]
    assert heads == [name for name in known if name in heads]
    under, head = dict[str, str](), ""
    for line in lines[1:]:
        if line.startswith(" "):
            under[line.split()[0]] = head
        else:
            head = line
    assert under["Taxi-v4"] == "toy text"
    assert under["MiniGrid-DoorKey-6x6-v0"] == "MiniGrid"
    assert under["Bandit-drifting-v0"] == "bandits"
    assert under.keys() == {preset.name for preset in api.presets()}


def test_a_line_has_threshold_best_published_score_and_stored_result():
    (line,) = (x for x in listed("LunarLander").splitlines() if x.startswith("  Lunar"))
    stored = results.load_result("LunarLander-v3:ppo")
    assert "  200 " in line
    assert "242 ppo, rl-zoo" in line  # the better of two published scores
    assert f"{stored['mean']:.4g}, {stored['solved']}/{len(stored['seeds'])} seeds" in line


def test_only_variants_that_the_preset_file_defines_are_listed():
    variants = {preset.name: preset.variants for preset in api.presets()}
    assert variants["Pendulum-v1"] == ["ppo", "memory"], "dqn cannot learn continuous actions"
    assert not {"dqn", "reinforce"} & set(variants["tag"]), "they do not support roles"
    for name, listed_ones in variants.items():
        assert set(listed_ones) == {
            *find_preset(name).own_variants,
            find_preset(name).default_variant,
        }


def test_json_output_has_every_stored_result_at_its_preset():
    found = json.loads(listed("--json"))
    by_variant = {
        f"{preset['name']}:{variant}": result
        for preset in found
        for variant, result in preset["results"].items()
    }
    assert by_variant.keys() == {result["preset"] for result in results.all_results()}
    for result in results.all_results():
        assert by_variant[result["preset"]]["mean"] == result["mean"]


def test_custom_presets_are_listed_last_with_their_file_and_broken_ones_are_marked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "presets"
    folder.mkdir()
    (folder / "mine.yaml").write_text(
        "env: {id: CartPole-v1}\nfacts: {published: [{score: 3}, {score: much}, 4]}\n"
    )
    (folder / "torn.yaml").write_text("facts: [")
    lines = listed().splitlines()
    index = lines.index("yours")
    assert lines[index + 1].startswith("  mine ")
    assert "  3 " in lines[index + 1]
    assert lines[index + 1].endswith("presets/mine.yaml")
    assert lines[index + 2].startswith("torn  BROKEN: ")
    assert listed("torn").startswith("torn  BROKEN: ")
