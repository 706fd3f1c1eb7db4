"""Start and end of a run: initial weights, stop reasons, and stored checkpoints and traces."""

from __future__ import annotations

import numpy as np
import pytest

from gymnast.clock import Clock
from gymnast.config.section import RolloutLength
from gymnast.errors import CheckpointError, ConfigError, EnvError
from gymnast.runs import checkpoint
from gymnast.runs.run import Run
from gymnast.seeds import episode_seed
from gymnast.training.lifecycle.stop import limit_to_budget
from tests.small_runs import checkpoint_arrays, evaluations, rows, same_arrays, traces, train_small

TINY = {
    "env.n_envs": 2,
    "algo.n_steps": 8,
    "stop.rollouts": 3,
    "eval.every": "off",
    "checkpoint.every": "off",
}
ROLLOUT = 2 * 8


def test_a_run_started_from_another_loads_its_weights_and_statistics_and_names_its_parent():
    normal = {"normalize.obs": "running", "normalize.value": "popart"}
    parent = train_small("Script", TINY | normal)
    child = train_small("Script", TINY | normal | {"seed": 9}, source=parent)
    taken, stranger = (
        checkpoint_arrays(child, which=0),
        train_small("Script", TINY | normal | {"seed": 9}),
    )
    assert same_arrays(taken, checkpoint_arrays(parent))
    assert not same_arrays(taken, checkpoint_arrays(stranger, which=0))
    assert (child.info["parent"], child.info["parent_step"]) == (parent.id, 3 * ROLLOUT)
    (event,) = [e for e in child.events() if e["kind"] == "weights loaded"]
    assert event["fresh"] == []
    assert rows(child)[0]["clock/env_steps"] == ROLLOUT  # its own clocks begin anew
    fresh = checkpoint.find(child.path, 0)
    assert fresh.document("state")["learners"]["agent"]["algorithm"]["steps"] == 0


def test_with_another_network_shape_only_fitting_weights_are_loaded_and_the_rest_is_listed():
    parent = train_small("Script", TINY)
    child = train_small("Script", TINY | {"env.kwargs": {"n_actions": 5}}, source=parent)
    (event,) = [e for e in child.events() if e["kind"] == "weights loaded"]
    assert event["fresh"] == ["actor.2.weight", "actor.2.bias"]
    ours, theirs = checkpoint_arrays(child, which=0), checkpoint_arrays(parent)
    assert np.array_equal(ours["agent/critic.0.weight"], theirs["agent/critic.0.weight"])


def test_a_run_can_start_from_a_named_checkpoint():
    parent = train_small("Script", TINY | {"checkpoint.every": "1 rollouts"})
    child = train_small("Script", TINY, source=f"{parent.path}:{ROLLOUT}")
    assert child.info["parent_step"] == ROLLOUT
    assert same_arrays(checkpoint_arrays(child, which=0), checkpoint_arrays(parent, which=ROLLOUT))


def test_weights_that_do_not_fit_are_refused_and_no_run_is_created(runs_dir):
    parent = train_small("Choose", TINY)
    with pytest.raises(CheckpointError, match="no weights that fit"):
        train_small("Script", TINY | {"policy.hidden": [8]}, source=parent)
    assert [path.parent.name for path in runs_dir.glob("*/run.json")] == [parent.id]


def test_a_budget_smaller_than_a_rollout_shortens_it():
    run = train_small("Script", TINY | {"stop.env_steps": 6})
    (row,) = [row for row in rows(run) if "policy/loss" in row]
    assert row["clock/env_steps"] == 6
    assert row["clock/vec_steps"] == 3
    assert run.info["reason"] == "budget of 6 env steps spent"


def test_the_last_rollout_is_shortened_to_the_budget():
    run = train_small("Script", TINY | {"stop.env_steps": 2 * ROLLOUT + 4})
    steps = [row["clock/env_steps"] for row in rows(run) if "policy/loss" in row]
    assert steps == [ROLLOUT, 2 * ROLLOUT, 2 * ROLLOUT + 4]


@pytest.mark.parametrize(
    ("limits", "done", "length"),
    [
        ({}, 0, 128),
        ({"env_steps": 1000}, 0, 125),
        ({"env_steps": 100_000}, 0, 128),
        ({"env_steps": 1001}, 0, 126),
        ({"env_steps": 1000}, 990, 2),
        ({"vec_steps": 10}, 0, 10),
        ({"env_steps": 8, "vec_steps": 100}, 0, 1),
        ({"updates": 3}, 0, 128),
        ({"env_steps": 1000}, 1000, 1),
    ],
)
def test_a_rollout_is_as_long_as_the_budget_allows(limits, done: int, length: int):
    clock = Clock(env_steps=done, limits=limits)
    assert limit_to_budget(RolloutLength(128), 8, 1, clock) == RolloutLength(length)


@pytest.mark.parametrize(
    ("budget", "expected"),
    [
        ({"stop.env_steps": 40}, {"env_steps": 40}),
        ({"stop.vec_steps": 20}, {"vec_steps": 20}),
        ({"stop.rollouts": 2}, {"rollouts": 2}),
        ({"stop.updates": 6}, {"updates": 6}),  # the second update is cut: two of its four steps
    ],
)
def test_every_budget_ends_a_run(budget, expected):
    run = train_small("Script", {k: v for k, v in TINY.items() if k != "stop.rollouts"} | budget)
    info = run.info
    assert info["reason_kind"] == "budget"
    for clock, reading in expected.items():
        assert info["clocks"][clock] == reading


def test_a_training_return_ends_a_run_once_enough_episodes_support_it():
    """Any return reaches this goal, but one lucky episode is not a result."""
    settings = {"env.kwargs": {"length": 4}, "stop.rollouts": 100, "stop.train_return": -1e9}
    run = train_small("Script", TINY | settings)
    assert run.info["reason_kind"] == "train_return"
    last = [row for row in rows(run) if "policy/loss" in row][-1]
    measured = f"training return {last['episode/return']:.4g} reached the goal of -1e+09"
    assert run.info["reason"] == measured
    assert last["episode/count"] >= 50 > last["episode/count"] - last["rollout/episodes"]


def test_a_run_is_solved_when_the_lower_bound_reaches_the_threshold():
    """One rollout is enough to learn the task; the threshold is set just below and just above the lower
    bound."""
    settings = TINY | {"eval.every": "1 rollouts", "stop.rollouts": 4, "stop.solved": "on"}
    settings |= {"env.n_envs": 8, "algo.n_steps": 16, "algo.lr": 0.01, "algo.gamma": 0.0}
    known = train_small("Choose", settings)
    low = min(row["eval:episode/low"] for row in rows(known) if "eval:episode/low" in row)
    assert low == known.info["score"]["low"] == 8
    reached = settings | {"facts.threshold": low - 0.01}
    # A score over a few episodes, 4 here, does not show that the task was learned.
    few = train_small("Choose", reached)
    assert (few.info["solved"], few.info["score"]["low"]) == (False, 8)
    solved = train_small("Choose", reached | {"eval.confirm_episodes": 10})
    assert solved.info["solved"] is True
    assert solved.info["reason_kind"] == "solved"
    assert evaluations(solved)[-1] == (256, 128)
    unsolved = train_small("Choose", settings | {"facts.threshold": low + 0.01})
    assert unsolved.info["solved"] is False
    assert unsolved.info["clocks"]["rollouts"] == 4
    assert known.info["solved"] is None


def test_checkpoints_are_written_at_the_start_and_at_the_end_without_any_evaluation():
    run = train_small("Script", TINY)
    assert list(checkpoint.list_checkpoints(run.path)) == [0, 3 * ROLLOUT]
    assert not evaluations(run)
    assert run.info["checkpoints"]["latest"] == 3 * ROLLOUT


def test_the_configured_number_of_checkpoints_is_kept_plus_the_best():
    settings = {"stop.rollouts": 8, "checkpoint.every": "1 rollouts", "checkpoint.keep": 2}
    run = train_small("Script", TINY | settings | {"eval.every": "2 rollouts"})
    best = run.info["checkpoints"]["best"]
    assert set(checkpoint.list_checkpoints(run.path)) == {best, 7 * ROLLOUT, 8 * ROLLOUT}


def test_the_configured_share_of_training_episodes_is_traced():
    many = TINY | {"env.kwargs": {"length": 1}, "stop.rollouts": 20}
    counts = {
        share: sum(
            map(
                len, traces(train_small("Script", many | {"traces.train": share}), "train").values()
            )
        )
        for share in ("0%", "25%", "100%")
    }
    assert counts["0%"] == 0
    assert counts["100%"] == 20 * ROLLOUT
    assert counts["25%"] == pytest.approx(0.25 * 20 * ROLLOUT, rel=0.3)


def test_a_refused_start_writes_no_files(runs_dir):
    for settings in ({"algo.n_stepz": 4}, {"normalize.obs": "static"}, {"eval.starts": "all"}):
        with pytest.raises(ConfigError):
            train_small("Script", TINY | settings)
    with pytest.raises(EnvError):
        train_small("Nobody", TINY)
    assert not runs_dir.exists() or not list(runs_dir.glob("*/run.json"))


def test_an_environment_that_breaks_ends_the_run_as_failed_with_its_checkpoints_kept(runs_dir):
    broken = {"how": "nan reward", "at": 30, "only": episode_seed(0, "episode", "agent", 1, 0)}
    with pytest.raises(EnvError, match="copy 1, step 30"):
        train_small(
            "Broken", TINY | {"env.kwargs": broken, "env.on_fault": "stop", "stop.rollouts": 10}
        )
    (path,) = runs_dir.glob("*/run.json")
    run = Run(path.parent)
    assert run.info["status"] == "failed"
    assert "copy 1, step 30" in run.info["reason"]
    assert [event["copy"] for event in run.events() if event["kind"] == "fault"] == [1]
    # all that was collected until then is learned from, on record and saved
    last = rows(run)[-1]
    assert last["rollout/faults"] == 1
    assert checkpoint.latest(run.path).step == last["clock/env_steps"] == 60


def test_the_same_seed_gives_the_same_run_and_another_seed_does_not():
    settings = TINY | {"normalize.obs": "running", "traces.train": "100%"}
    first, again, other = (train_small("CartPole-v1", settings | {"seed": s}) for s in (0, 0, 1))
    assert same_arrays(checkpoint_arrays(first), checkpoint_arrays(again))
    assert same_arrays(checkpoint_arrays(first, "collector"), checkpoint_arrays(again, "collector"))
    assert not same_arrays(checkpoint_arrays(first), checkpoint_arrays(other))
