"""A run that is resumed from a checkpoint equals a run that never stopped."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pytest

from gymnast.errors import CheckpointError, ConfigError, RunError, UsageError
from gymnast.runs import checkpoint
from gymnast.training.lifecycle.label import Label
from tests.small_runs import (
    assert_same_run,
    checkpoint_arrays,
    copy_killed_at,
    exact_metrics,
    resume_run,
    rows,
    same_arrays,
    train_small,
)

N, T = 3, 16
ROLLOUT = N * T
EVERYTHING = {
    "env.n_envs": N,
    "algo.n_steps": T,
    "algo.lr": "3e-3 -> 0",
    "algo.clip": "0.3 -> 0.1 cosine",
    "algo.entropy_coef": "0.01 -> 0 @ 25%..75%",
    "algo.reset_optimizer_on_lr_jump": 1.5,
    "normalize.obs": "running",
    "normalize.reward": "running",
    "normalize.value": "popart",
    "stop.env_steps": 8 * ROLLOUT,
    "eval.every": "2 rollouts",
    "eval.starts": "seeds",
    "eval.warmup": "off",
    "eval.start_at": "off",
    "eval.max_episode_steps": 40,
    "checkpoint.every": "3 rollouts",
    "checkpoint.keep": 20,
    "traces.train": "100%",
}
"""Schedules, normalizers, several copies, episodes cut by rollouts."""
SHORT_EPISODES = {"env.max_episode_steps": 21}


@pytest.mark.parametrize(
    ("env", "engine"),
    [
        ("CartPole-v1", "native"),
        ("CartPole-v1", "torch"),
        ("LunarLander-v3", "native"),
        ("Taxi-v4", "native"),
        ("Pendulum-v1", "native"),
    ],
)
def test_stopping_and_resuming_equals_never_having_stopped(env: str, engine: str):
    settings = EVERYTHING | (SHORT_EPISODES if env in ("Taxi-v4", "Pendulum-v1") else {})
    settings = settings | {"engine": engine}
    whole = train_small(env, settings)
    killed = copy_killed_at(
        whole, 3 * ROLLOUT
    )  # in the middle of episodes, an evaluation under way
    assert checkpoint.latest(killed.path).document("state")["scores"]["pending"]
    assert_same_run(resume_run(killed), whole)
    (event,) = [e for e in killed.events() if e["kind"] == "resumed"]
    assert event["bit_exact"]
    assert not [e for e in killed.events() if e["kind"] == "episodes restarted"]


def test_a_run_may_be_stopped_anywhere_and_more_than_once():
    whole = train_small("Script", EVERYTHING)
    for step in (0, 2 * ROLLOUT, 4 * ROLLOUT):
        again = copy_killed_at(whole, step)
        resume_run(again)
        twice = copy_killed_at(again, 6 * ROLLOUT)
        assert_same_run(resume_run(twice), whole)


def test_resuming_with_a_larger_budget_equals_having_had_it_from_the_start():
    """Schedules over absolute clock values do not change with the budget."""
    steady = EVERYTHING | {
        "algo.lr": "3e-3 -> 1e-4 @ 0..400",
        "algo.clip": 0.2,
        "algo.entropy_coef": 0.01,
    }
    whole = train_small("CartPole-v1", steady | {"stop.env_steps": 6 * ROLLOUT})
    run = train_small("CartPole-v1", steady | {"stop.env_steps": 3 * ROLLOUT})
    resume_run(run, {"stop.env_steps": 6 * ROLLOUT})
    for stem in ("policy", "learner", "collector"):
        assert same_arrays(checkpoint_arrays(run, stem), checkpoint_arrays(whole, stem)), stem
    changed = [e for e in run.events() if e["kind"] == "budget changed"]
    assert [e["schedules_moved"] for e in changed] == [[]]


def test_schedules_that_change_with_the_budget_are_listed():
    run = train_small("Script", EVERYTHING | {"stop.env_steps": 2 * ROLLOUT})
    resume_run(run, {"stop.env_steps": 4 * ROLLOUT})
    (event,) = [e for e in run.events() if e["kind"] == "budget changed"]
    assert set(event["schedules_moved"]) == {"lr", "clip", "entropy_coef"}
    last = rows(run)[-2]
    assert last["clock/rollouts"] == 4
    assert last["hyper/lr"] == pytest.approx(3e-3 * (1 - 3 / 4))


def test_schedules_continue_where_they_were():
    whole = train_small("Script", EVERYTHING)
    run = resume_run(copy_killed_at(whole, 4 * ROLLOUT))
    found = [row["hyper/lr"] for row in rows(run) if "hyper/lr" in row]
    assert found == pytest.approx([3e-3 * (1 - k / 8) for k in range(8)], rel=1e-12)
    entropy = [row["hyper/entropy_coef"] for row in rows(run) if "hyper/lr" in row]
    expected = [0.01 * (1 - min(max(k / 8 - 0.25, 0) / 0.5, 1)) for k in range(8)]
    assert entropy == pytest.approx(expected, abs=1e-15)


def test_a_branch_may_have_other_settings_after_its_checkpoint():
    run = train_small("Script", EVERYTHING)
    before = rows(run)
    changes = {"algo.lr": 1e-5, "stop.env_steps": 6 * ROLLOUT}
    branch = resume_run(run, changes, at=str(3 * ROLLOUT), optimizer=False)
    after = rows(branch)
    assert [exact_metrics(row) for row in after[:3]] == [exact_metrics(row) for row in before[:3]]
    assert {row["hyper/lr"] for row in after[3:] if "hyper/lr" in row} == {1e-5}
    assert max(checkpoint.list_checkpoints(branch.path)) == 6 * ROLLOUT
    clocks = [row["clock/rollouts"] for row in after if "policy/loss" in row]
    assert clocks == [1, 2, 3, 4, 5, 6]
    (event,) = [e for e in branch.events() if e["kind"] == "resumed"]
    assert not event["bit_exact"]
    assert event["fresh_optimizer"]
    assert {c["key"] for c in event["changes"]} == {"algo.lr", "stop.env_steps"}
    assert branch.config().stop.env_steps == 6 * ROLLOUT
    assert branch.provenance()["algo.lr"] == "resume"


def test_a_branch_starts_with_the_settings_of_its_checkpoint_before_later_resumes():
    run = train_small("Script", EVERYTHING | {"stop.env_steps": 6 * ROLLOUT})
    whole = copy_killed_at(run, 6 * ROLLOUT)
    resume_run(run, {"stop.env_steps": 8 * ROLLOUT, "algo.lr": 1e-5})
    branch = resume_run(run, at=str(3 * ROLLOUT))
    assert branch.config() == whole.config()
    assert same_arrays(checkpoint_arrays(branch), checkpoint_arrays(whole))
    again = resume_run(
        run, at=str(6 * ROLLOUT)
    )  # where it was resumed: with what it continued with
    assert same_arrays(checkpoint_arrays(again), checkpoint_arrays(run))


def test_a_branch_can_be_killed_and_branched_from_like_any_run():
    whole = train_small("Script", EVERYTHING)
    branch = resume_run(whole, at=str(2 * ROLLOUT), label=Label("again", tags=("tried",)))
    assert (branch.info["name"], branch.info["tags"]) == ("again", ["tried"])
    assert same_arrays(
        checkpoint_arrays(resume_run(copy_killed_at(branch, 6 * ROLLOUT))), checkpoint_arrays(whole)
    )
    twig = resume_run(branch, at=str(4 * ROLLOUT))
    assert twig.info["parent"] == branch.id
    assert same_arrays(checkpoint_arrays(twig), checkpoint_arrays(whole))


def test_only_a_branch_accepts_a_name_and_a_refused_one_creates_nothing(runs_dir):
    run = train_small("Script", EVERYTHING | {"stop.env_steps": 4 * ROLLOUT})
    there = sorted(runs_dir.iterdir())
    with pytest.raises(UsageError, match="itself continues"):
        resume_run(run, {"stop.env_steps": 8 * ROLLOUT}, label=Label("other"))
    with pytest.raises(ConfigError, match="cannot change"):
        resume_run(run, {"seed": 5}, at=str(2 * ROLLOUT))
    assert sorted(runs_dir.iterdir()) == there


def test_the_best_score_is_dropped_if_its_checkpoint_was_pruned_meanwhile():
    run = train_small("Script", EVERYTHING | {"eval.every": "1 rollouts"})
    run = copy_killed_at(run, 6 * ROLLOUT)
    best = checkpoint.find(run.path, 6 * ROLLOUT).document("state")["scores"]["best"]["env_steps"]
    shutil.rmtree(checkpoint.list_checkpoints(run.path)[best])
    resume_run(run)
    assert run.info["checkpoints"]["best"] in checkpoint.list_checkpoints(run.path)
    (event,) = [e for e in run.events() if e["kind"] == "best score dropped"]
    assert event["score"]["env_steps"] == best


def test_a_damaged_newest_checkpoint_is_kept_and_the_recovery_is_recorded():
    whole = train_small("Script", EVERYTHING)
    run = copy_killed_at(whole, 8 * ROLLOUT)
    newest = checkpoint.list_checkpoints(run.path)[8 * ROLLOUT]
    (newest / "policy.safetensors").write_bytes(b"torn")
    resume_run(run)
    assert same_arrays(checkpoint_arrays(run), checkpoint_arrays(whole))
    (event,) = [e for e in run.events() if e["kind"] == "recovered"]
    assert event["damaged"] == [8 * ROLLOUT]
    assert (run.checkpoints / f"damaged-{newest.name}" / "policy.safetensors").exists()


def test_a_checkpoint_of_a_newer_gymnast_is_never_replaced_by_an_older_one():
    run = copy_killed_at(train_small("Script", EVERYTHING), 8 * ROLLOUT)
    manifest = checkpoint.list_checkpoints(run.path)[8 * ROLLOUT] / "manifest.json"
    content = json.loads(manifest.read_text()) | {"version": checkpoint.VERSION + 1}
    manifest.write_text(json.dumps(content))
    with pytest.raises(CheckpointError, match=f"format {checkpoint.VERSION + 1} is not known"):
        resume_run(run)
    assert manifest.exists()


@pytest.mark.parametrize("budget", [{"stop.env_steps": 2 * ROLLOUT}, {"stop.rollouts": 3}])
def test_a_budget_that_is_used_up_is_refused_and_the_stored_one_stays(budget: dict[str, int]):
    run = copy_killed_at(train_small("Script", EVERYTHING), 4 * ROLLOUT)
    config, info = run.config(), run.info
    with pytest.raises(RunError, match="has used") as refused:
        resume_run(run, budget)
    assert "larger" in refused.value.fix
    assert "--at" in refused.value.fix
    assert (run.config(), run.info) == (config, info)


def test_a_budget_smaller_than_the_stored_one_is_for_branches_only():
    run = copy_killed_at(train_small("Script", EVERYTHING), 4 * ROLLOUT)
    with pytest.raises(RunError, match="too small"):
        resume_run(run, {"stop.env_steps": 6 * ROLLOUT})
    branch = resume_run(run, {"stop.env_steps": 6 * ROLLOUT}, at=str(3 * ROLLOUT))
    assert branch.info["clocks"]["env_steps"] == 6 * ROLLOUT


def test_other_settings_do_not_resume_a_run_whose_budget_is_spent():
    run = train_small("Script", EVERYTHING | {"stop.env_steps": 2 * ROLLOUT})
    config = run.config()
    with pytest.raises(RunError, match="too small"):
        resume_run(run, {"algo.lr": 1e-5})
    assert run.config() == config


def test_resume_can_reset_the_optimizer():
    whole = train_small("Script", EVERYTHING | {"algo.reset_optimizer_on_lr_jump": "off"})
    fresh = copy_killed_at(whole, 4 * ROLLOUT)
    resume_run(fresh, optimizer=False)
    assert not same_arrays(checkpoint_arrays(fresh), checkpoint_arrays(whole))
    steps = checkpoint.latest(fresh.path).document("state")["learners"]["agent"]["algorithm"]
    assert steps["steps"] == 4 * 4  # two epochs of two minibatches, four rollouts
    (event,) = [e for e in fresh.events() if e["kind"] == "resumed"]
    assert event["fresh_optimizer"]
    assert not event["bit_exact"]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("seed", 5),
        ("env.n_envs", 4),
        ("env.kwargs", {"length": 9}),
        ("policy.hidden", [32]),
        ("normalize.obs", "off"),
    ],
)
def test_settings_that_a_checkpoint_does_not_fit_are_refused_and_nothing_changes(key, value):
    run = train_small("Script", EVERYTHING | {"stop.env_steps": 2 * ROLLOUT})
    config, info = run.config(), run.info
    with pytest.raises(ConfigError, match=key.partition(".")[0]) as refused:
        resume_run(run, {key: value, "stop.env_steps": 4 * ROLLOUT})
    assert "--from" in refused.value.fix
    assert run.config() == config
    assert run.info == info


def test_a_finished_run_is_resumed_only_with_changed_settings():
    run = train_small("Script", EVERYTHING | {"stop.env_steps": 2 * ROLLOUT})
    with pytest.raises(RunError, match="finished") as refused:
        resume_run(run)
    assert "--env-steps" in refused.value.fix


def test_episodes_that_cannot_be_replayed_are_restarted_and_that_is_recorded():
    settings = EVERYTHING | {"env.kwargs": {"length": 50}}
    run = copy_killed_at(train_small("Forgetful", settings), 3 * ROLLOUT)
    resume_run(run)
    (event,) = [e for e in run.events() if e["kind"] == "episodes restarted"]
    assert event["copies"] == [0, 1, 2]


def test_a_run_that_ended_before_its_first_checkpoint_restarts():
    whole = train_small("Script", EVERYTHING)
    run = copy_killed_at(whole, -1)
    for file in ("events.jsonl", "metrics.db"):
        (run.path / file).unlink()
    resume_run(run)
    assert run.events()[0]["kind"] == "restarted"
    assert_same_run(run, whole)


def test_the_window_of_recent_episodes_and_the_alerts_are_kept():
    whole = train_small("Script", EVERYTHING)
    saved = checkpoint.find(whole.path, 4 * ROLLOUT).document("state")
    assert len(saved["recent"]["agent"]) > 10
    assert saved["alerts"]["ranges"]
    run = resume_run(copy_killed_at(whole, 4 * ROLLOUT))
    row = next(row for row in rows(run) if row["clock/rollouts"] == 5)
    assert row["episode/count"] > len(saved["recent"]["agent"])
    assert np.isfinite(row["episode/return"])
