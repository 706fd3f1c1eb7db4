"""`find`: whatever is registered is found by its name, with counts, pages and a next command that exists."""

from __future__ import annotations

import json
import re
from itertools import islice
from pathlib import Path

import pytest
from click.testing import CliRunner

from gymnast import api
from gymnast.cli import COMMANDS, cli
from gymnast.config.environments import known_environments
from gymnast.config.families import FAMILIES
from gymnast.config.presets import all_presets
from gymnast.errors import UsageError
from gymnast.find.sources import KINDS, Kind, entries
from gymnast.metrics.explain import catalog
from gymnast.runs.run import Run


@pytest.mark.parametrize("kind", KINDS)
def test_an_entry_is_the_first_match_of_its_own_name(kind: Kind, runs_dir: Path):
    if kind == "run":
        for i in range(3):
            Run.create(runs_dir, config_text="", preset="A:ppo", seed=i, provenance={})
    every = entries(kind, runs_dir)
    assert every
    for entry in islice(every, 0, None, max(1, len(every) // 8)):
        found = api.find(entry.name, limit=3)
        assert entry.name in [hit.name for hit in found.hits[:1]], found.hits
        assert found.counts[kind] >= 1


def test_every_preset_metric_and_setting_is_an_entry(runs_dir: Path):
    names = {kind: {entry.name for entry in entries(kind, runs_dir)} for kind in KINDS}
    assert names["preset"] == {preset.name for preset in all_presets().values()}
    assert names["metric"] == set(catalog())
    settings = {
        field.key
        for algo in ("ppo", "dqn", "a2c", "reinforce")
        for section in api.settings_form("CartPole-v1", algo=algo).sections
        for field in section.fields
    }
    # What a preset adds to mappings (facts, keyword arguments) is no setting of its own.
    missing = {key for key in settings - names["setting"] if not key.startswith("facts.")}
    assert {key.rpartition(".")[0] for key in missing} <= names["setting"]
    with_preset = names["preset"] | names["environment"]
    assert {env.id for env in known_environments()} <= with_preset


def test_every_entry_has_one_line_and_a_command_that_exists(runs_dir: Path):
    for kind in KINDS:
        for entry in entries(kind, runs_dir):
            assert entry.line, entry.name
            assert "\n" not in entry.line, entry.name
            program, verb, *_ = entry.more.split()
            assert (program, verb in COMMANDS) == ("gymnast", True)


def test_the_pages_of_matches_join_to_all_of_them():
    whole = api.find("policy", limit=10_000)
    assert whole.cursor is None
    assert sum(whole.counts.values()) == len(whole.hits)
    joined, cursor = [], 0
    while cursor is not None:
        page = api.find("policy", limit=37, offset=cursor)
        assert (page.counts, page.offset) == (whole.counts, cursor)
        joined += page.hits
        cursor = page.cursor
    assert joined == whole.hits
    metrics = api.find("policy", kind="metric", limit=10_000)
    same = [hit.name for hit in whole.hits if hit.kind == "metric"]
    assert sorted(hit.name for hit in metrics.hits) == sorted(same)
    assert metrics.counts == whole.counts


def test_presets_are_found_by_their_properties():
    found = api.find("continuous actions", kind="preset", limit=50)
    names = {hit.name for hit in found.hits}
    assert {"Pendulum-v1", "HalfCheetah-v5", "BipedalWalker-v3"} <= names
    assert "CartPole-v1" not in names
    assert api.find("lander flags").hits[0].name == "LunarLander-v3"


def test_presets_with_memory_are_found_by_the_usual_words():
    found = api.find("recurrent lstm", kind="preset", limit=50)
    with_memory = {
        name
        for name, preset in all_presets().items()
        if "memory:" in Path(preset.path or "").read_text()
    }
    assert {hit.name for hit in found.hits} == with_memory
    assert len(with_memory) >= 3


def test_a_setting_says_where_it_has_an_effect():
    (hit,) = (hit for hit in api.find("normalize.obs").hits if hit.name == "normalize.obs")
    assert "Applies only to observations that are numbers" in hit.text


def test_entries_of_other_kinds_do_not_hide_those_of_the_kind_that_is_asked_for():
    found = api.find("clip gradient norm", kind="setting", limit=3)
    assert "algo.max_grad_norm" in [hit.name for hit in found.hits]
    assert found.counts["setting"] >= len(found.hits)


def test_a_run_is_found_by_its_name_tags_and_environment(runs_dir: Path):
    run = Run.create(
        runs_dir, config_text="", preset="CartPole-v1:ppo", seed=0, provenance={}, name="wide-net"
    )
    run.update(tags=["overnight"])
    for query in ("wide-net", "overnight"):
        assert api.find(query).hits[0].name == run.id, query
    assert run.id in [hit.name for hit in api.find("cartpole", kind="run").hits]


@pytest.mark.parametrize("wrong", [{"limit": 0}, {"offset": -1}])
def test_wrong_pages_are_refused(wrong: dict[str, int]):
    with pytest.raises(UsageError):
        api.find("policy", **wrong)  # pyright: ignore[reportArgumentType]


def test_the_command_prints_counts_before_matches_and_corrections():
    done = CliRunner().invoke(cli, ["find", "entorpy", "--limit", "2"])
    first, *rest = done.output.splitlines()
    assert re.match(r"\d+ metrics, .*\(nothing has 'entorpy', searched for entropy\)", first)
    assert any(line.endswith("entropy (metric)") for line in rest)
    assert rest[-1] == "more: --offset 2"
    answer = json.loads(CliRunner().invoke(cli, ["find", "entropy", "--json"]).output)
    assert "policy/entropy" in [hit["name"] for hit in answer["hits"]]
    assert CliRunner().invoke(cli, ["find", "xyzzyq"]).output == "nothing found\n"


@pytest.mark.slow
def test_the_list_of_environments_is_that_of_the_installed_packages():
    """`python -m gymnast.envs.catalog` writes it again."""
    import gymnasium as gym

    from gymnast.envs.build.env_ids import register

    checked = ("classic control", "toy text", "Box2D", "MuJoCo", "bandits")
    for family in FAMILIES:
        if family.name in checked:
            register(family.ids[0])
    for env in known_environments():
        if env.family in checked:
            spec = gym.spec(env.id)
            assert spec.max_episode_steps == env.max_steps
            assert spec.reward_threshold == env.threshold
            made = gym.make(env.id)
            assert type(made.action_space).__name__ == env.action.partition("(")[0]
            made.close()
