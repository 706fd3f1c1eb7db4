"""Images encoded in bfloat16: the same network within rounding, and float32 everywhere else."""

from __future__ import annotations

import numpy as np
import torch

from gymnast.engine.objective import Objective
from gymnast.policy.layers import Float32, Pixels
from tests.engine.native.problems import Problem
from tests.engine.native.reference import gradient_of

OBJECTIVE = Objective(clip=0.2, value_coef=0.5, entropy_coef=0.1, standardize=True)


def problem(precision: str) -> Problem:
    return Problem.make("image", rows=64, activation="relu", weight_noise=0.03, precision=precision)


def test_the_bfloat16_gradient_matches_float64_within_eight_bits():
    """The error must also exceed that of float32, or nothing would have been computed in bfloat16."""
    short = problem("bfloat16")
    expected, _ = gradient_of(short.policy, short.batch, OBJECTIVE)
    found, _ = short.run_update(OBJECTIVE, engine="torch")
    apart = np.linalg.norm(found - expected) / np.linalg.norm(expected)
    assert 1e-4 < apart < 0.15
    along = found @ expected / (np.linalg.norm(found) * np.linalg.norm(expected))
    assert along > 0.99


def test_weights_gradients_and_head_inputs_stay_float32():
    short = problem("bfloat16")
    engine = short.engine("torch")
    (gradient, _) = short.run_update(OBJECTIVE, engine="torch")
    assert short.policy.parameters.flat.dtype == gradient.dtype == np.float32
    pixels, *_, last = short.policy.network.shared
    assert isinstance(pixels, Pixels)
    assert pixels.precision == "bfloat16"
    assert isinstance(last, Float32)
    assert all(t.dtype == torch.float32 for t in engine.network.tensors.values())  # type: ignore[attr-defined]
    output, value = short.policy.inference.actor_and_critic(short.batch.features)
    assert output.dtype == value.dtype == np.float32


def test_acting_and_learning_round_in_the_same_way():
    """Otherwise the ratio of the first minibatch would not be 1."""
    short = problem("bfloat16")
    engine = short.engine("torch")
    acted, value = short.policy.inference.actor_and_critic(short.batch.features)
    with torch.no_grad():
        learned, critic = engine.network(torch.from_numpy(short.batch.features))  # type: ignore[attr-defined]
    assert np.allclose(acted, learned.numpy(), atol=1e-6)
    assert np.allclose(value, critic.numpy(), atol=1e-6)


def test_float32_is_unchanged():
    assert not any(isinstance(layer, Float32) for layer in problem("float32").policy.network.shared)
