"""Gaussians squashed by tanh: log-probability and entropy agree, also close to the bounds."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from torch.distributions import Independent, Normal, TransformedDistribution
from torch.distributions.transforms import TanhTransform

from gymnast.engine.torch.distributions import distribution
from gymnast.errors import ConfigError
from gymnast.policy.actions import SquashedGaussian, head_for
from gymnast.spaces.spaces import BoxAction

RNG = np.random.default_rng(9)
SPACE = BoxAction((2,), (-2.0, 0.0), (2.0, 10.0))
HEAD = SquashedGaussian(SPACE, log_std=-0.5)
CORNERS = [(0.0, -1.0), (0.5, 0.0), (3.0, -1.0), (6.0, 0.0), (-4.0, 1.0), (12.0, 0.5), (1.0, 2.0)]
"""Returns means and log deviations before tanh; for some, 1 - tanh^2 is 0 in float32."""


def params(mean: float, log_std: float, n: int = 1) -> np.ndarray:
    return np.tile(np.array([mean, -mean, log_std, log_std], np.float32), (n, 1))


def twin_of(dist: np.ndarray):
    log_std = torch.from_numpy(dist[0, 2:].copy())
    return distribution(
        HEAD, torch.from_numpy(dist[:, :2].copy()), {"actor.log_std": log_std}, None
    )


@pytest.mark.parametrize(("mean", "log_std"), CORNERS)
def test_log_probability_matches_the_transformed_normal(mean: float, log_std: float):
    dist = params(mean, log_std, 50)
    action = HEAD.sample(dist, HEAD.noise(RNG, (50,)))
    m, s = torch.from_numpy(dist).double().chunk(2, -1)
    reference = Independent(
        TransformedDistribution(Normal(m, s.exp()), [TanhTransform(cache_size=1)]), 1
    )
    u = torch.from_numpy(action).double()
    slope = 2 * (math.log(2) - u - torch.nn.functional.softplus(-2 * u))
    expected = (Normal(m, s.exp()).log_prob(u) - slope).sum(-1)
    near = u.abs().amax(-1) < 6  # farther out the reference itself is inaccurate
    assert torch.allclose(reference.log_prob(torch.tanh(u))[near], expected[near], atol=1e-4)
    assert np.allclose(HEAD.logprob(dist, action), expected, rtol=1e-5, atol=1e-4)
    twin = twin_of(dist).logprob(torch.from_numpy(action))
    assert np.allclose(twin, expected, rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize(("mean", "log_std"), CORNERS)
def test_entropy_is_the_mean_of_minus_the_log_probability(mean: float, log_std: float):
    n = 200_000
    dist = params(mean, log_std, n)
    draws = -HEAD.logprob(dist, HEAD.sample(dist, HEAD.noise(RNG, (n,)))).astype(np.float64)
    error = 4.5 * draws.std() / math.sqrt(n) + 2e-3
    found = HEAD.entropy(dist[:1])
    assert found == pytest.approx(draws.mean(), abs=error)
    assert float(twin_of(dist[:1]).entropy()) == pytest.approx(float(found[0]), rel=1e-5, abs=1e-4)


def test_the_entropy_gradient_matches_its_value():
    mean = torch.tensor([[0.3, -1.5]], dtype=torch.float64, requires_grad=True)
    log_std = torch.tensor([-0.4, 0.6], dtype=torch.float64, requires_grad=True)

    def entropy(m: torch.Tensor, s: torch.Tensor) -> torch.Tensor:
        return distribution(HEAD, m, {"actor.log_std": s}, None).entropy()

    assert torch.autograd.gradcheck(entropy, (mean, log_std))


def test_entropy_falls_as_the_mean_approaches_a_bound():
    """The entropy of a clipped normal does not have this property."""
    found = [float(HEAD.entropy(params(mean, 0.0))[0]) for mean in (0, 1, 2, 4, 8)]
    assert found == sorted(found, reverse=True)
    assert max(found) < 2 * math.log(2)  # the uniform distribution on -1..1 has the largest entropy


def test_kl_equals_that_of_the_normals():
    old, new = params(0.4, -0.3), params(-1.0, 0.2)
    n = 100_000
    many = np.tile(old, (n, 1))
    action = HEAD.sample(many, HEAD.noise(RNG, (n,)))
    ratio = HEAD.logprob(many, action) - HEAD.logprob(np.tile(new, (n, 1)), action)
    error = 4.5 * float(ratio.std()) / math.sqrt(n)
    assert float(HEAD.kl(old, new)[0]) == pytest.approx(float(ratio.mean()), abs=error)
    assert float(twin_of(new).kl_from(torch.from_numpy(old))) == pytest.approx(
        float(HEAD.kl(old, new)[0]), rel=1e-5
    )


def test_the_environment_receives_squashed_actions_within_its_range():
    action = np.array([[0, 0], [50, -50], [-0.5, 0.5]], np.float32)
    expected = [[0, 5], [2, 0], [2 * math.tanh(-0.5), 5 + 5 * math.tanh(0.5)]]
    assert np.allclose(HEAD.for_env(action), expected)


def test_unbounded_actions_cannot_be_squashed():
    assert isinstance(head_for(SPACE, 0.0, squash=True), SquashedGaussian)
    with pytest.raises(ConfigError, match=r"policy\.squash.*unbounded"):
        head_for(BoxAction((1,), (-1.0,), (np.inf,)), 0.0, squash=True)
