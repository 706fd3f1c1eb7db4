"""Rollouts of an older policy: what the current policy makes of them, and the gradient of V-trace."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gymnast.algos.staleness import MAX_ROWS, correct_staleness
from gymnast.images import Images
from gymnast.rollout import Rollout
from gymnast.seeds import stream
from tests.algos import reference
from tests.algos.harness import (
    ACTION_SPACES,
    BOTH_ENGINES,
    IDENTITY,
    OBSERVATION_SPACES,
    LearnerHarness,
)
from tests.algos.reference import assert_same_gradient, slow_policy_gradient, stale_rollout
from tests.rl.test_vtrace import Steps, each, slow_advantage, slow_target

QUICK = {"env.n_envs": 3, "algo.n_steps": 20, "policy.hidden": [8], "policy.embedding": 4}
GAMMA, LAM = 0.9, 0.8


def collected(settings: dict[str, Any], env: str = IDENTITY) -> tuple[LearnerHarness, Rollout]:
    """Returns a learner and its rollout, which is declared to be of an older policy."""
    practice = LearnerHarness.make(env, QUICK | settings, algo="ppo")
    rollout = practice.collect()
    return practice, replace(rollout, staleness=np.zeros(QUICK["env.n_envs"], np.int64))


def change_policy(practice: LearnerHarness, scale: float = 0.1) -> None:
    flat, rng = practice.learner.policy.parameters.flat, np.random.default_rng(2)
    flat += rng.normal(0, scale, flat.shape).astype(np.float32)


SPACES = [{"env.kwargs": {"obs": obs}} for obs in OBSERVATION_SPACES] + [*ACTION_SPACES.values()]


@BOTH_ENGINES
@pytest.mark.parametrize("settings", SPACES, ids=[*OBSERVATION_SPACES, *ACTION_SPACES])
def test_a_policy_that_did_not_change_finds_what_was_recorded_in_every_space(
    settings: dict[str, Any], engine: str
):
    # small images are computed by torch in any case
    engine = "auto" if engine == "native" else engine
    practice, rollout = collected(settings | {"engine": engine})
    found, metrics = practice.learner.correct_staleness(rollout)
    assert np.allclose(found.value, rollout.value, atol=1e-5)
    used = ~rollout.terminated
    assert np.allclose(found.next_value[used], rollout.next_value[used], atol=1e-5)
    assert np.allclose(found.rho, 1, atol=1e-4)
    assert np.allclose(found.trace_cut, 1, atol=1e-4)
    assert metrics["hosts/clipped_rho"] == 0.0


@BOTH_ENGINES
@pytest.mark.parametrize("env", ["Script", "Pictures"])
def test_values_and_log_probabilities_are_those_of_the_changed_policy_step_by_step(
    env: str, engine: str
):
    """Through truncations, with a normalized critic, and with images that store every frame once."""
    practice, rollout = collected({"engine": engine, "normalize.value": "popart"}, env)
    assert isinstance(rollout.obs, Images) == (env == "Pictures")
    assert (rollout.done & ~rollout.terminated).any()
    assert rollout.terminated.any()
    change_policy(practice)
    policy = practice.learner.policy
    policy.value_scale.moments = policy.value_scale.moments.updated(np.array([[1.0], [5.0]]))
    found, _ = correct_staleness(policy, rollout, max_rho=1.1, max_c=0.9)
    after = np.asarray(rollout.next_obs())
    for t, n in np.ndindex(rollout.reward.shape):
        row = np.asarray(rollout.obs[t : t + 1, n])
        logprob = policy.head.logprob(policy.dist(row), rollout.action[t : t + 1, n])
        assert np.allclose(found.value[t, n], policy.value(row), atol=1e-5)
        value = policy.value(after[t : t + 1, n])
        assert np.allclose(found.next_value[t, n], value, atol=1e-5)
        ratio = np.exp(float(logprob[0]) - float(rollout.logprob[t, n]))
        assert np.isclose(found.rho[t, n], min(ratio, 1.1), rtol=1e-4)
        assert np.isclose(found.trace_cut[t, n], min(ratio, 0.9), rtol=1e-4)
    assert found.rho.max() == 1.1
    assert found.rho.min() < 0.99
    assert found.logprob is rollout.logprob
    assert found.dist is rollout.dist


def test_rollouts_longer_than_one_forward_pass_are_evaluated_whole(monkeypatch: pytest.MonkeyPatch):
    practice, rollout = collected({"env.kwargs": {"obs": "image"}})
    change_policy(practice)
    whole = correct_staleness(practice.learner.policy, rollout, max_rho=1.0, max_c=1.0)[0]
    assert rollout.reward.size < MAX_ROWS
    monkeypatch.setattr("gymnast.algos.staleness.MAX_ROWS", 7)
    parts = correct_staleness(practice.learner.policy, rollout, max_rho=1.0, max_c=1.0)[0]
    for name in ("rho", "trace_cut", "value", "next_value"):
        assert np.allclose(getattr(parts, name), getattr(whole, name), atol=1e-6), name


@pytest.mark.parametrize("algo", ["ppo", "a2c"])
@BOTH_ENGINES
@pytest.mark.parametrize("box", [False, True], ids=["discrete", "box"])
def test_the_first_gradient_step_is_that_of_v_trace(box: bool, engine: str, algo: str):
    """-rho * (r + gamma * v' - V) * grad log pi, and the squared error to the V-trace targets. The surrogate
    of PPO has the ratio in place of rho, and no gradient where it is clipped."""
    ppo = {"algo.batch_size": "100%", "algo.epochs": 1, "algo.advantage_norm": "off"}
    settings = {"algo.lr": 0.0, "algo.max_grad_norm": "off", "algo.entropy_coef": 0.3}
    practice, rollout = stale_rollout(
        box, settings | (ppo if algo == "ppo" else {}) | {"engine": engine}, algo
    )
    # far more than one update away, so that ratios are clipped on both sides
    change_policy(practice, 0.2)
    stale = replace(rollout, staleness=np.full(reference.N, 3))
    found, metrics = correct_staleness(practice.learner.policy, stale, max_rho=1.3, max_c=0.9)
    assert 0.02 < metrics["hosts/clipped_rho"] < 0.98
    assert metrics["hosts/staleness"] == metrics["hosts/staleness_max"] == 3
    reference.update_once(practice, found, stream(0, "order"))

    s = Steps(rollout.reward, found.value, found.next_value, rollout.terminated, rollout.done)
    logprob = practice.learner.policy.evaluate_actions(
        rollout.obs.reshape(-1, 3), rollout.action.reshape(-1, *rollout.action.shape[2:])
    )[0]
    ratio = np.exp(logprob.astype(np.float64).reshape(rollout.logprob.shape) - rollout.logprob)
    advantage, target = (
        np.array([slow(s, ratio, at, GAMMA, LAM, (1.3, 0.9)) for at in each(s)]).reshape(
            rollout.reward.shape
        )
        for slow in (slow_advantage, slow_target)
    )
    weight = np.minimum(ratio, 1.3)
    if algo == "ppo":
        clip = practice.hparams.clip
        beyond = np.where(advantage > 0, ratio > 1 + clip, ratio < 1 - clip)
        assert beyond.any()
        weight = np.where(beyond, 0.0, ratio)
    loss, weights = slow_policy_gradient(practice, rollout, weight * advantage, target)
    loss.backward()
    assert_same_gradient(practice, weights)


def test_rollouts_without_staleness_are_not_touched():
    practice, rollout = collected({})
    plain = replace(rollout, staleness=None)
    found, metrics = practice.learner.correct_staleness(plain)
    assert found is plain
    assert metrics == {}


def test_a_corrected_rollout_is_stored_and_cut_with_its_weights():
    practice, rollout = collected({"env.kwargs": {"obs": "image"}})
    assert isinstance(rollout.obs, Images) or rollout.obs.dtype == np.uint8
    change_policy(practice)
    found, _ = practice.learner.correct_staleness(replace(rollout, staleness=np.array([0, 4, 1])))
    restored = Rollout.from_arrays(found.arrays())
    first = found.first_copies(2)
    for name in ("rho", "trace_cut"):
        assert np.array_equal(getattr(restored, name), getattr(found, name))
        assert np.array_equal(getattr(first, name), getattr(found, name)[:, :2])
    assert restored.staleness.tolist() == [0, 4, 1]
    assert first.staleness.tolist() == [0, 4]
