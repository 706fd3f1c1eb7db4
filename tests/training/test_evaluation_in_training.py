"""Evaluations in training: when they happen, what they score, what they must not change, and which decisions
they cause."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gymnast.errors import EnvError
from gymnast.evaluation.evaluate import Evaluator
from gymnast.evaluation.rescore import load_policy
from gymnast.runs import checkpoint
from gymnast.runs.run import Run
from gymnast.seeds import episode_seed
from tests.small_runs import (
    checkpoint_arrays,
    evaluations,
    exact_metrics,
    rows,
    same_arrays,
    same_traces,
    traces,
    train_small,
)

ROLLOUT = 4 * 8
CARTPOLE = {
    "env.n_envs": 4,
    "algo.n_steps": 8,
    "stop.env_steps": 12 * ROLLOUT,
    "eval.every": "3 rollouts",
    "checkpoint.every": "off",
}


def cartpole(**overrides: Any) -> Run:
    named = {key.replace("__", "."): value for key, value in overrides.items()}
    return train_small("CartPole-v1", CARTPOLE | named)


def config_of(run: Run) -> Any:

    return run.config()


def test_evaluating_in_a_process_and_inline_gives_the_same_run():
    inline, in_process = cartpole(eval__mode="inline"), cartpole(eval__mode="process")
    assert [exact_metrics(row) for row in rows(inline)] == [
        exact_metrics(row) for row in rows(in_process)
    ]
    assert same_arrays(checkpoint_arrays(inline), checkpoint_arrays(in_process))
    assert inline.info["score"] == in_process.info["score"]
    assert inline.info["checkpoints"] == in_process.info["checkpoints"]
    for kind in ("eval", "confirm"):
        here, there = traces(inline, kind), traces(in_process, kind)
        assert here.keys() == there.keys() != set()
        assert all(same_traces(here[step], there[step]) for step in here)


def test_evaluating_never_changes_training():
    with_evaluation = cartpole()
    without = cartpole(eval__every="off")
    often = cartpole(eval__every="1 rollouts", eval__episodes=2, eval__deterministic="off")
    assert not evaluations(without)
    assert len(evaluations(often)) == 12
    for run in (without, often):
        assert same_arrays(checkpoint_arrays(run), checkpoint_arrays(with_evaluation))
        assert same_arrays(
            checkpoint_arrays(run, "learner"), checkpoint_arrays(with_evaluation, "learner")
        )
        assert _learned(run) == _learned(with_evaluation)


def _learned(run: Run) -> list[dict[str, float]]:
    every = [exact_metrics(row) for row in rows(run) if "policy/loss" in row]
    return [{k: v for k, v in row.items() if not k.startswith("eval")} for row in every]


def test_a_score_is_received_exactly_one_evaluation_point_later_and_the_last_ones_at_the_end():
    point = 3 * ROLLOUT
    expected = [(2 * point, point), (3 * point, 2 * point), (4 * point, 3 * point)]
    assert evaluations(cartpole()) == [*expected, (4 * point, 4 * point)]


def test_the_last_version_is_scored_at_the_end_if_it_is_not_at_an_evaluation_point():
    run = cartpole(stop__env_steps=11 * ROLLOUT)
    assert evaluations(run)[-2:] == [(11 * ROLLOUT, 9 * ROLLOUT), (11 * ROLLOUT, 11 * ROLLOUT)]


def test_with_eval_wait_each_score_is_received_at_its_own_evaluation_point():
    run = cartpole(eval__wait="on")
    assert evaluations(run) == [(k * 3 * ROLLOUT,) * 2 for k in (1, 2, 3, 4)]
    assert same_arrays(checkpoint_arrays(run), checkpoint_arrays(cartpole()))


@pytest.mark.parametrize(("wait", "after"), [("off", 6), ("on", 3)])
def test_nothing_is_learned_after_a_score_that_ends_the_run(wait: str, after: int):
    """Any return reaches this goal, so the first score ends the run: at its own evaluation point, or one
    later."""
    run = cartpole(stop__eval_return=-1e9, eval__wait=wait)
    info = run.info
    assert info["clocks"]["env_steps"] == after * ROLLOUT
    assert info["reason_kind"] == "eval_return"
    assert evaluations(run) == [(after * ROLLOUT, 3 * ROLLOUT)]
    assert rows(run)[-1]["clock/rollouts"] == after
    (stopping,) = [e for e in run.events() if e["kind"] == "stopping"]
    assert stopping["overrun"] == (after - 3) * ROLLOUT


def test_warmup_and_start_at_delay_the_first_evaluation():
    assert evaluations(cartpole(eval__warmup=7 * ROLLOUT))[0][1] == 9 * ROLLOUT
    never = cartpole(eval__start_at=501)
    assert evaluations(never) == [(12 * ROLLOUT, 12 * ROLLOUT)]  # what came out is scored anyway
    assert evaluations(cartpole(eval__start_at="1%"))[0][1] == 3 * ROLLOUT


def test_plateau_ends_a_run_that_no_longer_improves():
    """The scripted reward does not depend on the actions: no score is better than the first."""
    settings = {"stop.rollouts": 30, "eval.every": "1 rollouts", "stop.plateau": 3}
    run = train_small("Script", settings | {"env.n_envs": 2, "algo.n_steps": 8})
    assert run.info["reason_kind"] == "plateau"
    assert len(evaluations(run)) == 4
    assert run.info["checkpoints"]["best"] == 16


def test_the_best_checkpoint_is_the_version_that_was_scored_best():
    run = cartpole(checkpoint__keep=1)
    results = {
        int(row["eval:clock/env_steps"]): row["eval:episode/low"]
        for row in rows(run)
        if "eval:episode/low" in row
    }
    best = run.info["checkpoints"]["best"]
    assert results[best] == max(results.values())
    saved = checkpoint.find(run.path, "best")
    assert saved.step == best
    again = _replayed(run, saved)
    assert [t.raw_return for t in traces(run, "eval")[best]] == list(again.returns)
    assert same_arrays(saved.tensors("policy"), checkpoint_arrays(run, which=best))


def test_with_one_episode_per_evaluation_the_best_is_the_highest_return():
    settings = {"env.n_envs": 8, "algo.n_steps": 16, "algo.epochs": 2, "algo.lr": 1e-4}
    settings |= {"stop.rollouts": 8, "eval.every": "1 rollouts", "eval.episodes": 1}
    run = train_small("Choose", settings | {"algo.gamma": 0.0, "checkpoint.keep": 20})
    results = {
        int(row["eval:clock/env_steps"]): row["eval:episode/return"]
        for row in rows(run)
        if "eval:episode/return" in row
    }
    highest = max(results.values())
    assert highest > next(iter(results.values()))  # else the first would be best in any case
    assert run.info["checkpoints"]["best"] == next(v for v, r in results.items() if r == highest)


def test_a_score_belongs_to_the_weights_of_the_version_it_names():
    """Every version that still has a checkpoint gets its recorded score again."""
    run = cartpole(checkpoint__keep=20)
    for row in rows(run):
        if "eval:clock/env_steps" in row:
            version = int(row["eval:clock/env_steps"])
            again = _replayed(run, checkpoint.find(run.path, version))
            assert np.mean(again.returns) == row["eval:episode/return"]
            assert again.version == version


def _replayed(run: Run, saved: checkpoint.Checkpoint) -> Any:
    evaluator = Evaluator(config_of(run))
    try:
        return evaluator.evaluate(load_policy(saved), saved.step, evaluator.plan("eval"))[0]
    finally:
        evaluator.close()


def test_runs_of_different_seeds_are_scored_on_the_same_episodes():
    settings = {"stop.rollouts": 2, "eval.every": "1 rollouts", "env.n_envs": 2, "algo.n_steps": 8}
    first, second = (train_small("Script", settings | {"seed": seed}) for seed in (0, 1))
    for kind in ("eval", "confirm"):
        played = [
            [[t.seed for t in episodes] for episodes in traces(run, kind).values()]
            for run in (first, second)
        ]
        assert played[0] == played[1]
        assert len({tuple(seeds) for seeds in played[0]}) == 1
    assert not same_arrays(checkpoint_arrays(first), checkpoint_arrays(second))


@pytest.mark.parametrize("mode", ["inline", "process"])
def test_an_error_in_an_evaluation_reaches_the_user_with_its_cause(mode: str, runs_dir):
    third = episode_seed(1000, "eval", 2)
    settings = {"env.kwargs": {"how": "raises", "only": third}, "env.n_envs": 2, "algo.n_steps": 8}
    settings |= {"eval.every": "1 rollouts", "stop.rollouts": 5, "eval.mode": mode}
    settings["env.on_fault"] = "stop"
    with pytest.raises(EnvError, match=r"Broken, copy 2, step 3 .*the physics went wrong"):
        train_small("Broken", settings)
    (run,) = (Run(path) for path in runs_dir.iterdir() if (path / "run.json").exists())
    assert run.info["status"] == "failed"
    assert "the physics went wrong" in run.info["reason"]
    assert checkpoint.latest(run.path).step >= 0


def test_the_evaluation_process_closes_its_environments(tmp_path: Path):
    """An environment may have started an engine process, which must not be left running."""
    notes = tmp_path / "notes"
    notes.mkdir()
    settings = CARTPOLE | {"env.kwargs.directory": str(notes), "eval.mode": "process"}
    train_small("Notes", settings)
    closed = {int(entry.name) for entry in notes.iterdir()}
    assert len(closed - {os.getpid()}) == 1, "the evaluation process, in addition to this one"
