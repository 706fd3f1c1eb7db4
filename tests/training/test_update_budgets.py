"""A budget in updates is exact to the gradient step: the last update is shortened, no step is repeated."""

from __future__ import annotations

import numpy as np
import pytest

from gymnast.engine.batch import MinibatchPlan
from gymnast.runs import checkpoint
from gymnast.seeds import stream
from tests.small_runs import (
    checkpoint_arrays,
    copy_killed_at,
    exact_metrics,
    resume_run,
    rows,
    same_arrays,
    train_small,
)

TINY = {
    "env.n_envs": 2,
    "algo.n_steps": 8,
    "stop.updates": 23,
    "eval.every": "off",
    "checkpoint.every": "1 rollouts",
}
BATCHES = {"algo.epochs": 3, "algo.batch_size": 5}
"""Four gradient steps in each of three epochs over 16 env steps."""


@pytest.mark.parametrize("most", range(1, 13))
def test_an_update_cut_by_the_budget_is_a_prefix_of_the_full_update(most: int):
    whole = MinibatchPlan.shuffled(3, 16, 5, stream(0, "order"), None)
    every = [portion for order in whole.orders for portion in whole.minibatches(order)]
    cut = [
        portion
        for part in whole.limit_steps(most)
        for o in part.orders
        for portion in part.minibatches(o)
    ]
    assert len(cut) == most
    assert all(map(np.array_equal, cut, every))


@pytest.mark.parametrize("engine", ["native", "torch"])
def test_ppo_takes_the_gradient_steps_of_its_budget_and_no_more(engine: str):
    run = train_small("Script", TINY | BATCHES | {"engine": engine})
    assert [row["clock/updates"] for row in rows(run)] == [12, 23]
    assert run.info["reason"] == "budget of 23 updates spent"
    (longer,) = [train_small("Script", TINY | BATCHES | {"engine": engine, "stop.updates": 24})]
    assert not same_arrays(checkpoint_arrays(run), checkpoint_arrays(longer))
    assert same_arrays(checkpoint_arrays(run, which=16), checkpoint_arrays(longer, which=16))


@pytest.mark.parametrize(
    ("algo", "settings"),
    [
        ("a2c", {}),
        ("reinforce", {"algo.n_steps": "off"}),
        ("dqn", {"algo.warmup": 16, "algo.gradient_steps": 10, "algo.replay": 64}),
    ],
)
def test_every_algorithm_respects_a_budget_in_updates(algo: str, settings):
    run = train_small("Choose", TINY | {"stop.updates": 7} | settings, algo=algo)
    assert rows(run)[-1]["clock/updates"] == 7


def test_several_roles_share_a_budget_in_updates():
    tiny = {"env.n_envs": 4, "algo.n_steps": 8, "algo.epochs": 1, "algo.batch_size": 16}
    run = train_small("tag:ppo", tiny | {"stop.updates": 5, "eval.every": "off"})
    assert rows(run)[-1]["clock/updates"] == 5


def test_a_cut_update_is_the_same_after_a_kill_and_a_resume():
    run = train_small("Script", TINY | BATCHES)
    again = resume_run(copy_killed_at(run, 16))
    assert same_arrays(checkpoint_arrays(again), checkpoint_arrays(run))
    assert [*map(exact_metrics, rows(again))] == [*map(exact_metrics, rows(run))]
    assert checkpoint.find(again.path, "latest").document("state")["clock"]["updates"] == 23
