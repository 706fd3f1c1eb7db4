"""Acting with memory in compiled code: against NumPy, the heads, and the sequences of an update."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, get_args

import numpy as np
import pytest

from gymnast import _native
from gymnast.config.memory_spec import CellName
from gymnast.engine.objective import LOSSES, Objective
from gymnast.policy.health import network_health
from gymnast.policy.inference import NumpyInference
from tests.engine.native import memory_problems
from tests.engine.native.problems import ACTIONS, Problem
from tests.engine.native.test_gradients import MASKABLE

CELLS = get_args(CellName)
SETS = _native.instruction_sets()
NETWORKS: dict[str, dict[str, Any]] = {
    "separate": {},
    "shared memory": {"memory_shared": True},
    "everything shared": {"shared": True},
}
MEMORIES = [f"{cell}:{size}" for cell in CELLS for size in ("16", "13x2")]


@pytest.fixture(autouse=True)
def as_it_was() -> Iterator[None]:
    used = _native.instruction_set()
    yield
    _native.use_instruction_set(used)


def acted(
    problem: Problem, state: np.ndarray, noise: np.ndarray, rows: slice = slice(None)
) -> list[np.ndarray]:
    """Returns action, distribution, log-probability and value of one step on some rows of a batch, and the
    states after it."""
    policy, batch = problem.policy, problem.batch
    head, n = policy.head, len(batch.features[rows])
    action = np.empty((n, *head.action_spec.shape), head.action_spec.dtype)
    found = [action, np.empty((n, head.dist_size), np.float32), *np.empty((2, n), np.float32)]
    mask = None if batch.mask is None else batch.mask[rows]
    state = state[rows].copy()
    policy.inference.act_into_with_state(  # type: ignore[misc]
        batch.features[rows], noise[rows], mask, state, *found
    )
    return [*found, state]


def acting(problem: Problem, seed: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Returns random states and noise for all rows of a batch, on the native engine."""
    rng, policy, rows = np.random.default_rng(seed), problem.policy, len(problem.batch)
    policy.use_engine("native")
    state = rng.normal(0, 0.7, (rows, policy.state_size)).astype(np.float32)
    return state, policy.head.noise(rng, (rows,))


@pytest.mark.parametrize("memory", MEMORIES)
@pytest.mark.parametrize("network", NETWORKS.values(), ids=NETWORKS)
@pytest.mark.parametrize("obs", ["vector", "dict", "image"])
def test_a_step_matches_numpy(obs: str, network: dict[str, Any], memory: str):
    problem = memory_problems.make(
        obs, memory=memory, length=3, count=7, weight_noise=0.05, **network
    )
    state, _ = acting(problem)
    features = np.asarray(problem.batch.features)
    numpy = NumpyInference(problem.policy.network, problem.policy.parameters.views)
    found, expected = problem.policy.inference.step(features, state), numpy.step(features, state)
    for ours, theirs in zip(found, expected, strict=True):
        assert ours.shape == theirs.shape
        assert np.allclose(ours, theirs, rtol=1e-5, atol=2e-6)


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize("cell", CELLS)
def test_acting_gives_the_outputs_of_a_step(cell: str, action: str, name: str):
    _native.use_instruction_set(name)
    problem = memory_problems.make("dict", action, memory=f"{cell}:13", masked=action in MASKABLE)
    policy, mask = problem.policy, problem.batch.mask
    state, noise = acting(problem)
    taken, dist, logprob, value, after = acted(problem, state, noise)
    output, expected_value, expected_after = policy.inference.step(problem.batch.features, state)
    assert np.array_equal(dist, policy.dist_from_output(output, mask))
    assert np.array_equal(value, expected_value)
    assert np.array_equal(after, expected_after)
    assert np.allclose(logprob, policy.head.logprob(dist, taken), rtol=1e-6, atol=2e-6)


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("memory", MEMORIES)
def test_acting_is_bit_identical_for_batches_of_1_to_64(memory: str, name: str):
    _native.use_instruction_set(name)
    problem = memory_problems.make("dict", memory=memory, length=13, count=11, hidden=(33,))
    state, noise = acting(problem)
    together = acted(problem, state, noise)
    for n in (*range(1, 20), 31, 32, 33, 63, 64, 65, 100):
        for first in (0, 143 - n):
            alone = acted(problem, state, noise, slice(first, first + n))
            for one, all_rows in zip(alone, together, strict=True):
                assert np.array_equal(one, all_rows[first : first + n]), n


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("network", NETWORKS.values(), ids=NETWORKS)
@pytest.mark.parametrize("memory", MEMORIES)
def test_an_update_computes_the_bits_of_acting_step_by_step(
    memory: str, network: dict[str, Any], name: str
):
    """Through resets: the ratio of every step is exactly 1, and the value error exactly 0."""
    _native.use_instruction_set(name)
    problem = memory_problems.make("dict", memory=memory, length=21, count=30, **network)
    problem.policy.use_engine("native")
    outputs, values, _ = memory_problems.unroll(problem)
    problem = as_collected(problem, outputs, values)
    shift = problem.engine().policy_shift(problem.batch, 0.0)
    assert shift["policy/ratio_mean"] == shift["policy/ratio_max"] == 1.0
    assert shift["policy/approx_kl"] == shift["policy/clip_fraction"] == 0.0
    _, result = problem.run_update(Objective(clip=0.2, value_coef=0.5))
    assert result.losses[0, LOSSES.index("value/loss")] == 0.0


def as_collected(problem: Problem, outputs: np.ndarray, values: np.ndarray) -> Problem:
    """Returns the problem with the actions, log-probabilities and values that the native engine stores."""
    policy, rows = problem.policy, len(problem.batch)
    head, sequences = policy.head, problem.batch.sequences
    assert sequences is not None
    noise = head.noise(np.random.default_rng(0), (rows,))
    shape = sequences.length, sequences.count
    state, columns = sequences.state.copy(), []
    for at in np.arange(rows).reshape(shape):
        state[sequences.start[at]] = 0
        *found, state = acted_from(problem, state, noise[at], at)
        columns.append(found)
    action, dist, logprob, value = map(np.concatenate, zip(*columns, strict=True))
    assert np.array_equal(dist, policy.dist_from_output(outputs, None))
    assert np.array_equal(value, values)
    every = replace(sequences, weight=np.ones(rows, np.float32))
    return problem.with_columns(
        action=action, dist=dist, logprob=logprob, value=value, target=value, sequences=every
    )


def acted_from(
    problem: Problem, state: np.ndarray, noise: np.ndarray, at: np.ndarray
) -> list[np.ndarray]:
    step = problem.with_columns(features=problem.batch.features[at])
    return acted(step, state, noise)


def test_a_forgotten_or_foreign_state_is_rejected():
    problem = memory_problems.make(memory="gru:8")
    state, noise = acting(problem)
    network, batch = problem.policy.inference, problem.batch
    with pytest.raises(ValueError, match="needs the state before the step"):
        network.actor(batch.features)
    with pytest.raises(ValueError, match="needs the state before the step"):
        network.health(batch.features, None, None)  # type: ignore[misc]
    with pytest.raises(ValueError, match="has 16 numbers a row"):
        network.step(batch.features, state[:, :8].copy())
    with pytest.raises(ValueError, match="has 16 numbers a row"):
        acted(problem, state[:7], noise)


@pytest.mark.parametrize("cell", CELLS)
def test_health_with_memory_matches_numpy(cell: str):
    problem = memory_problems.make("dict", memory=f"{cell}:13", activation="relu", count=30)
    state, _ = acting(problem)
    policy, features = problem.policy, problem.batch.features
    activations, output = policy.inference.activations(features, state)
    expected = network_health(
        activations, output, policy.head, policy.dist_from_output(output, None)
    )
    found = policy.inference.health(features, None, state)  # type: ignore[misc]
    assert found.actor.rectifiers == found.critic.rectifiers == 24 + 12
    for ours, theirs in zip(found, expected, strict=True):
        assert ours == pytest.approx(theirs, rel=1e-4, abs=1e-5)
