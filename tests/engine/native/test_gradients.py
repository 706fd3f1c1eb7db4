"""Minibatch gradients of the compiled kernels against float64."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gymnast.config.sections.policy import ActivationName
from gymnast.engine.batch import MinibatchPlan
from gymnast.engine.objective import LOSSES, Objective
from tests.engine.native.problems import ACTIONS, OBSERVATIONS, PLAIN, Problem
from tests.engine.native.reference import gradient_of

EVERYTHING = Objective(clip=0.2, value_coef=0.5, entropy_coef=0.1, kl_coef=0.3, value_clip=0.3)
OBJECTIVES: dict[str, Objective] = {
    "plain": PLAIN,
    "narrow clip": replace(PLAIN, clip=0.02),
    "value clip": replace(PLAIN, value_clip=0.1),
    "huber": replace(PLAIN, huber=True),
    "huber and value clip": replace(PLAIN, huber=True, value_clip=0.1),
    "kl penalty": replace(PLAIN, kl_coef=0.7),
    "entropy": replace(PLAIN, entropy_coef=0.4),
    "standardized": replace(PLAIN, standardize=True),
    "policy gradient": Objective(clip=None, value_coef=0.5, entropy_coef=0.1),
    "no critic": Objective(clip=None, entropy_coef=0.1, critic=False),
    "surrogate alone": replace(PLAIN, critic=False),
    "everything": EVERYTHING,
}
MASKABLE = [name for name in ACTIONS if not name.endswith("amounts")]
NETWORKS: dict[str, dict[str, Any]] = {
    "as wide as a line": {"hidden": (64, 64)},
    "odd widths": {"hidden": (17, 33, 5)},
    "one neuron": {"hidden": (1,)},
    "wide": {"hidden": (130,)},
    "no hidden layer": {"hidden": ()},
    "shared": {"shared": True},
    "shared, none hidden": {"shared": True, "hidden": ()},
    **{kind: {"activation": kind} for kind in get_args(ActivationName)},
    "norm": {"layer_norm": True},
    "shared, relu, norm": {"shared": True, "activation": "relu", "layer_norm": True},
    "deep": {"hidden": (9,) * 6},
}
SIZES = [1, 7, 64, 65, 512, 513, 1500]


def far(found: np.ndarray, expected: np.ndarray) -> float:
    """Returns the norm of the difference relative to the expected norm (0 if a clipped row is
    alone)."""
    size = float(np.linalg.norm(expected))
    return float(np.linalg.norm(found - expected)) / (size or 1.0)


def right(problem: Problem, objective: Objective, *, within: float = 1e-6) -> None:
    """Asserts that gradient and losses match the definition."""
    expected, parts = gradient_of(problem.policy, problem.batch, objective)
    before = problem.policy.parameters.flat.copy()
    gradient, result = problem.run_update(objective)
    assert far(gradient, expected) < within
    assert np.array_equal(problem.policy.parameters.flat, before)
    line = dict(zip(LOSSES, result.losses[0], strict=True))
    names = {"loss/total", "policy/loss", "optim/grad_norm"}
    names |= {"value/loss"} if objective.critic else set()
    names |= {"policy/kl_penalty"} if objective.kl_coef else set()
    parts["optim/grad_norm"] = float(np.linalg.norm(expected))
    for name in names:
        assert line[name] == pytest.approx(parts[name], rel=2e-6, abs=2e-6), name


@pytest.mark.parametrize("objective", OBJECTIVES.values(), ids=OBJECTIVES)
@pytest.mark.parametrize("action", ACTIONS)
def test_gradients_match_for_every_head_and_objective(action: str, objective: Objective):
    # the log-probability of a composite action is a sum of more terms, each rounded
    composite = action in ("tuple", "squashed dict", "dict of options")
    right(Problem.make(action=action), objective, within=2e-6 if composite else 1e-6)


@pytest.mark.parametrize("objective", [PLAIN, EVERYTHING], ids=["plain", "everything"])
@pytest.mark.parametrize("action", MASKABLE)
def test_gradients_match_for_every_head_with_masks(action: str, objective: Objective):
    right(Problem.make(action=action, masked=True), objective)


@pytest.mark.parametrize("network", NETWORKS.values(), ids=NETWORKS)
@pytest.mark.parametrize("obs", OBSERVATIONS)
def test_gradients_match_for_every_network_and_observation(obs: str, network: dict[str, Any]):
    right(Problem.make(obs, **network), EVERYTHING)


@pytest.mark.parametrize("rows", SIZES)
@pytest.mark.parametrize("action", ["choice", "amounts"])
def test_gradients_match_for_every_batch_size(action: str, rows: int):
    right(Problem.make(action=action, rows=rows), EVERYTHING)


@settings(max_examples=25, derandomize=True)
@given(
    obs=st.sampled_from(list(OBSERVATIONS)),
    action=st.sampled_from(list(ACTIONS)),
    objective=st.sampled_from(list(OBJECTIVES)),
    rows=st.integers(1, 200),
    masked=st.booleans(),
    hidden=st.lists(st.integers(1, 40), max_size=3),
    activation=st.sampled_from(get_args(ActivationName)),
    shared=st.booleans(),
    layer_norm=st.booleans(),
    seed=st.integers(0, 1000),
)
def test_gradients_match_for_random_combinations(
    obs: str, action: str, objective: str, rows: int, masked: bool, hidden: list[int], **more: Any
):
    masked = masked and action in MASKABLE
    # a layer norm over few units with nearly equal outputs divides by almost 0, and a relu may
    # pass almost nothing: float32 is less accurate there
    hidden = [max(width, 12) for width in hidden] if more["layer_norm"] else hidden
    problem = Problem.make(obs, action, rows=rows, masked=masked, hidden=tuple(hidden), **more)
    right(problem, OBJECTIVES[objective], within=2e-5)


@pytest.mark.parametrize("action", ACTIONS)
def test_gradients_match_the_torch_engine(action: str):
    problem = Problem.make("dict", action, rows=600, masked=action in MASKABLE)
    plan = MinibatchPlan(np.random.default_rng(0).permutation(600)[None], 250)
    native, torch = (problem.run_update(EVERYTHING, plan, engine=e) for e in ("native", "torch"))
    assert far(native[0], torch[0]) < 1e-6
    assert np.allclose(native[1].losses, torch[1].losses, rtol=2e-6, atol=1e-6)
    assert (native[1].epochs, native[1].stopped_early) == (torch[1].epochs, torch[1].stopped_early)


def test_gaps_between_parameters_stay_zero():
    gaps_stay_zero(Problem.make("dict", "amounts", hidden=(5, 3), layer_norm=True))


def gaps_stay_zero(problem: Problem) -> None:
    gradient, _ = problem.run_update(EVERYTHING, lr=1e-2)
    parameters = problem.policy.parameters
    gaps = np.ones(parameters.flat.size, bool)
    for name in parameters.shapes:
        gaps[parameters.slice_of(name)] = False
    assert gaps.any()
    assert not gradient[gaps].any()
    assert not parameters.flat[gaps].any()
