"""Whole updates of several epochs: the native engine against the torch engine."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gymnast.engine.adam import Adam
from gymnast.engine.batch import MinibatchPlan
from gymnast.engine.objective import Objective
from tests.engine.native.problems import ACTIONS, PLAIN, Problem
from tests.engine.native.test_gradients import EVERYTHING, MASKABLE, far

ENGINES = ("native", "torch")


def updated(
    problem: Problem,
    objective: Objective,
    *,
    weight_decay: float = 0.0,
    max_norm: float | None = 0.5,
    target_kl: float | None = None,
    updates: int = 2,
    size: int = 50,
) -> dict[str, tuple]:
    """Returns parameters, moments, steps and results of both engines, from the same start."""
    flat, units = problem.policy.parameters.flat, problem.units
    before, found = flat.copy(), {}
    for engine in ENGINES:
        flat[:] = before
        adam = Adam(flat.size, eps=1e-5, weight_decay=weight_decay)
        rng, result = np.random.default_rng(2), []
        for _ in range(updates):
            plan = MinibatchPlan.shuffled(3, units, size, rng, target_kl)
            result.append(
                problem.run_update(
                    objective, plan, engine=engine, adam=adam, lr=1e-3, max_norm=max_norm
                )[1]
            )
        shift = problem.engine(engine).policy_shift(problem.batch, objective.clip)
        found[engine] = flat.copy(), adam, result, shift
    flat[:] = before
    return found


def agree(found: dict[str, tuple]) -> None:
    (native, adam, result, shift), (torch, their_adam, their_result, their_shift) = found.values()
    assert far(native, torch) < 1e-5
    assert adam.steps == their_adam.steps
    assert far(adam.first_moment, their_adam.first_moment) < 1e-3
    assert far(adam.second_moment, their_adam.second_moment) < 1e-3
    for ours, theirs in zip(result, their_result, strict=True):
        assert (ours.epochs, ours.stopped_early) == (theirs.epochs, theirs.stopped_early)
        assert ours.losses.shape == theirs.losses.shape
        assert np.allclose(ours.losses, theirs.losses, rtol=1e-3, atol=1e-4)
    assert shift.keys() == their_shift.keys()
    for name, value in their_shift.items():
        assert shift[name] == pytest.approx(value, rel=1e-3, abs=1e-5), name


@pytest.mark.parametrize("action", ACTIONS)
def test_a_whole_update_matches_the_torch_engine(action: str):
    problem = Problem.make("dict", action, rows=230, masked=action in MASKABLE)
    agree(updated(problem, replace(EVERYTHING, standardize=True), weight_decay=0.01))


@pytest.mark.parametrize("max_norm", [None, 0.05, 1e6])
@pytest.mark.parametrize("weight_decay", [0.0, 0.1], ids=["Adam", "AdamW"])
def test_updates_match_with_and_without_clipping_and_weight_decay(
    max_norm: float | None, weight_decay: float
):
    problem = Problem.make("vector", "amounts", rows=120, shared=True)
    found = updated(problem, PLAIN, weight_decay=weight_decay, max_norm=max_norm)
    agree(found)
    applied = np.linalg.norm(problem.run_update(PLAIN, lr=0.0, max_norm=max_norm)[0])
    assert (applied < 0.051) == (max_norm == 0.05)


@pytest.mark.parametrize("share", [0.5, 1.5])
def test_both_engines_stop_after_the_epoch_that_exceeds_target_kl(share: float):
    problem = Problem.make("vector", "choice", rows=120)
    free = updated(problem, PLAIN, updates=1)["native"]
    moved = free[3]["policy/kl"]
    found = updated(problem, PLAIN, target_kl=share * moved, updates=1)
    agree(found)
    result = found["native"][2][0]
    assert result.stopped_early == (share < 1 or result.epochs < 3)
    assert len(result.losses) == result.epochs * 3


def test_the_plain_policy_gradient_without_a_critic_does_not_change_the_critic():
    problem = Problem.make("vector", "amounts", rows=120)
    before = problem.policy.parameters.flat.copy()
    found = updated(problem, Objective(clip=None, entropy_coef=0.01, critic=False))
    agree(found)
    assert "policy/clip_fraction" not in found["native"][3]
    critic = problem.policy.parameters.prefix_slice("critic.")
    assert np.array_equal(found["native"][0][critic], before[critic])


def test_minibatches_are_split_like_numpy_array_split():
    """Every gradient step sees the same rows in both engines, also for an odd number of rows."""
    problem = Problem.make("vector", "choice", rows=103)
    plan = MinibatchPlan(np.random.default_rng(0).permutation(103)[None], 20)
    native, torch = (problem.run_update(PLAIN, plan, engine=engine)[1] for engine in ENGINES)
    assert len(native.losses) == 6
    assert np.allclose(native.losses, torch.losses, rtol=1e-5, atol=1e-6)


def test_an_update_continues_with_the_given_adam_moments():
    problem = Problem.make("vector", "choice", rows=64)
    flat, once = problem.policy.parameters.flat, MinibatchPlan.single_batch(64)
    before, found = flat.copy(), []
    for engine in ENGINES:
        flat[:] = before
        adam = Adam(flat.size, eps=1e-5, weight_decay=0.0)
        for _ in range(3):
            problem.run_update(PLAIN, once, engine=engine, adam=adam, lr=1e-2)
        adam.load(adam.state())
        problem.run_update(PLAIN, once, engine="native", adam=adam, lr=1e-2)
        assert adam.steps == 4
        found.append(flat.copy())
    assert far(*found) < 1e-5
