"""The NumPy heads, their torch versions and torch.distributions agree."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from torch.distributions import Categorical as TorchCategorical
from torch.distributions import Independent, Normal, kl_divergence

from gymnast.engine.torch.distributions import distribution
from gymnast.policy.actions import Categorical, Gaussian, head_for
from gymnast.seeds import stream
from gymnast.spaces.spaces import BoxAction, DiscreteAction

B, N = 64, 5
RNG = np.random.default_rng(3)


def floats(*shape: int) -> np.ndarray:
    return RNG.normal(0, 2, shape).astype(np.float32)


def amounts(low: tuple[float, ...], high: tuple[float, ...]) -> BoxAction:
    return BoxAction((len(low),), low, high)


CHOICE = Categorical(DiscreteAction(N, 0))
LEVER = Gaussian(amounts((-2.0, 0.0, -math.inf), (2.0, 10.0, math.inf)), log_std=-0.5)


@pytest.fixture(params=["free", "masked"])
def mask(request: pytest.FixtureRequest) -> np.ndarray | None:
    if request.param == "free":
        return None
    allowed = RNG.random((B, N)) < 0.5
    allowed[np.arange(B), RNG.integers(N, size=B)] = True
    return allowed


def test_the_categorical_head_matches_torch_with_and_without_masks(mask: np.ndarray | None):
    old, new = (CHOICE.dist_parameters(floats(B, N), None, mask) for _ in range(2))
    allowed = np.ones((B, N), bool) if mask is None else mask
    action = np.array([RNG.choice(np.flatnonzero(row)) for row in allowed])
    twin = distribution(CHOICE, torch.from_numpy(new), {}, _tensor(mask))
    reference = TorchCategorical(logits=torch.from_numpy(new).double())
    before = TorchCategorical(logits=torch.from_numpy(old).double())

    chosen = torch.from_numpy(action)
    _agree(CHOICE.logprob(new, action), twin.logprob(chosen), reference.log_prob(chosen))
    _agree(CHOICE.entropy(new), twin.entropy(), reference.entropy())
    divergence = kl_divergence(before, reference)
    _agree(CHOICE.kl(old, new), twin.kl_from(torch.from_numpy(old)), divergence)


def test_the_gaussian_head_matches_torch():
    log_std = floats(3) / 4
    old, new = (LEVER.dist_parameters(floats(B, 3), s, None) for s in (floats(3) / 4, log_std))
    action = LEVER.sample(new, floats(B, 3))
    output, tensors = torch.from_numpy(new[:, :3].copy()), {"actor.log_std": _tensor(log_std)}
    twin = distribution(LEVER, output, tensors, None)
    before, reference = (_normal(parameters) for parameters in (old, new))

    _agree(
        LEVER.logprob(new, action),
        twin.logprob(torch.from_numpy(action)),
        reference.log_prob(torch.from_numpy(action).double()),
    )
    _agree(LEVER.entropy(new), twin.entropy(), reference.entropy())
    divergence = kl_divergence(before, reference)
    _agree(LEVER.kl(old, new), twin.kl_from(torch.from_numpy(old)), divergence)


@pytest.mark.parametrize("head", [CHOICE, LEVER], ids=["choice", "amounts"])
def test_kl_is_zero_to_itself_and_never_negative(head):
    free = np.zeros(3, np.float32)
    old, new = (head.dist_parameters(floats(B, head.n_outputs), free, None) for _ in range(2))
    assert np.abs(head.kl(old, old)).max() < 1e-6
    assert (head.kl(old, new) > 0).all()


def test_masked_actions_are_never_sampled_and_have_probability_0():
    allowed = np.array([[False, True, False, True, False]] * 4000)
    dist = CHOICE.dist_parameters(np.tile(floats(1, N), (4000, 1)), None, allowed)
    noise = stream(0, "noise").random(4000, dtype=np.float32)
    noise[:2] = 0.0, np.nextafter(np.float32(1), np.float32(0))  # both ends of the interval
    assert set(CHOICE.sample(dist, noise).tolist()) == {1, 3}
    assert set(CHOICE.mode(dist).tolist()) <= {1, 3}
    assert (CHOICE.logprob(dist, np.zeros(4000, int)) < -1e8).all()
    assert np.isfinite(CHOICE.entropy(dist)).all()


def test_discrete_actions_are_sampled_with_their_probability():
    logits = np.array([0.0, 1.5, -2.0, 0.7, 0.2], np.float32)
    n = 50_000
    noise = CHOICE.noise(stream(1, "noise"), (n,))
    drawn = CHOICE.sample(np.tile(logits, (n, 1)), noise)
    expected = n * np.exp(logits.astype(float)) / np.exp(logits.astype(float)).sum()
    statistic = ((np.bincount(drawn, minlength=N) - expected) ** 2 / expected).sum()
    assert statistic < 18.47  # the 99.9 % quantile of chi-square with 4 degrees of freedom


def test_continuous_actions_are_sampled_with_their_mean_and_std():
    n = 50_000
    dist = np.tile(np.array([1.0, -2.0, 0.0, 0.5, -1.0, 0.0], np.float32), (n, 1))
    drawn = LEVER.sample(dist, LEVER.noise(stream(2, "noise"), (n,))).astype(float)
    std = np.exp(dist[0, 3:].astype(float))
    error = std / math.sqrt(n)
    assert (np.abs(drawn.mean(0) - dist[0, :3]) < 4 * error).all()
    assert np.allclose(drawn.std(0), std, rtol=4 / math.sqrt(2 * n))
    assert np.abs(np.corrcoef(drawn.T) - np.eye(3)).max() < 0.02


def test_the_greedy_action_is_the_most_likely_one():
    logits = floats(B, N)
    every = np.stack([CHOICE.logprob(logits, np.full(B, a)) for a in range(N)])
    assert np.array_equal(CHOICE.mode(logits), every.argmax(0))
    dist = LEVER.dist_parameters(floats(B, 3), floats(3), None)
    mode = LEVER.mode(dist)
    for shift in (-0.1, 0.1):
        assert (LEVER.logprob(dist, mode) > LEVER.logprob(dist, mode + np.float32(shift))).all()


def test_the_environment_receives_box_actions_in_its_units_and_range():
    action = np.array([[0, 0, 0], [1, 1, 1], [-1, -1, -1], [9, -9, 9]], np.float32)
    expected = [[0, 5, 0], [2, 10, 1], [-2, 0, -1], [2, 0, 9]]
    assert LEVER.for_env(action).tolist() == expected


def test_the_environment_receives_actions_with_the_shape_and_start_of_its_space():
    square = Gaussian(BoxAction((2, 2), (-1.0,) * 4, (1.0,) * 4), 0.0)
    assert square.for_env(floats(7, 4)).shape == (7, 2, 2)
    late = Categorical(DiscreteAction(3, first=5))
    assert late.for_env(np.array([0, 1, 2])).tolist() == [5, 6, 7]


def test_every_action_space_has_a_head():
    assert isinstance(head_for(DiscreteAction(2, 0), 0.0), Categorical)
    lever = head_for(amounts((-1.0,), (1.0,)), -0.7)
    assert isinstance(lever, Gaussian)
    assert lever.extra_parameters == (("log_std", 1, -0.7),)


def _tensor(array: np.ndarray | None) -> torch.Tensor | None:
    return None if array is None else torch.from_numpy(array)


def _normal(dist: np.ndarray) -> Independent:
    mean, log_std = torch.from_numpy(dist).double().chunk(2, -1)
    return Independent(Normal(mean, log_std.exp()), 1)


def _agree(ours: np.ndarray, twin: torch.Tensor, reference: torch.Tensor) -> None:
    assert np.allclose(ours, reference.numpy(), rtol=1e-4, atol=1e-5)
    assert np.allclose(twin.numpy(), reference.numpy(), rtol=1e-4, atol=1e-5)
