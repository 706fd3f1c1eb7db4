"""Loss terms against their definitions, one sample at a time."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from gymnast.engine.torch.losses import clipped_surrogate, value_loss

RNG = np.random.default_rng(6)
B = 40


def numbers(spread: float = 1.0, center: float = 0.0) -> torch.Tensor:
    return torch.from_numpy(RNG.normal(center, spread, B))


def test_the_surrogate_is_the_minimum_of_the_unclipped_and_the_clipped_objective():
    ratio, advantage, clip = numbers(0.5, 1.0).abs(), numbers(), 0.2
    gains = [
        min(r * a, min(max(r, 1 - clip), 1 + clip) * a)
        for r, a in zip(ratio.tolist(), advantage.tolist(), strict=True)
    ]
    assert float(clipped_surrogate(ratio, advantage, clip)) == pytest.approx(-np.mean(gains))


@pytest.mark.parametrize(
    ("ratio", "advantage", "pushed"),
    [
        (1.5, 1.0, False),  # beyond the clip range, in the direction of the advantage: no gradient
        (0.5, -1.0, False),
        (0.5, 1.0, True),  # beyond the clip range, against the advantage: full gradient
        (1.5, -1.0, True),
        (1.1, 1.0, True),  # within the clip range
        (0.9, -1.0, True),
    ],
)
def test_the_surrogate_has_no_gradient_beyond_the_clip_range_except_back_into_it(
    ratio, advantage, pushed
):
    r = torch.tensor([ratio], requires_grad=True)
    clipped_surrogate(r, torch.tensor([advantage]), 0.2).backward()
    assert float(r.grad) == (-advantage if pushed else 0.0)


def slow_error(value: float, target: float, huber: bool) -> float:
    distance = abs(value - target)
    if huber and distance > 1:
        return 2 * distance - 1
    return distance**2


@pytest.mark.parametrize("huber", [False, True], ids=["mse", "huber"])
@pytest.mark.parametrize("clip", [None, 0.3])
def test_the_value_loss_matches_its_definition(huber: bool, clip: float | None):
    value, target, old = numbers(), numbers(), numbers()
    found, share = value_loss(value, target, old, clip=clip, huber=huber)
    expected, outside = [], 0
    for v, t, o in zip(value.tolist(), target.tolist(), old.tolist(), strict=True):
        error = slow_error(v, t, huber)
        if clip is not None:
            held = o + min(max(v - o, -clip), clip)
            error = max(error, slow_error(held, t, huber))
            outside += abs(v - o) > clip
        expected.append(error)
    assert float(found) == pytest.approx(np.mean(expected))
    assert float(share) == pytest.approx(outside / B)


def test_huber_and_squared_error_have_the_same_slope_near_the_target():
    for huber in (False, True):
        value = torch.tensor([0.25], requires_grad=True)
        value_loss(value, torch.zeros(1), torch.zeros(1), clip=None, huber=huber)[0].backward()
        assert float(value.grad) == pytest.approx(0.5)


def test_a_value_beyond_its_clip_range_towards_the_target_has_no_gradient():
    value = torch.tensor([1.0], requires_grad=True)
    loss, share = value_loss(value, torch.tensor([5.0]), torch.zeros(1), clip=0.2, huber=False)
    loss.backward()
    assert float(value.grad) == 0.0
    assert float(share) == 1.0
