"""Whole updates, several passes in many steps: the compiled engine beside the torch engine."""

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
    most_kl: float | None = None,
    updates: int = 2,
) -> dict[str, tuple]:
    """Parameters, moments, steps and reports of each engine, both starting from the same."""
    flat, rows = problem.policy.parameters.flat, len(problem.batch)
    before, found = flat.copy(), {}
    for engine in ENGINES:
        flat[:] = before
        adam = Adam(flat.size, eps=1e-5, weight_decay=weight_decay)
        rng, told = np.random.default_rng(2), []
        for _ in range(updates):
            passes = MinibatchPlan.shuffled(3, rows, 50, rng, most_kl)
            told.append(
                problem.improve(
                    objective, passes, engine=engine, adam=adam, lr=1e-3, max_norm=max_norm
                )[1]
            )
        shift = problem.engine(engine).policy_shift(problem.batch, objective.clip)
        found[engine] = flat.copy(), adam, told, shift
    flat[:] = before
    return found


def agree(found: dict[str, tuple]) -> None:
    (native, adam, told, shift), (torch, their_adam, their_told, their_shift) = found.values()
    assert far(native, torch) < 1e-5
    assert adam.steps == their_adam.steps
    assert far(adam.first, their_adam.first) < 1e-3
    assert far(adam.second, their_adam.second) < 1e-3
    for ours, theirs in zip(told, their_told, strict=True):
        assert (ours.passes, ours.stopped) == (theirs.passes, theirs.stopped)
        assert ours.losses.shape == theirs.losses.shape
        assert np.allclose(ours.losses, theirs.losses, rtol=1e-3, atol=1e-4)
    assert shift.keys() == their_shift.keys()
    for name, value in their_shift.items():
        assert shift[name] == pytest.approx(value, rel=1e-3, abs=1e-5), name


@pytest.mark.parametrize("action", ACTIONS)
def test_a_whole_update_is_that_of_the_torch_engine(action: str):
    problem = Problem.of("dict", action, rows=230, masked=action in MASKABLE)
    agree(updated(problem, replace(EVERYTHING, standardize=True), weight_decay=0.01))


@pytest.mark.parametrize("max_norm", [None, 0.05, 1e6])
@pytest.mark.parametrize("weight_decay", [0.0, 0.1], ids=["Adam", "AdamW"])
def test_with_and_without_clipping_and_decay(max_norm: float | None, weight_decay: float):
    problem = Problem.of("vector", "amounts", rows=120, shared=True)
    found = updated(problem, PLAIN, weight_decay=weight_decay, max_norm=max_norm)
    agree(found)
    applied = np.linalg.norm(problem.improve(PLAIN, lr=0.0, max_norm=max_norm)[0])
    assert (applied < 0.051) == (max_norm == 0.05)


@pytest.mark.parametrize("share", [0.5, 1.5])
def test_both_stop_after_the_pass_that_moved_the_policy_too_far(share: float):
    problem = Problem.of("vector", "choice", rows=120)
    free = updated(problem, PLAIN, updates=1)["native"]
    moved = free[3]["policy/kl"]
    found = updated(problem, PLAIN, most_kl=share * moved, updates=1)
    agree(found)
    told = found["native"][2][0]
    assert told.stopped == (share < 1 or told.passes < 3)
    assert len(told.losses) == told.passes * 3


def test_the_plain_policy_gradient_without_a_critic_leaves_the_critic_alone():
    problem = Problem.of("vector", "amounts", rows=120)
    before = problem.policy.parameters.flat.copy()
    found = updated(problem, Objective(clip=None, entropy_coef=0.01, critic=False))
    agree(found)
    assert "policy/clip_fraction" not in found["native"][3]
    critic = problem.policy.parameters.part("critic.")
    assert np.array_equal(found["native"][0][critic], before[critic])


def test_portions_are_those_of_numpy():
    """Each step of an odd number of rows sees the same rows in both engines."""
    problem = Problem.of("vector", "choice", rows=103)
    passes = MinibatchPlan(np.random.default_rng(0).permutation(103)[None], 20)
    native, torch = (problem.improve(PLAIN, passes, engine=engine)[1] for engine in ENGINES)
    assert len(native.losses) == 6
    assert np.allclose(native.losses, torch.losses, rtol=1e-5, atol=1e-6)


def test_an_update_goes_on_with_the_moments_it_is_given():
    problem = Problem.of("vector", "choice", rows=64)
    flat, once = problem.policy.parameters.flat, MinibatchPlan.single_batch(64)
    before, found = flat.copy(), []
    for engine in ENGINES:
        flat[:] = before
        adam = Adam(flat.size, eps=1e-5, weight_decay=0.0)
        for _ in range(3):
            problem.improve(PLAIN, once, engine=engine, adam=adam, lr=1e-2)
        adam.load(adam.state())
        problem.improve(PLAIN, once, engine="native", adam=adam, lr=1e-2)
        assert adam.steps == 4
        found.append(flat.copy())
    assert far(*found) < 1e-5
