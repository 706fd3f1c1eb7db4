"""Gradients and targets of A2C and REINFORCE against independent implementations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gymnast.rollout import Rollout
from gymnast.seeds import stream
from tests.algos.harness import BOTH_ENGINES
from tests.algos.reference import (
    N,
    assert_same_gradient,
    slow_advantages,
    slow_policy_gradient,
    stale_rollout,
    standardize,
    update_once,
)

STILL = {"algo.lr": 0.0, "algo.max_grad_norm": "off"}
BOX = pytest.mark.parametrize("box", [False, True], ids=["choice", "amounts"])


@BOTH_ENGINES
@BOX
@pytest.mark.parametrize("norm", ["off", "rollout"])
def test_a2c_follows_the_gradient_of_its_loss(box: bool, norm: str, engine: str):
    settings = STILL | {"algo.advantage_norm": norm, "algo.entropy_coef": 0.3}
    practice, rollout = stale_rollout(box, settings | {"engine": engine}, "a2c")
    metrics = update_once(practice, rollout, stream(0, "order"))
    advantage = slow_advantages(rollout, 0.9, 0.8)
    target = advantage + rollout.value
    loss, weights = slow_policy_gradient(
        practice, rollout, standardize(advantage) if norm == "rollout" else advantage, target
    )
    loss.backward()
    assert_same_gradient(practice, weights)
    assert metrics["loss/total"] == pytest.approx(float(loss.detach()), rel=1e-4, abs=1e-5)
    assert metrics["optim/steps"] == 1


def slow_credit(rollout: Rollout, gamma: float, kind: str) -> np.ndarray:
    """Returns the credited return of each step, summed episode by episode."""
    credit = np.zeros_like(rollout.reward)
    for n in range(N):
        steps = np.flatnonzero(rollout.valid[:, n])
        for t in steps:
            end = next(k for k in steps if k >= t and rollout.done[k, n])
            first = max(k for k in steps if k <= t and rollout.start[k, n])
            begin = t if kind == "to_go" else first
            rewards = rollout.reward[begin : end + 1, n]
            credit[t, n] = sum(gamma**k * r for k, r in enumerate(rewards))
    return credit


CASES: dict[str, dict[str, Any]] = {
    "learned": {"algo.baseline": "learned"},
    "batch": {"algo.baseline": "batch"},
    "off": {"algo.baseline": "off", "algo.advantage_norm": "off"},
    "off, scaled": {"algo.baseline": "off", "algo.advantage_norm": "rollout"},
    "episode": {"algo.returns": "episode", "algo.baseline": "batch"},
    "episode, off": {"algo.returns": "episode", "algo.baseline": "none"},
    "as they are": {"algo.baseline": "learned", "algo.advantage_norm": "off"},
}


@BOTH_ENGINES
@BOX
@pytest.mark.parametrize("settings", CASES.values(), ids=CASES)
def test_reinforce_follows_the_gradient_of_its_loss(
    box: bool, settings: dict[str, Any], engine: str
):
    given = STILL | {"algo.episodes": 4, "algo.entropy_coef": 0.3, "engine": engine} | settings
    practice, rollout = stale_rollout(box, given, "reinforce")
    assert not rollout.valid.all()  # copies with shorter episodes have fewer steps
    metrics = update_once(practice, rollout, stream(0, "order"))
    algo, keep = practice.cfg.algo, rollout.valid
    credit = slow_credit(rollout, 0.9, algo.returns)
    baseline = {"off": 0.0, "batch": credit[keep].mean(), "learned": rollout.value}
    advantage = credit - baseline[algo.baseline]
    if algo.advantage_norm == "rollout":
        mean = 0.0 if algo.baseline == "off" else advantage[keep].mean()
        size = np.sqrt(np.square(advantage[keep] - mean).mean())
        advantage = np.where(keep, (advantage - mean) / size, 0)
    target = credit if algo.baseline == "learned" else None
    loss, weights = slow_policy_gradient(practice, rollout, advantage, target)
    loss.backward()
    assert_same_gradient(practice, weights)
    assert metrics["loss/total"] == pytest.approx(float(loss.detach()), rel=1e-4, abs=1e-5)
    if target is None:  # a critic that is not the baseline is not trained
        spans = practice.learner.policy.parameters.prefix_slice("critic.")
        assert not practice.learner.algorithm.gradient_step.engine.gradient[spans].any()


def test_no_baseline_gives_another_update_than_the_batch_mean():
    moved: dict[str, np.ndarray] = {}
    for baseline in ("off", "batch"):
        settings = STILL | {"algo.episodes": 4, "algo.baseline": baseline}
        practice, rollout = stale_rollout(False, settings, "reinforce")
        assert practice.cfg.algo.advantage_norm == "rollout"
        update_once(practice, rollout, stream(0, "order"))
        moved[baseline] = practice.learner.algorithm.gradient_step.engine.gradient.copy()
    assert not np.allclose(moved["off"], moved["batch"])


def test_a_learned_baseline_is_rejected_for_returns_of_whole_episodes():
    with pytest.raises(Exception, match=r"algo\.baseline.*to_go"):
        stale_rollout(False, {"algo.returns": "episode", "algo.baseline": "learned"}, "reinforce")
