from __future__ import annotations

import json
import subprocess
import sys

import pytest
from click.testing import CliRunner

from gymnast.cli import cli
from gymnast.config.resolve import resolve, save
from gymnast.errors import UsageError


def run(*words: str):
    return CliRunner().invoke(cli, words)


def answer(*words: str):
    result = run(*words)
    assert result.exit_code == 0, result.output
    return json.loads(result.output)


@pytest.fixture
def stored(tmp_path, monkeypatch):
    """Creates a run directory with a config, as training leaves it."""
    from gymnast.runs.run import Run

    monkeypatch.chdir(tmp_path)
    resolved = resolve("CartPole-v1", {"algo.epochs": 3})
    return Run.create(
        tmp_path / "runs",
        config_text=save(resolved.config),
        preset=resolved.preset,
        seed=0,
        name="try-1",
        provenance=resolved.provenance,
        env="CartPole-v1",
        algo="ppo",
        threshold=475.0,
    )


def test_show_prints_every_value_with_its_origin():
    found = answer("config", "show", "CartPole-v1", "--set", "algo.epochs=3", "--json")
    assert found["name"] == "CartPole-v1:ppo"
    assert found["config"]["algo"]["epochs"] == 3
    assert found["provenance"]["algo.epochs"] == "--set"
    assert found["provenance"]["algo.lr"].startswith("variant ppo, CartPole-v1.yaml:")
    text = run("config", "show", "CartPole-v1").output
    for key in found["provenance"]:
        assert f"\n{key} " in text


def test_show_accepts_a_run_by_id_name_path_and_last(stored):
    for name in (stored.id, "try-1", "@last", str(stored.path)):
        found = answer("config", "show", name, "--json")
        assert found["config"]["algo"]["epochs"] == 3
        assert found["provenance"]["algo.epochs"] == "--set"
    assert "3 " in run("config", "show", "@last", "--set", "algo.gamma=0.5").output


def test_show_reports_a_missing_preset():
    found = answer("config", "show", "MountainCarContinuous-v0", "--json")
    assert "no preset" in found["name"]
    assert found["provenance"]["normalize.obs"] == "default for its spaces"


def test_show_of_a_name_without_a_version_shows_the_highest_version():
    found = answer("config", "show", "CartPole", "--json")
    assert found["name"] == "CartPole-v1:ppo (the highest version of CartPole)"
    assert found["config"]["env"]["id"] == "CartPole-v1"
    assert found["config"]["algo"]["gae_lambda"] == 0.9


@pytest.mark.usefixtures("stored", "tasks_here")
@pytest.mark.parametrize(
    "words",
    [("show", "typo"), ("show", "Typo-v0"), ("diff", "@last", "typo"), ("diff", "typo", "@last")],
)
def test_an_unknown_name_is_an_error(words):
    result = run("config", *words)
    assert isinstance(result.exception, UsageError)
    assert "neither a run nor a preset nor an environment" in str(result.exception)


def test_show_prints_a_preset_whose_environment_cannot_be_created_with_the_reason(
    preset,
):
    preset("facts: {threshold: 1}")
    result = run("config", "show", "Thing-v0")
    assert result.exit_code == 0
    assert "without the defaults for its spaces: Environment `Thing` doesn't exist" in result.output


@pytest.mark.usefixtures("stored")
def test_diff_compares_presets_and_runs():
    found = answer("config", "diff", "CartPole-v1", "@last", "--json")
    assert found == [{"key": "algo.epochs", "a": 10, "b": 3}]
    assert "algo.epochs: 10 | 3" in run("config", "diff", "CartPole-v1", "try-1").output
    assert "no difference" in run("config", "diff", "Taxi-v4", "Taxi-v4:ppo").output


def test_check_accepts_all_presets_and_rejects_a_wrong_one(preset):
    assert run("config", "check").exit_code == 0
    path = preset("stop: {env_step: 1}")
    result = run("config", "check", str(path))
    assert result.exit_code == 1
    assert "mine/Thing-v0.yaml:1: stop.env_step: unknown key; did you mean" in result.output
    found = json.loads(run("config", "check", "Thing-v0", "--json").output)
    assert found["problems"][0]["key"] == "stop.env_step"


def test_fmt_rewrites_files_or_only_checks_them(preset):
    path = preset("stop: {env_steps: 1k}\nseed: 1\n")
    before = path.read_text()
    assert run("config", "fmt", "--check", str(path)).exit_code == 1
    assert path.read_text() == before
    assert run("config", "fmt", str(path)).exit_code == 0
    assert path.read_text() == "seed: 1\n\nstop: {env_steps: 1k}\n"
    assert run("config", "fmt", "--check", str(path)).exit_code == 0


def test_presets_are_listed_and_searched():
    names = [found["name"] for found in answer("presets", "--json")]
    assert {"CartPole-v1", "Taxi-v4"} <= set(names)
    (lander,) = answer("presets", "lander", "--json")
    assert lander["variants"][:2] == ["ppo", "continuous"]
    assert "dqn" not in lander["variants"], "no settings of it are known to work"
    assert "LunarLander-v3" in run("presets", "lunr").output
    assert "no preset" in run("presets", "zzzzz").output


@pytest.mark.parametrize(
    "words", [["config", "check"], ["config", "show", "Taxi-v4"], ["presets"], ["config", "--help"]]
)
def test_config_commands_import_neither_torch_nor_gymnasium_nor_numpy(words):
    script = (
        "import sys\n"
        "from gymnast.cli import cli\n"
        f"cli.main({words!r}, standalone_mode=False)\n"
        "heavy = {'torch', 'gymnasium', 'numpy', 'pandas', 'rich'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True, capture_output=True)
