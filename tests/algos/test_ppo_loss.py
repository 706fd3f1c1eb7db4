"""PPO's loss and gradient against an independent implementation."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.algos.harness import BOTH_ENGINES
from tests.algos.reference import (
    ZERO_LR,
    N,
    RecordingGenerator,
    T,
    assert_same_gradient,
    slow_loss,
    stale_rollout,
    update_once,
)

VARIANTS: dict[str, dict[str, Any]] = {
    "plain": {},
    "advantages as they are": {"algo.advantage_norm": "off"},
    "advantages over the rollout": {"algo.advantage_norm": "rollout"},
    "value clip": {"algo.value_clip": 0.05},
    "huber": {"algo.value_loss": "huber"},
    "huber and value clip": {"algo.value_loss": "huber", "algo.value_clip": 0.05},
    "kl penalty": {"algo.kl_coef": 0.7},
    "entropy bonus": {"algo.entropy_coef": 0.3},
    "popart": {"normalize.value": "popart", "algo.value_clip": 0.05},
    "narrow clip": {"algo.clip": 0.01},
    "value weight": {"algo.value_coef": 3.0},
}


@BOTH_ENGINES
@pytest.mark.parametrize("box", [False, True], ids=["choice", "amounts"])
@pytest.mark.parametrize("settings", VARIANTS.values(), ids=VARIANTS)
def test_the_gradient_matches_an_independent_implementation_of_the_loss(
    box: bool, settings: dict[str, Any], engine: str
):
    practice, rollout = stale_rollout(box, ZERO_LR | settings | {"engine": engine})
    order = RecordingGenerator()
    metrics = update_once(practice, rollout, order)
    halves = np.array_split(order.orders[0], 2)
    loss, _, weights = slow_loss(practice, rollout, halves[-1])
    loss.backward()
    assert_same_gradient(practice, weights)

    reported = [slow_loss(practice, rollout, half)[1] for half in halves]
    for name in reported[0]:
        expected = np.mean([parts[name] for parts in reported])
        assert metrics[name] == pytest.approx(expected, rel=1e-4, abs=1e-5), name


@BOTH_ENGINES
def test_masked_actions_do_not_contribute_to_the_gradient(engine: str):
    settings = {"algo.entropy_coef": 0.3, "algo.kl_coef": 0.7, "engine": engine}
    practice, rollout = stale_rollout(False, ZERO_LR | settings)
    head = practice.learner.policy.head
    mask = np.random.default_rng(2).random(rollout.dist.shape) < 0.6
    np.put_along_axis(mask, rollout.action[..., None], True, -1)
    dist = head.dist_parameters(rollout.dist, None, mask)
    logprob = head.logprob(dist, rollout.action)
    rollout = replace(rollout, mask=mask, dist=dist, logprob=logprob)
    order = RecordingGenerator()
    metrics = update_once(practice, rollout, order)
    loss, _, weights = slow_loss(practice, rollout, np.array_split(order.orders[0], 2)[-1])
    loss.backward()
    assert_same_gradient(practice, weights)
    assert metrics["policy/entropy"] < math.log(3)


@BOTH_ENGINES
def test_invalid_steps_are_not_learned_from(engine: str):
    settings = {"algo.advantage_norm": "off", "engine": engine}
    practice, rollout = stale_rollout(False, ZERO_LR | settings)
    valid = np.random.default_rng(3).random((T, N)) < 0.5
    rollout = replace(rollout, valid=valid)
    order = RecordingGenerator()
    update_once(practice, rollout, order)
    size = practice.hparams.minibatch_size(int(valid.sum()))
    (n_batches,) = {-(-int(valid.sum()) // size)}
    last = np.array_split(order.orders[0], n_batches)[-1]
    assert sum(map(len, order.orders)) == valid.sum()
    loss, _, weights = slow_loss(practice, rollout, last)
    loss.backward()
    assert_same_gradient(practice, weights)
