"""The command line from training to reading runs, with exit codes and error messages."""

from __future__ import annotations

import json
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from tests.e2e.commands import (
    read_json,
    run_checked,
    run_gymnast,
    run_here,
    run_json,
    small_settings,
)


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A runs directory with one finished CartPole run named `first`."""
    runs = tmp_path_factory.mktemp("trained") / "runs"
    run_checked(
        runs, "train", "CartPole-v1", "--env-steps", "2k", "--name", "first", *small_settings()
    )
    return runs


def test_show_prints_every_documented_key(trained: Path):
    shown = run_json(trained, "show", "first")
    documented = {
        *("id", "preset", "status", "reason", "solved", "score", "clocks", "seed"),
        *("config", "parent", "alerts", "events", "checkpoints"),
    }
    assert documented <= set(shown)
    assert {"mean", "low", "high", "episodes"} <= set(shown["score"])
    for which in ("best", "latest"):
        assert {"step", "path", "sha256"} <= set(shown["checkpoints"][which])
    assert shown["status"] == "finished"
    assert shown["clocks"]["env_steps"] >= 2000
    assert shown["preset"] == "CartPole-v1:ppo"


def test_eval_prints_every_documented_key_and_is_reproducible(trained: Path):
    first = run_json(trained, "eval", "first:best", "--episodes", "5")
    documented = {"mean", "low", "high", "iqm", "episodes", "returns", "seeds", "checkpoint"}
    assert documented <= set(first)
    assert len(first["returns"]) == len(set(first["seeds"])) == 5
    assert read_json(trained, "eval", "first:best", "--episodes", "5") == first


def test_eval_reproduces_the_score_that_training_confirmed(trained: Path):
    score = read_json(trained, "show", "first")["score"]
    again = read_json(trained, "eval", "first")
    assert [again[key] for key in ("mean", "low", "high")] == [
        score[key] for key in ("mean", "low", "high")
    ]


def test_a_finished_run_resumes_only_with_a_larger_budget(trained: Path):
    refused = run_here(trained, "resume", "first")
    assert refused.returncode == 1
    assert "finished" in refused.stderr
    assert "--env-steps" in refused.stderr
    run_checked(
        trained, "train", "CartPole-v1", "--env-steps", "1k", "--name", "more", *small_settings()
    )
    run_checked(trained, "resume", "more", "--env-steps", "2k", "--quiet")
    shown = read_json(trained, "show", "more")
    assert shown["clocks"]["env_steps"] >= 2000
    assert {"resumed", "budget changed"} <= {event["kind"] for event in shown["events"]}


def test_training_from_another_run_copies_its_weights_and_records_the_parent(trained: Path):
    words = ["train", "CartPole-v1", "--env-steps", "512", "--name", "child", "--from", "first"]
    run_checked(trained, *words, *small_settings())
    shown = read_json(trained, "show", "child")
    assert shown["parent"] == read_json(trained, "show", "first")["id"]
    (taken,) = [e for e in shown["events"] if e["kind"] == "weights loaded"]
    assert "actor.0.weight" in taken["detail"]["taken"]
    assert not taken["detail"]["fresh"]


@pytest.mark.slow
def test_a_group_of_seeds_has_a_result_with_a_confidence_interval(trained: Path):
    words = ["train", "CartPole-v1", "--seeds", "2", "--jobs", "2", "--env-steps", "512"]
    words += ["--name", "pair", *small_settings()]
    assert "as pair-s0 to pair-s1" in run_checked(trained, *words, "--dry-run")
    assert run_json(trained, *words, "--dry-run")["names"] == ["pair-s0", "pair-s1"]
    assert not run_json(trained, "runs", "group=pair")["runs"]
    group = run_json(trained, *words)
    assert group["group"] == "pair"
    assert [run["name"] for run in run_json(trained, "runs", "group=pair")["runs"]] != []
    assert run_json(trained, "show", "pair-s1")["seed"] == 1
    again = run_gymnast(trained, *words)
    assert again.returncode != 0
    assert "is taken by" in again.stderr
    assert "pair" in run_checked(trained, "compare", "pair", "pair-s0")
    result = group["result"]
    assert [entry["seed"] for entry in result["scores"]] == [0, 1]
    assert result["low"] <= result["mean"] <= result["high"]
    listed = run_json(trained, "runs", f"group={group['group']}")["runs"]
    assert len(listed) == 2


def test_an_environment_without_a_preset_trains_with_defaults_and_a_message(tmp_path: Path):
    words = ["train", "MountainCarContinuous-v0", "--env-steps", "256", *small_settings()]
    printed = run_checked(tmp_path, *words, "--set", "eval.max_episode_steps=50")
    assert "no preset" in printed
    config = read_json(tmp_path, "show", "@last")["config"]
    assert config["normalize"]["obs"] == "running"


def test_a_dry_run_shows_the_plan_and_writes_nothing(tmp_path: Path):
    printed = run_here(tmp_path / "runs", "train", "CartPole-v1", "--dry-run").stdout
    assert "9,155 parameters" in printed
    assert "100,000 env steps" in printed
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["train", "CartPole-v1", "--set", "algo.learning_rate=1"], 2, "algo.lr"),
        (["train", "CartPole-v1", "--set", "algo.gamma=2", "--set", "algo.lr=x"], 2, "algo.lr"),
        (["train", "CartPole-v1", "--set", "nonsense"], 2, "KEY=VALUE"),
        (["train", "CartPole-v1:pppo"], 2, "did you mean ppo"),
        (["train", "CartPole-v1", "--seed", "-1"], 2, "--seed"),
        (["train", "CartPole-v1", "--env-steps", "50kk"], 2, "error: --env-steps: stop.env_steps"),
        (["train", "CartPole-v1", "--minutes", "x"], 2, "error: --minutes: stop.minutes"),
        (["train", "CartPole-v1", "--track", "x"], 2, "error: --track: track.to.0"),
        (["train", "CartPole-v1", "--set", "stop.updates=x"], 2, "error: --set: stop.updates"),
        (["train", "CartPole-v9"], 1, "CartPole-v1"),
        (["train", "LunarLander-v2"], 1, "LunarLander-v3"),
        (["train", "Taxi-v3"], 1, "Taxi-v4"),
        (["train", "py:tests.identity:Storyteller"], 1, "Text observations"),
        (["train", "Pendulum-v1", "--set", "policy.module=no.such:Net"], 2, "policy.module"),
        (["train", "CartPole-v1", "--set", "policy.cnn=resnet"], 2, "nature"),
        (["train", "py:no.such.module:Env"], 1, "no.such.module"),
        (["train", "CartPole-v1", "--from", "@last"], 1, "no runs"),
        (["resume", "@last"], 1, "no runs"),
        (["eval", "nothing"], 1, "no runs"),
        (["trian", "CartPole-v1"], 2, "trian"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_invalid_arguments_raise_a_clear_error_and_leave_no_files(
    words: list[str], code: int, message: str, tmp_path: Path
):
    assert_refused(run_here(tmp_path / "runs", *words), code, message, tmp_path)


@pytest.mark.parametrize(("target", "code"), [("CartPole-v9", 1), ("CartPole-v1:pppo", 2)])
def test_the_process_of_an_invalid_command_ends_with_its_code(
    target: str, code: int, tmp_path: Path
):
    done = run_gymnast(tmp_path / "runs", "train", target)
    assert_refused(done, code, "CartPole-v1", tmp_path)


def assert_refused(done: CompletedProcess[str], code: int, message: str, tmp_path: Path) -> None:
    assert done.returncode == code, done.stderr
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "runs").exists()


@pytest.mark.slow
def test_seed_zero_is_used_and_reproducible_to_the_last_bit(trained: Path):
    hashes = set()
    for name in ("zero-a", "zero-b"):
        words = ["train", "CartPole-v1", "--seed", "0", "--env-steps", "512", "--name", name]
        run_checked(trained, *words, *small_settings())
        hashes.add(run_json(trained, "show", name)["checkpoints"]["latest"]["sha256"])
    assert len(hashes) == 1
    run_checked(
        trained, "train", "CartPole-v1", "--seed", "1", "--env-steps", "512", *small_settings()
    )
    assert run_json(trained, "show", "@last")["checkpoints"]["latest"]["sha256"] not in hashes


def test_train_prints_json(trained: Path):
    result = run_json(trained, "train", "CartPole-v1", "--env-steps", "512", *small_settings())
    assert result["env_steps"] == 512
    assert json.dumps(result)
