"""Every activation, in every instruction set and engine, against its definition in float64."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import get_args

import numpy as np
import pytest
import torch

from gymnast import _native
from gymnast.config.sections.policy import ActivationName
from gymnast.engine.batch import MinibatchPlan
from gymnast.engine.torch.layers import run_stack
from gymnast.policy.activations import ACTIVATIONS
from gymnast.policy.layers import Activation
from tests.engine.activations import float64_activation
from tests.engine.native.problems import Problem
from tests.engine.native.test_gradients import EVERYTHING, far, right

KINDS = get_args(ActivationName)
SETS = _native.instruction_sets()
SIZES = np.concatenate([np.geomspace(1e-20, 40, 3001), [0.0, 19.9, 20.1, 86.9, 87.1, 1e4, 1e30]])
X = np.concatenate([SIZES, -SIZES]).astype(np.float32)


@contextmanager
def instruction_set(name: str) -> Iterator[None]:
    used = _native.instruction_set()
    _native.use_instruction_set(name)
    try:
        yield
    finally:
        _native.use_instruction_set(used)


def by_kernels(kind: ActivationName, x: np.ndarray) -> np.ndarray:
    """Returns the outputs of a network of one unit whose output layer is the identity."""
    policy = Problem.make("vector", "amounts", hidden=(1,), activation=kind).policy
    policy.use_engine("native")
    for name, view in policy.parameters.views.items():
        view[...] = 0.0
        if name in ("actor.0.weight", "actor.2.weight"):
            view[0, 0] = 1.0
    seen = np.zeros((len(x), 5), np.float32)
    seen[:, 0] = x
    return policy.inference.actor(seen)[:, 0]


def by_torch(kind: ActivationName, x: np.ndarray) -> np.ndarray:
    found = run_stack("actor", (Activation(kind),), {}, torch.from_numpy(x.copy()))
    return found.numpy()


@pytest.mark.parametrize("kind", KINDS)
def test_every_implementation_of_an_activation_matches_its_definition(kind: ActivationName):
    expected = float64_activation(kind, X)
    found = {"numpy": ACTIVATIONS[kind](X.copy()), "torch": by_torch(kind, X)}
    for name in SETS:
        with instruction_set(name):
            found[name] = by_kernels(kind, X)
    for name, y in found.items():
        assert y.dtype == np.float32, name
        # torch computes the tail of GELU as 1 + erf, which is accurate only relative to 1
        tail = {"rtol": 6e-7, "atol": 8e-7 if kind == "gelu" else 1e-30}
        assert np.allclose(y, expected, **tail), name


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("kind", KINDS)
def test_gradients_match_with_every_instruction_set(kind: ActivationName, name: str):
    with instruction_set(name):
        right(
            Problem.make("vector", activation=kind, layer_norm=True, weight_noise=0.5), EVERYTHING
        )


@pytest.mark.parametrize("kind", KINDS)
def test_a_whole_update_matches_between_engines_within_rounding(kind: ActivationName):
    def improved(engine: str) -> np.ndarray:
        problem = Problem.make("dict", "amounts", rows=200, activation=kind, shared=True)
        plan = MinibatchPlan.shuffled(2, 200, 50, np.random.default_rng(0), None)
        problem.run_update(EVERYTHING, plan, engine=engine, lr=1e-3, max_norm=0.5)
        return problem.policy.parameters.flat.copy()

    assert far(improved("native"), improved("torch").astype(np.float64)) < 1e-4


def test_an_unknown_activation_is_an_error():
    with pytest.raises(ValueError, match="unknown activation sigmoid"):
        _native.Network(10).dense("actor", 1, 1, 0, 1, -1, -1, "sigmoid")
