"""Results do not depend on the number of threads, on the other rows of a batch, or on the vector width
of the processor."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from gymnast import _native
from gymnast.engine.adam import Adam
from gymnast.engine.batch import MinibatchPlan
from tests.engine.native.problems import ACTIONS, OBSERVATIONS, Problem
from tests.engine.native.reference import gradient_of
from tests.engine.native.test_gradients import EVERYTHING, MASKABLE, far

SETS = _native.instruction_sets()


@pytest.fixture(autouse=True)
def as_it_was() -> Iterator[None]:
    used = _native.instruction_set()
    yield
    _native.use_instruction_set(used)
    _native.set_threads(1)


def learned(problem: Problem, plan: MinibatchPlan) -> list[np.ndarray]:
    """Returns everything that several steps change, from a fresh start."""
    flat = problem.policy.parameters.flat
    before = flat.copy()
    adam = Adam(flat.size, eps=1e-5, weight_decay=1e-3)
    gradient, result = problem.run_update(EVERYTHING, plan, adam=adam, lr=3e-3, max_norm=0.5)
    shift = problem.engine().policy_shift(problem.batch, 0.2)
    found = [
        flat.copy(),
        gradient,
        adam.first_moment,
        adam.second_moment,
        result.losses,
        np.array([*shift.values()]),
    ]
    flat[:] = before
    return found


def same(a: list[np.ndarray], b: list[np.ndarray]) -> bool:
    return all(np.array_equal(x, y) for x, y in zip(a, b, strict=True))


@pytest.mark.parametrize("action", ["choice", "amounts"])
def test_any_number_of_threads_gives_the_same_bits(action: str):
    rows = 8 * 512 + 700  # more than one wave of shards, and a part of one
    problem = Problem.make("dict", action, rows=rows, hidden=(19,))
    orders = np.stack([np.random.default_rng(k).permutation(rows) for k in range(2)])
    found, outputs = [], []
    for count in (1, 2, 3):
        _native.set_threads(count)
        found.append([learned(problem, MinibatchPlan(orders, size)) for size in (rows, 1300)])
        inference = problem.policy.inference
        outputs.append([f(problem.batch.features) for f in (inference.actor, inference.critic)])
    for other in (1, 2):
        assert same(outputs[0], outputs[other])
        assert all(same(a, b) for a, b in zip(found[0], found[other], strict=True))


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("action", ACTIONS)
def test_every_instruction_set_gives_the_gradient_of_the_definition(name: str, action: str):
    problem = Problem.make("dict", action, rows=130, masked=action in MASKABLE, layer_norm=True)
    expected, _ = gradient_of(problem.policy, problem.batch, EVERYTHING)
    _native.use_instruction_set(name)
    assert _native.instruction_set() == name
    assert far(problem.run_update(EVERYTHING)[0], expected) < 1e-6


@pytest.mark.parametrize("obs", OBSERVATIONS)
def test_network_outputs_are_bit_identical_with_avx2_and_avx512(obs: str):
    """Compares those of the two that this processor has. Only networks without layer norms: the compiler
    arranges the sums over a row, as it does in an update."""
    problem = Problem.make(obs, "amounts", rows=70)
    problem.policy.use_engine("native")
    found = []
    for name in {"avx2", "avx512"} & {*SETS}:
        _native.use_instruction_set(name)
        inference = problem.policy.inference
        found.append([f(problem.batch.features) for f in (inference.actor, inference.critic)])
    assert all(same(found[0], other) for other in found)


def test_a_missing_instruction_set_is_rejected():
    with pytest.raises(ValueError, match="this processor has no abacus"):
        _native.use_instruction_set("abacus")


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("obs", OBSERVATIONS)
def test_the_result_of_a_row_does_not_depend_on_the_other_rows(name: str, obs: str):
    _native.use_instruction_set(name)
    rows = 141
    problem = Problem.make(obs, "amounts", rows=rows, hidden=(33, 20), layer_norm=True)
    problem.policy.use_engine("native")
    inference, features = problem.policy.inference, problem.batch.features
    for output in (inference.actor, inference.critic):
        together = output(features)
        for n in (1, 3, 4, 6, 8, 13, 64, 65, 100):
            for first in (0, 5, rows - n):
                alone = output(features[first : first + n])
                assert np.array_equal(alone, together[first : first + n]), (n, first)


def test_results_have_the_order_of_their_rows():
    problem = Problem.make("categories", rows=90)
    problem.policy.use_engine("native")
    order = np.random.default_rng(1).permutation(90)
    together = problem.policy.inference.actor(problem.batch.features)
    assert np.array_equal(
        problem.policy.inference.actor(problem.batch.features[order]), together[order]
    )


def test_an_empty_batch_gives_empty_results():
    problem = Problem.make("vector", "amounts")
    problem.policy.use_engine("native")
    features = np.empty((0, 5), np.float32)
    assert problem.policy.inference.actor(features).shape == (0, 3)
    assert problem.policy.inference.critic(features).shape == (0,)


@pytest.mark.parametrize("count", [1, 2])
def test_acting_during_an_update_changes_neither(count: int):
    """The next rollout may be collected while the last one is learned from."""
    _native.set_threads(count)
    learner, actor = Problem.make("dict", rows=1300), Problem.make("vector", "amounts", rows=700)
    plan = MinibatchPlan(
        np.stack([np.random.default_rng(k).permutation(1300) for k in range(6)]), 650
    )
    actor.policy.use_engine("native")
    inference = actor.policy.inference
    alone, said = learned(learner, plan), inference.actor(actor.batch.features)
    with ThreadPoolExecutor(1) as during_update:
        for _ in range(5):
            update = during_update.submit(learned, learner, plan)
            while not update.done():
                assert np.array_equal(inference.actor(actor.batch.features), said)
            assert same(update.result(), alone)
