"""Gradients of networks with memory over sequences, of the compiled kernels against float64."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gymnast import _native
from gymnast.config.memory_spec import CellName
from gymnast.engine.batch import MinibatchPlan
from tests.engine.native import memory_problems
from tests.engine.native.problems import ACTIONS, OBSERVATIONS, PLAIN, Problem
from tests.engine.native.reference import gradient_of
from tests.engine.native.test_broken_numbers import broken, notices
from tests.engine.native.test_gradients import (
    EVERYTHING,
    MASKABLE,
    OBJECTIVES,
    far,
    gaps_stay_zero,
    right,
)

CELLS = get_args(CellName)
NETWORKS: dict[str, dict[str, Any]] = {
    "whole lines": {"memory": "{}:32"},
    "odd width": {"memory": "{}:7"},
    "one unit": {"memory": "{}:1"},
    "wide": {"memory": "{}:70"},
    "two layers": {"memory": "{}:16x2"},
    "three odd layers": {"memory": "{}:9x3"},
    "no hidden layer": {"memory": "{}:12", "hidden": ()},
    "norm": {"memory": "{}:12", "layer_norm": True, "activation": "relu"},
    "shared memory": {"memory": "{}:12", "memory_shared": True},
    "shared memory, no hidden layer": {"memory": "{}:12", "memory_shared": True, "hidden": ()},
    "everything shared": {"memory": "{}:12x2", "shared": True},
}
SHAPES = [(1, 1), (1, 70), (70, 1), (9, 8), (33, 17), (5, 130), (600, 9)]
"""Steps and sequences: also more rows than a shard has, and one step more than that."""


@pytest.fixture(autouse=True)
def as_it_was() -> Iterator[None]:
    used = _native.instruction_set()
    yield
    _native.use_instruction_set(used)


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("action", ACTIONS)
def test_gradients_match_for_every_head(action: str, cell: str):
    masked = action in MASKABLE
    right(
        memory_problems.make(action=action, memory=f"{cell}:12", masked=masked),
        EVERYTHING,
        within=2e-6,
    )


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_gradients_match_for_every_objective(objective: str, cell: str):
    right(memory_problems.make(memory=f"{cell}:12"), OBJECTIVES[objective])


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("network", NETWORKS.values(), ids=NETWORKS)
@pytest.mark.parametrize("obs", ["vector", "dict", "category"])
def test_gradients_match_for_every_network(obs: str, network: dict[str, Any], cell: str):
    named = network | {"memory": network["memory"].format(cell)}
    right(memory_problems.make(obs, **named), EVERYTHING)


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("shared", [{}, {"memory_shared": True}, {"shared": True}], ids=str)
def test_gradients_match_after_convolutions(shared: dict[str, Any], cell: str):
    problem = memory_problems.make(
        "image", memory=f"{cell}:10", length=4, count=5, weight_noise=0.01, burn_in=1, **shared
    )
    right(problem, EVERYTHING, within=5e-6)


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize(("length", "count"), SHAPES)
def test_gradients_match_for_every_number_of_steps_and_sequences(
    length: int, count: int, cell: str
):
    right(memory_problems.make(memory=f"{cell}:12", length=length, count=count), EVERYTHING)


@settings(max_examples=25, derandomize=True)
@given(
    obs=st.sampled_from(list(OBSERVATIONS)),
    action=st.sampled_from(list(ACTIONS)),
    objective=st.sampled_from(list(OBJECTIVES)),
    cell=st.sampled_from(CELLS),
    width=st.integers(1, 40),
    layers=st.integers(1, 3),
    length=st.integers(1, 20),
    count=st.integers(1, 20),
    starts=st.floats(0, 1),
    unlearned=st.floats(0, 1),
    burn_in=st.integers(0, 5),
    sharing=st.sampled_from(["none", "memory_shared", "shared"]),
    hidden=st.lists(st.integers(1, 40), max_size=2),
    seed=st.integers(0, 1000),
)
def test_gradients_match_for_random_combinations(
    obs: str, action: str, objective: str, cell: str, width: int, layers: int, length: int,
    burn_in: int, sharing: str, hidden: list[int], **more: Any,
):  # fmt: skip
    shared = {} if sharing == "none" else {sharing: True}
    problem = memory_problems.make(
        obs,
        action,
        memory=f"{cell}:{width}x{layers}",
        length=length,
        burn_in=min(burn_in, length - 1),
        hidden=tuple(hidden),
        **shared,
        **more,
    )
    right(problem, OBJECTIVES[objective], within=2e-5)


@pytest.mark.parametrize("name", _native.instruction_sets())
@pytest.mark.parametrize("cell", CELLS)
def test_every_instruction_set_gives_the_gradient_of_the_definition(cell: str, name: str):
    problem = memory_problems.make("dict", memory=f"{cell}:21x2", length=12, count=11, burn_in=3)
    expected, _ = gradient_of(problem.policy, problem.batch, EVERYTHING)
    _native.use_instruction_set(name)
    assert far(problem.run_update(EVERYTHING)[0], expected) < 1e-6


@pytest.mark.parametrize("cell", CELLS)
def test_a_minibatch_is_made_of_the_chosen_sequences(cell: str):
    problem = memory_problems.make(memory=f"{cell}:12", count=13)
    order = np.random.default_rng(0).permutation(13)
    objective = replace(EVERYTHING, standardize=True)
    gradient, result = problem.run_update(objective, MinibatchPlan(order[None], 5))
    last = np.array_split(order, 3)[-1]
    expected, parts = gradient_of(problem.policy, problem.batch, objective, last)
    assert far(gradient, expected) < 1e-6
    assert result.losses[-1, 0] == pytest.approx(parts["loss/total"], rel=2e-6)


@pytest.mark.parametrize("cell", CELLS)
def test_rows_without_weight_after_the_last_learned_step_change_nothing(cell: str):
    problem = memory_problems.make(memory=f"{cell}:12", length=8, unlearned=0.0)
    weight = sequences_of(problem).weight.reshape(8, -1).copy()
    weight[5:] = 0
    problem = with_sequences(problem, weight=weight.ravel())
    before, _ = problem.run_update(EVERYTHING)
    features = problem.batch.features.reshape(8, -1, problem.batch.features.shape[-1]).copy()
    features[5:] = 7.0
    changed = problem.with_columns(features=features.reshape(problem.batch.features.shape))
    assert np.array_equal(changed.run_update(EVERYTHING)[0], before)


@pytest.mark.parametrize("cell", CELLS)
def test_an_episode_does_not_see_the_one_before_it_in_the_same_sequence(cell: str):
    problem = restarted(cell)
    before, _ = problem.run_update(EVERYTHING)
    features = problem.batch.features.copy()
    features[: 4 * 5] += 1.0
    state = sequences_of(problem).state + 1
    changed = with_sequences(problem.with_columns(features=features), state=state)
    assert np.array_equal(changed.run_update(EVERYTHING)[0], before)
    forgetful = with_sequences(changed, start=np.zeros(40, bool))
    assert far(forgetful.run_update(EVERYTHING)[0], before) > 1e-3


@pytest.mark.parametrize("memory", ["lstm:5x2", "gru:7x2"])
def test_gaps_between_parameters_stay_zero(memory: str):
    gaps_stay_zero(memory_problems.make("dict", "amounts", memory=memory, hidden=(5,)))


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("where", ["features", "state", "weight", "recurrent", "bias"])
def test_nan_reaches_the_losses(where: str, cell: str):
    problem = memory_problems.make(memory=f"{cell}:12", starts=0.0, unlearned=0.0)
    if where == "features":
        problem = problem.with_columns(features=broken(np.asarray(problem.batch.features)))
    elif where == "state":
        problem = with_sequences(problem, state=broken(sequences_of(problem).state))
    else:
        problem.policy.parameters.views[f"actor.0.{where}"].flat[0] = np.nan
    notices(problem)


@pytest.mark.parametrize("cell", CELLS)
def test_nan_ends_with_its_episode(cell: str):
    problem = restarted(cell)
    problem = with_sequences(problem, state=np.full_like(sequences_of(problem).state, np.nan))
    shift = problem.engine().policy_shift(problem.batch, 0.2)
    assert np.isfinite([*shift.values()]).all()


def test_a_batch_must_fit_the_memory_of_the_network():
    problem, plain = memory_problems.make(memory="gru:12"), Problem.make(rows=45)
    with pytest.raises(ValueError, match="states of 24 numbers, the network of 0"):
        Problem(plain.policy, problem.batch).run_update(PLAIN)
    with pytest.raises(ValueError, match="states of 0 numbers, the network of 24"):
        Problem(problem.policy, replace(problem.batch, sequences=None)).run_update(PLAIN)
    with pytest.raises(ValueError, match="do not fit each other"):
        with_sequences(problem, weight=np.ones(7, np.float32)).run_update(PLAIN)
    with pytest.raises(ValueError, match="0 or 1"):
        with_sequences(problem, weight=np.full(45, 0.5, np.float32)).run_update(PLAIN)


def restarted(cell: str) -> Problem:
    """Returns 5 sequences of 8 steps; an episode starts at the fifth, the first that is learned from."""
    problem = memory_problems.make(memory=f"{cell}:12", length=8, starts=0.0, unlearned=0.0)
    start, weight = np.zeros((8, 5), bool), np.zeros((8, 5), np.float32)
    start[4], weight[4:] = True, 1
    return with_sequences(problem, start=start.ravel(), weight=weight.ravel())


def sequences_of(problem: Problem) -> Any:
    assert problem.batch.sequences is not None
    return problem.batch.sequences


def with_sequences(problem: Problem, **columns: np.ndarray) -> Problem:
    return problem.with_columns(sequences=replace(sequences_of(problem), **columns))  # type: ignore[arg-type]
