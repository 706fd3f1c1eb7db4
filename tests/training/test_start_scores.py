"""The version that a run starts with is evaluated like every later one, and only serves as their baseline."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gymnast.evaluation.evaluate import Evaluator
from gymnast.evaluation.jobs import ProcessEvaluation
from gymnast.evaluation.rescore import load_policy
from gymnast.evaluation.scores import Scores
from gymnast.insight.compare import compare
from gymnast.monitor.overview import overview_row
from gymnast.monitor.stored_run import read_stored_run
from gymnast.runs import checkpoint
from gymnast.runs.checkpoint import Checkpoint
from gymnast.runs.run import Run
from gymnast.runs.summary import summarize
from gymnast.training.loop import Loop
from tests.small_runs import (
    assert_same_run,
    checkpoint_arrays,
    copy_killed_at,
    evaluations,
    resume_run,
    rows,
    same_arrays,
    traces,
    train_small,
)

ROLLOUT = 4 * 8
SETTINGS = {
    "env.n_envs": 4,
    "algo.n_steps": 8,
    "stop.env_steps": 8 * ROLLOUT,
    "eval.every": "2 rollouts",
    "eval.warmup": "off",
    "eval.start_at": "off",
    "checkpoint.every": "1 rollouts",
    "checkpoint.keep": 20,
    "traces.train": "100%",
}
CHOOSE = {
    "env.n_envs": 8,
    "algo.n_steps": 16,
    "algo.lr": 0.01,
    "algo.gamma": 0.0,
    "eval.every": "10 rollouts",
    "eval.warmup": "off",
    "eval.start_at": "off",
    "eval.episodes": 10,
    "eval.confirm_episodes": 20,
    "stop.rollouts": 40,
    "checkpoint.every": "1 rollouts",
    "checkpoint.keep": 60,
    "facts.threshold": 7,
}
"""Settings with which `Choose` is learned in a second."""


def cartpole(**overrides: Any) -> Run:
    named = {key.replace("__", "."): value for key, value in overrides.items()}
    return train_small("CartPole-v1", SETTINGS | named)


@pytest.fixture(scope="module")
def learned(tmp_path_factory: pytest.TempPathFactory) -> Run:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GYMNAST_RUNS", str(tmp_path_factory.mktemp("runs")))
        return train_small("Choose", CHOOSE)


def mean_return(run: Run, saved: Checkpoint) -> float:
    """Returns the mean return of a checkpoint, played again with the seeds of the evaluations."""
    evaluator = Evaluator(run.config())
    try:
        played, _ = evaluator.evaluate(load_policy(saved), saved.step, evaluator.plan("eval"))
    finally:
        evaluator.close()
    return float(np.mean(played.returns))


@pytest.mark.parametrize("mode", ["inline", "process"])
@pytest.mark.parametrize("wait", ["on", "off"])
def test_the_untrained_policy_is_scored_with_the_seeds_and_actions_of_later_evaluations(mode, wait):
    run = cartpole(eval__mode=mode, eval__wait=wait)
    start = run.info["start_score"]
    assert (start["env_steps"], start["episodes"]) == (0, 4)
    assert start["mean"] == mean_return(run, checkpoint.find(run.path, 0))
    played = traces(run, "eval")
    assert [t.seed for t in played[0]] == [t.seed for t in played[2 * ROLLOUT]]
    returns = [t.raw_return for t in played[0]]
    assert (start["return_min"], start["return_max"]) == (min(returns), max(returns))
    assert start["truncated_share"] == np.mean([t.truncated for t in played[0]])


def test_the_score_of_the_start_changes_neither_rows_nor_what_is_learned():
    run, without = cartpole(), cartpole(eval__every="off")
    assert same_arrays(checkpoint_arrays(run), checkpoint_arrays(without))
    assert evaluations(run)[0][1] == 2 * ROLLOUT
    assert all(row.get("eval:clock/env_steps") != 0 for row in rows(run))
    summary = summarize(run.path, run.info, "finished")
    assert summary.curve[0][0] == 2 * ROLLOUT
    assert summary.start_score is not None
    assert without.info["start_score"] is None


@pytest.mark.parametrize("wait", ["on", "off"])
def test_the_start_neither_stops_a_run_nor_becomes_its_best_version(wait: str):
    run = cartpole(stop__eval_return=-1e9, eval__wait=wait)
    assert run.info["clocks"]["env_steps"] == (2 if wait == "on" else 4) * ROLLOUT
    assert run.info["checkpoints"]["best"] == 2 * ROLLOUT
    # The scripted return does not depend on the actions, so the start would stay the best version.
    script = train_small("Script", SETTINGS | {"stop.rollouts": 30, "stop.plateau": 3})
    assert script.info["checkpoints"]["best"] == 2 * ROLLOUT
    assert len(evaluations(script)) == 4


@pytest.mark.parametrize("wait", ["on", "off"])
@pytest.mark.parametrize("step", [0, ROLLOUT, 2 * ROLLOUT, 3 * ROLLOUT])
def test_a_run_killed_around_its_start_resumes_with_the_same_score_of_the_start(step, wait):
    whole = cartpole(eval__wait=wait)
    killed = copy_killed_at(whole, step)
    killed.update(start_score=None)
    state = checkpoint.latest(killed.path).document("state")["scores"]
    assert (state["start"] is None) == (step < 2 * ROLLOUT)
    assert_same_run(resume_run(killed), whole)


def test_the_first_rollouts_do_not_wait_for_the_evaluation_process_to_start(monkeypatch):
    """Sending a large policy waits until the process reads it."""
    order: list[str] = []
    for owner, name in (
        (ProcessEvaluation, "start"),
        (ProcessEvaluation, "submit"),
        (Loop, "iterate"),
    ):
        monkeypatch.setattr(owner, name, recorded(owner, name, order))
    cartpole(eval__mode="process")
    assert order[:4] == ["iterate", "start", "iterate", "submit"]


def recorded(owner: type, name: str, order: list[str]) -> Callable[..., Any]:
    """Returns a method that also appends its name to `order`."""
    method = getattr(owner, name)

    def call(*args: Any) -> Any:
        order.append(name)
        return method(*args)

    return call


# ---- branches ---------------------------------------------------------------------------------


@pytest.mark.parametrize("at", [15, 20], ids=["between evaluations", "at an evaluation"])
def test_a_branch_that_learns_nothing_has_neither_the_score_nor_the_verdict_of_its_parent(
    learned: Run, at: int
):
    assert learned.info["solved"] is True
    wrecked = resume_run(learned, {"algo.lr": 1e3, "transaction.max_kl": "off"}, at=str(at * 128))
    info = wrecked.info
    assert info["parent_step"] == at * 128
    assert info["start_score"]["env_steps"] == at * 128
    assert info["start_score"]["mean"] == mean_return(
        learned, checkpoint.find(learned.path, at * 128)
    )
    assert info["checkpoints"]["best"] > at * 128
    assert info["score"]["env_steps"] > at * 128
    assert info["score"]["mean"] < 7
    assert (info["solved"], info["doubts"]) == (False, ["not better"])
    assert info["reason_kind"] == "budget"
    assert info["learning"]["steps_to_threshold"] is None
    compared = compare([wrecked, learned]).runs[0]
    assert compared.best == summarize(wrecked.path, info, "finished").best_score < 7
    assert compared.threshold_at is None
    summary = summarize(wrecked.path, info, "finished")
    (role,) = overview_row(read_stored_run(summary, wrecked.path.parent, "")).roles
    assert role.best_eval_return is not None
    assert role.best_eval_return < 7


def test_a_branch_without_an_evaluation_has_no_result_of_its_parent(learned: Run):
    branch = resume_run(learned, {"eval.every": "off", "eval.confirm_episodes": 1}, at="2560")
    branch.update(status="stopped", score=None)
    compared = compare([branch, learned]).runs[0]
    assert (compared.final, compared.best, compared.threshold_at) == (None, None, None)
    assert compared.curve.y  # the evaluations of its parent are drawn


def test_a_branch_of_an_older_version_drops_the_score_of_its_parent(learned: Run, monkeypatch):
    state, parents = Scores.state, learned.info["score"] | {"env_steps": 1920, "low": 1e9}

    def older(scores: Scores) -> dict[str, Any]:
        stored = {key: value for key, value in state(scores).items() if "start" not in key}
        return stored | {"best": parents}

    wreck = {"algo.lr": 1e3, "transaction.max_kl": "off"}
    with monkeypatch.context() as patch:
        patch.setattr(Scores, "state", older)
        branch = resume_run(learned, wreck, at="1920")
    resumed = resume_run(branch, {"stop.rollouts": 50})
    assert resumed.info["score"]["env_steps"] > 1920
    assert resumed.info["score"]["mean"] < 7
    (dropped,) = (e for e in resumed.events() if e["kind"] == "best score dropped")
    assert dropped["why"] == "it is the score of its parent"


def test_a_branch_of_a_solved_run_does_not_end_solved_with_the_version_of_its_parent(learned: Run):
    """The parent's evaluation at the branch point is pending in the checkpoint: it must not end the
    branch."""
    branch = resume_run(learned, {"stop.solved": "on"}, at=str(20 * 128))
    assert branch.info["clocks"]["rollouts"] > 20
    assert branch.info["checkpoints"]["best"] > 20 * 128


def test_a_branch_that_gets_better_than_its_parent_is_solved():
    slow = train_small("Choose", CHOOSE | {"algo.lr": 1e-9})
    assert (slow.info["solved"], slow.info["doubts"]) == (False, ["not better", "no spread"])
    branch = resume_run(slow, {"algo.lr": 0.01}, at="1920")
    assert branch.info["start_score"]["mean"] < 7
    assert (branch.info["solved"], branch.info["doubts"]) == (True, [])


@pytest.mark.parametrize("at", [3, 4], ids=["between evaluations", "at an evaluation"])
@pytest.mark.parametrize("wait", ["on", "off"])
def test_a_branch_without_changes_has_the_rows_of_its_parent_and_can_be_killed_anywhere(wait, at):
    whole = cartpole(eval__wait=wait)
    branch = resume_run(whole, at=str(at * ROLLOUT))
    assert same_arrays(checkpoint_arrays(branch), checkpoint_arrays(whole))
    assert evaluations(branch) == evaluations(whole)
    for step in (at, at + 1, at + 2):
        assert_same_run(resume_run(copy_killed_at(branch, step * ROLLOUT)), branch)


def test_a_run_from_other_weights_is_compared_with_the_weights_that_it_received(learned: Run):
    tuned = train_small("Choose", CHOOSE | {"algo.lr": 0.0}, source=learned)
    assert tuned.info["start_score"]["mean"] >= 7
    assert (tuned.info["solved"], tuned.info["doubts"]) == (False, ["not better"])
