"""Training on from a checkpoint is the same as never having stopped."""

from __future__ import annotations

import numpy as np
import pytest

from gymnast.errors import ConfigError, RunError
from gymnast.runs import checkpoint
from tests.small_runs import (
    arrays,
    exact,
    gone_back,
    resumed,
    rows,
    same_arrays,
    same_run,
    traces,
    trained,
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
"""Schedules, normalisers, several copies, episodes cut by rollouts."""
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
def test_stopping_and_going_on_is_the_same_as_never_having_stopped(env: str, engine: str):
    settings = EVERYTHING | (SHORT_EPISODES if env in ("Taxi-v4", "Pendulum-v1") else {})
    settings = settings | {"engine": engine}
    whole = trained(env, settings)
    killed = gone_back(whole, 3 * ROLLOUT)  # in the middle of episodes, an evaluation under way
    assert checkpoint.latest(killed.path).document("state")["scores"]["pending"]
    same_run(resumed(killed), whole)
    (event,) = [e for e in killed.events() if e["kind"] == "resumed"]
    assert event["bit_exact"]
    assert not [e for e in killed.events() if e["kind"] == "episodes restarted"]


def test_it_may_be_stopped_anywhere_and_more_than_once():
    whole = trained("Script", EVERYTHING)
    for step in (0, 2 * ROLLOUT, 4 * ROLLOUT):
        again = gone_back(whole, step)
        resumed(again)
        twice = gone_back(again, 6 * ROLLOUT)
        same_run(resumed(twice), whole)


def test_a_larger_budget_goes_on_as_if_it_had_been_there_from_the_start():
    """Schedules in readings of a clock do not move with the budget."""
    steady = EVERYTHING | {
        "algo.lr": "3e-3 -> 1e-4 @ 0..400",
        "algo.clip": 0.2,
        "algo.entropy_coef": 0.01,
    }
    whole = trained("CartPole-v1", steady | {"stop.env_steps": 6 * ROLLOUT})
    run = trained("CartPole-v1", steady | {"stop.env_steps": 3 * ROLLOUT})
    resumed(run, {"stop.env_steps": 6 * ROLLOUT})
    for stem in ("policy", "learner", "collector"):
        assert same_arrays(arrays(run, stem), arrays(whole, stem)), stem
    changed = [e for e in run.events() if e["kind"] == "budget changed"]
    assert [e["schedules_moved"] for e in changed] == [[]]


def test_schedules_that_move_with_the_budget_are_named():
    run = trained("Script", EVERYTHING | {"stop.env_steps": 2 * ROLLOUT})
    resumed(run, {"stop.env_steps": 4 * ROLLOUT})
    (event,) = [e for e in run.events() if e["kind"] == "budget changed"]
    assert set(event["schedules_moved"]) == {"lr", "clip", "entropy_coef"}
    last = rows(run)[-2]
    assert last["clock/rollouts"] == 4
    assert last["hyper/lr"] == pytest.approx(3e-3 * (1 - 3 / 4))


def test_schedules_go_on_where_they_were():
    whole = trained("Script", EVERYTHING)
    run = resumed(gone_back(whole, 4 * ROLLOUT))
    found = [row["hyper/lr"] for row in rows(run) if "hyper/lr" in row]
    assert found == pytest.approx([3e-3 * (1 - k / 8) for k in range(8)], rel=1e-12)
    entropy = [row["hyper/entropy_coef"] for row in rows(run) if "hyper/lr" in row]
    expected = [0.01 * (1 - min(max(k / 8 - 0.25, 0) / 0.5, 1)) for k in range(8)]
    assert entropy == pytest.approx(expected, abs=1e-15)


def test_settings_may_change_from_an_earlier_checkpoint_on_and_what_followed_is_void():
    run = trained("Script", EVERYTHING)
    before = rows(run)
    resumed(run, {"algo.lr": 1e-5, "stop.env_steps": 6 * ROLLOUT}, at=str(3 * ROLLOUT))
    after = rows(run)
    assert [exact(row) for row in after[:3]] == [exact(row) for row in before[:3]]
    assert {row["hyper/lr"] for row in after[3:] if "hyper/lr" in row} == {1e-5}
    assert max(row["clock/env_steps"] for row in after) == 6 * ROLLOUT
    assert max(checkpoint.steps(run.path)) == 6 * ROLLOUT
    clocks = [row["clock/rollouts"] for row in after if "policy/loss" in row]
    assert clocks == [1, 2, 3, 4, 5, 6]
    (event,) = [e for e in run.events() if e["kind"] == "resumed"]
    assert not event["bit_exact"]
    assert {c["key"] for c in event["changes"]} == {"algo.lr", "stop.env_steps"}
    assert "lr: 1.0e-05" in run.config() or "lr: 1e-05" in run.config()
    assert run.provenance()["algo.lr"] == "resume"


def test_traces_of_what_is_void_are_void_too():
    run = trained("Script", EVERYTHING)
    resumed(run, {"algo.lr": 1e-5, "stop.env_steps": 6 * ROLLOUT}, at=str(3 * ROLLOUT))
    for kind in ("train", "eval"):
        assert max(traces(run, kind)) <= 6 * ROLLOUT
    clock = sum(len(e) for e in traces(run, "train").values())
    assert clock == run.info["clocks"]["episodes"]


def test_the_optimiser_can_be_left_behind():
    whole = trained("Script", EVERYTHING | {"algo.reset_optimizer_on_lr_jump": "off"})
    fresh = gone_back(whole, 4 * ROLLOUT)
    resumed(fresh, optimizer=False)
    assert not same_arrays(arrays(fresh), arrays(whole))
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
def test_what_a_checkpoint_cannot_be_poured_into_is_refused_and_changes_nothing(key, value):
    run = trained("Script", EVERYTHING | {"stop.env_steps": 2 * ROLLOUT})
    config, info = run.config(), run.info
    with pytest.raises(ConfigError, match=key.partition(".")[0]) as refused:
        resumed(run, {key: value, "stop.env_steps": 4 * ROLLOUT})
    assert "--from" in refused.value.fix
    assert run.config() == config
    assert run.info == info


def test_a_finished_run_has_nothing_to_go_on_with_unless_told():
    run = trained("Script", EVERYTHING | {"stop.env_steps": 2 * ROLLOUT})
    with pytest.raises(RunError, match="finished") as refused:
        resumed(run)
    assert "--env-steps" in refused.value.fix


def test_episodes_that_cannot_be_replayed_begin_anew_and_that_is_on_record():
    settings = EVERYTHING | {"env.kwargs": {"length": 50}}
    run = gone_back(trained("Forgetful", settings), 3 * ROLLOUT)
    resumed(run)
    (event,) = [e for e in run.events() if e["kind"] == "episodes restarted"]
    assert event["copies"] == [0, 1, 2]


def test_a_run_ended_before_its_first_checkpoint_begins_again():
    whole = trained("Script", EVERYTHING)
    run = gone_back(whole, -1)
    for file in ("events.jsonl", "metrics.db"):
        (run.path / file).unlink()
    resumed(run)
    assert run.events()[0]["kind"] == "begun again"
    same_run(run, whole)


def test_the_window_of_recent_episodes_and_the_alerts_are_kept():
    whole = trained("Script", EVERYTHING)
    saved = checkpoint.find(whole.path, 4 * ROLLOUT).document("state")
    assert len(saved["recent"]["agent"]) > 10
    assert saved["alerts"]["ranges"]
    run = resumed(gone_back(whole, 4 * ROLLOUT))
    row = next(row for row in rows(run) if row["clock/rollouts"] == 5)
    assert row["episode/count"] > len(saved["recent"]["agent"])
    assert np.isfinite(row["episode/return"])
