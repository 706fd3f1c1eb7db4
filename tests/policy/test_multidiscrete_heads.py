"""MultiDiscrete and MultiBinary heads against an enumeration of all combinations."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch

from gymnast.engine.torch.distributions import distribution
from gymnast.policy.actions import Bernoulli, MultiCategorical, head_for
from gymnast.seeds import stream
from gymnast.spaces.spaces import (
    DiscreteAction,
    MultiBinaryAction,
    MultiDiscreteAction,
)

RNG = np.random.default_rng(8)
B = 24
CHOICES = MultiCategorical(MultiDiscreteAction((3,), (3, 2, 4), (0, 0, 0)))
SWITCHES = Bernoulli(MultiBinaryAction((4,)))
HEADS = {"choices": CHOICES, "switches": SWITCHES}


@pytest.fixture(params=HEADS)
def head(request: pytest.FixtureRequest):
    return HEADS[request.param]


@pytest.fixture(params=["free", "masked"])
def mask(request: pytest.FixtureRequest, head) -> np.ndarray | None:
    if request.param == "free":
        return None
    allowed = RNG.random((B, head.space.mask_width)) < 0.5
    for first, n in options(head):  # at least one option per element
        allowed[np.arange(B), first + RNG.integers(n, size=B)] = True
    return allowed


def options(head) -> list[tuple[int, int]]:
    """Returns where the options of each element start in a mask, and their number."""
    n = head.space.n if head is CHOICES else (2,) * 4
    return list(zip(np.cumsum([0, *n[:-1]]).tolist(), n, strict=True))


def every(head) -> np.ndarray:
    return np.array(list(itertools.product(*(range(n) for _, n in options(head)))))


def table(head, output: np.ndarray, mask: np.ndarray | None) -> np.ndarray:
    """Returns the probability of each combination [B, combinations], in float64, element by
    element."""
    found = np.ones((len(output), len(every(head))))
    for element, (first, n) in enumerate(options(head)):
        if head is CHOICES:
            weight = np.exp(output[:, first : first + n].astype(np.float64))
        else:
            on = 1 / (1 + np.exp(-output[:, element].astype(np.float64)))
            weight = np.stack([1 - on, on], -1)
        if mask is not None:
            weight = weight * mask[:, first : first + n]
        p = weight / weight.sum(-1, keepdims=True)
        found *= p[:, every(head)[:, element]]
    return found


def drawn(head) -> np.ndarray:
    return RNG.normal(0, 2, (B, head.n_outputs)).astype(np.float32)


def test_log_probability_entropy_and_kl_match_the_joint_distribution(head, mask):
    outputs = drawn(head), drawn(head)
    before, after = (table(head, output, mask) for output in outputs)
    old, new = (head.dist_parameters(output, None, mask) for output in outputs)
    given = None if mask is None else torch.from_numpy(mask)
    twin = distribution(head, torch.from_numpy(outputs[1]), {}, given)

    possible = after > 0
    entropy = -(after * np.log(np.where(possible, after, 1))).sum(1)
    ratio = np.where(possible, before, 1) / np.where(possible, after, 1)
    divergence = (before * np.log(np.where(before > 0, ratio, 1))).sum(1)
    agree(head.entropy(new), twin.entropy(), entropy)
    agree(head.kl(old, new), twin.kl_from(torch.from_numpy(old)), divergence)
    for i, combination in enumerate(every(head)):
        action = np.tile(combination, (B, 1))
        ours, theirs = head.logprob(new, action), twin.logprob(torch.from_numpy(action))
        allowed = possible[:, i]
        agree(ours[allowed], theirs[torch.from_numpy(allowed)], np.log(after[allowed, i]))
        assert (ours[~allowed] < -1e8).all()


def test_gradients_of_masked_distributions_are_finite_and_zero_for_masked_options(head, mask):
    output = torch.from_numpy(drawn(head)).requires_grad_()
    given = None if mask is None else torch.from_numpy(mask)
    dist = distribution(head, output, {}, given)
    action = head.mode(head.dist_parameters(output.detach().numpy(), None, mask))
    loss = dist.logprob(torch.from_numpy(action)).sum() + dist.entropy().sum()
    (gradient,) = torch.autograd.grad(loss, output)
    assert gradient.isfinite().all()
    if mask is not None:
        decided = ~mask if head is CHOICES else ~mask.reshape(B, -1, 2).all(-1)
        assert not gradient.numpy()[decided].any()


def test_combinations_are_sampled_with_their_probability_and_masked_ones_never(head, mask):
    n = 20_000
    output = np.tile(drawn(head)[:1], (n, 1))
    allowed = None if mask is None else np.tile(mask[:1], (n, 1))
    dist = head.dist_parameters(output, None, allowed)
    actions = head.sample(dist, head.noise(stream(3, "noise"), (n,)))
    expected = table(head, output[:1], None if mask is None else mask[:1])[0]
    for combination, p in zip(every(head), expected, strict=True):
        share = (actions == combination).all(-1).mean()
        assert share == pytest.approx(p, abs=4 * np.sqrt(p * (1 - p) / n) + 1e-12)


@pytest.mark.parametrize("edge", [0.0, np.nextafter(np.float32(1), np.float32(0))])
def test_extreme_noise_never_samples_a_masked_option(head, edge):
    for _ in range(50):
        allowed = np.zeros((1, head.space.mask_width), bool)
        for first, n in options(head):
            allowed[0, first + RNG.integers(n)] = True  # a single combination is allowed
        dist = head.dist_parameters(drawn(head)[:1], None, allowed)
        noise = np.full((1, len(options(head))), edge, np.float32)
        action = head.sample(dist, noise)
        assert np.array_equal(action, head.mode(dist))
        assert all(allowed[0, f + a] for (f, _), a in zip(options(head), action[0], strict=True))
        assert head.entropy(dist) == head.kl(dist, dist) == head.logprob(dist, action) == 0


def test_the_environment_receives_actions_in_its_own_shape_numbering_and_dtype():
    square = head_for(MultiDiscreteAction((2, 2), (3, 2, 4, 2), (0, 5, -1, 0)))
    action = square.for_env(np.array([[2, 1, 0, 1]]))
    assert (action.tolist(), action.dtype) == ([[[2, 6], [-1, 1]]], np.int64)
    switches = head_for(MultiBinaryAction((2, 2))).for_env(np.array([[1, 0, 0, 1]]))
    assert (switches.tolist(), switches.dtype) == ([[[1, 0], [0, 1]]], np.int8)


def test_masks_are_read_in_the_format_of_gymnasium():
    space = MultiDiscreteAction((2,), (3, 2), (0, 0))
    rows = np.zeros((1, 5), bool)
    for given in (np.array([1, 0, 1, 0, 1]), (np.array([1, 0, 1], np.int8), np.array([0, 1]))):
        assert space.put_mask(rows, 0, given) is None
        assert rows[0].tolist() == [True, False, True, False, True]
    assert "one entry per option" in space.put_mask(rows, 0, np.ones(4))
    assert "nothing for element 1" in space.put_mask(rows, 0, np.array([1, 1, 1, 0, 0]))
    rows = np.zeros((1, 6), bool)
    assert MultiBinaryAction((3,)).put_mask(rows, 0, np.array([0, 1, 2], np.int8)) is None
    assert rows[0].tolist() == [True, False, False, True, True, True]
    assert "0 (off), 1 (on) or 2" in MultiBinaryAction((3,)).put_mask(rows, 0, np.ones(3, bool))
    assert MultiBinaryAction((3,)).put_mask(rows, 0, None) is None
    assert rows.all()


def agree(ours: np.ndarray, twin: torch.Tensor, expected: np.ndarray) -> None:
    assert np.allclose(ours, expected, rtol=1e-4, atol=1e-5)
    assert np.allclose(twin.detach().numpy(), expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("space", "given"),
    [
        (DiscreteAction(3, 0), ["a", "b", "c"]),
        (DiscreteAction(3, 0), ()),
        (DiscreteAction(3, 0), [[1], [1, 0]]),
        (MultiDiscreteAction((2,), (3, 2), (0, 0)), ()),
        (MultiDiscreteAction((2,), (3, 2), (0, 0)), ([1, 0], ["x"])),
    ],
)
def test_an_invalid_mask_is_reported(space, given):
    rows = np.ones((1, space.mask_width), dtype=bool)
    problem = space.put_mask(rows, 0, given)
    assert problem is not None
    assert 'info["action_mask"] is' in problem
