"""NaN and infinity propagate through the compiled kernels, so that a broken update is detected
and rolled back."""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

import numpy as np
import pytest

from gymnast import _native
from gymnast.config.sections.policy import ActivationName
from gymnast.engine.objective import Objective
from tests.engine.native.problems import ACTIONS, PLAIN, Problem, act_in_place
from tests.engine.native.test_gradients import EVERYTHING, MASKABLE

ACTIVATIONS = get_args(ActivationName)
NAN = np.float32(np.nan)


def broken(column: np.ndarray, number: float = np.nan) -> np.ndarray:
    """Returns the column with one bad number in the middle."""
    changed = column.copy()
    changed.flat[changed.size // 2] = number
    return changed


def notices(problem: Problem, objective: Objective = EVERYTHING, max_norm: float | None = 0.5):
    """Asserts that the loss, the gradient norm and the parameters are all broken after an update."""
    gradient, result = problem.run_update(objective, lr=1e-3, max_norm=max_norm)
    assert np.isnan(result.losses[0, 0])
    assert not np.isfinite(result.losses[0, -1])
    assert not np.isfinite(gradient).all()
    assert not np.isfinite(problem.policy.parameters.flat).all()


@pytest.mark.parametrize("column", ["advantage", "target", "value", "logprob"])
@pytest.mark.parametrize("action", ["choice", "amounts"])
def test_nan_in_the_batch_reaches_the_losses(action: str, column: str):
    problem = Problem.make("vector", action, rows=70)
    notices(problem.with_columns(**{column: broken(getattr(problem.batch, column))}))


@pytest.mark.parametrize("action", ["amounts", "squashed amounts"])
def test_nan_in_actions_reaches_the_losses(action: str):
    problem = Problem.make("vector", action, rows=70)
    notices(problem.with_columns(action=broken(problem.batch.action)))


@pytest.mark.parametrize("action", ACTIONS)
def test_nan_in_stored_distributions_reaches_the_losses(action: str):
    problem = Problem.make("vector", action, rows=70)
    notices(problem.with_columns(dist=broken(problem.batch.dist)))
    assert np.isnan(problem.engine().policy_shift(problem.batch, 0.2)["policy/kl"])


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("layer_norm", [False, True], ids=["plain", "norm"])
def test_nan_in_observations_reaches_the_losses(activation: str, layer_norm: bool):
    settings = {"activation": activation, "layer_norm": layer_norm}
    problem = Problem.make("vector", rows=70, **settings)
    notices(problem.with_columns(features=broken(problem.batch.features)))


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("shared", [False, True], ids=["apart", "shared"])
@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("action", ["choice", "switches", "amounts"])
def test_nan_in_the_last_actor_layer_reaches_the_losses(
    action: str, number: float, shared: bool, activation: str
):
    problem = Problem.make("vector", action, rows=70, shared=shared, activation=activation)
    name = "actor.0.bias" if shared else "actor.4.bias"
    problem.policy.parameters.views[name][0] = number
    gradient, result = problem.run_update(EVERYTHING, lr=1e-3)
    assert not np.isfinite(result.losses[0, 0])
    assert not np.isfinite(problem.policy.parameters.flat).all()
    assert not np.isfinite([*problem.engine().policy_shift(problem.batch, 0.2).values()]).all()
    assert not np.isfinite(gradient).all()


@pytest.mark.parametrize("obs", ["vector", "category", "dict"])
def test_nan_in_any_parameter_reaches_the_losses(obs: str):
    problem = Problem.make(obs, "amounts", rows=70, layer_norm=True)
    flat = problem.policy.parameters.flat
    before = flat.copy()
    for view in problem.policy.parameters.views.values():
        flat[:] = before
        view[...] = NAN
        notices(problem)


@pytest.mark.parametrize("name", _native.instruction_sets())
def test_nan_passes_activations_with_every_instruction_set(name: str):
    used = _native.instruction_set()
    try:
        _native.use_instruction_set(name)
        for activation in ACTIVATIONS:
            problem = Problem.make("vector", rows=9, activation=activation)
            problem.policy.use_engine("native")
            features = broken(problem.batch.features)
            found = problem.policy.inference.actor(features)
            assert np.array_equal(np.isnan(found).any(1), np.isnan(features).any(1))
    finally:
        _native.use_instruction_set(used)


@pytest.mark.parametrize("action", ACTIONS)
def test_acting_with_a_broken_network_gives_nan(action: str):
    problem = Problem.make("vector", action, rows=5, masked=action in MASKABLE)
    policy = problem.policy
    policy.use_engine("native")
    last = [n for n in policy.parameters.views if n.startswith("actor.") and n.endswith("bias")][-1]
    policy.parameters.views[last][...] = NAN
    head = policy.head
    noise = head.noise(np.random.default_rng(0), (5,))
    taken, dist, logprob = act_in_place(policy, problem.batch.features, noise, None)
    assert np.isnan(dist).any(1).all()
    assert np.isnan(logprob).all()
    if taken.dtype == np.int64:  # the sampled option exists
        assert (taken >= 0).all()
        assert (head.logprob(np.zeros_like(dist), taken) < 0).all()


def test_standardizing_a_single_row_gives_zero():
    problem = Problem.make("vector", rows=1)
    gradient, result = problem.run_update(replace(PLAIN, standardize=True, critic=False), lr=1e-3)
    assert not gradient.any()
    assert np.isfinite(result.losses).all()


def test_the_norm_of_huge_gradients_does_not_overflow():
    problem = Problem.make("vector", rows=64)
    huge = problem.with_columns(advantage=problem.batch.advantage * np.float32(1e25))
    gradient, result = huge.run_update(PLAIN, lr=0.0, max_norm=0.5)
    assert np.isfinite(result.losses).all()
    assert np.linalg.norm(gradient.astype(np.float64)) == pytest.approx(0.5, rel=1e-3)


@pytest.mark.parametrize(("obs", "other"), [("vector", np.float64), ("category", np.int32)])
def test_features_of_another_dtype_are_rejected(obs: str, other: type):
    problem = Problem.make(obs, rows=4)
    problem.policy.use_engine("native")
    with pytest.raises(ValueError, match=r"bytes a row, the network reads"):
        problem.policy.inference.actor(problem.batch.features.astype(other))
