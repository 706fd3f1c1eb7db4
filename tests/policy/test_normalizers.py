"""Normalization of observations, rewards and values."""

from __future__ import annotations

import numpy as np
import pytest

from gymnast.config.sections.normalize import NormalizeConfig
from gymnast.config.sections.policy import PolicyConfig
from gymnast.errors import ConfigError
from gymnast.policy.normalize import ObsNormalizer, RewardScale, ValueScale
from gymnast.policy.policy import Policy
from gymnast.spaces.spaces import BoxObs, DiscreteAction, with_declared_ranges

RNG = np.random.default_rng(2)
SPACE = BoxObs((3,), (-np.inf,) * 3, (np.inf,) * 3)
RANGE = BoxObs((3,), (-1.0, 0.0, -8.0), (1.0, 10.0, 8.0))


def batches(n: int = 5) -> list[np.ndarray]:
    scale, shift = np.array([1, 20, 0.01]), np.array([0, -300, 5])
    return [(RNG.normal(size=(40, 3)) * scale + shift).astype(np.float32) for _ in range(n)]


def test_running_normalization_gives_mean_0_and_std_1_over_all_observations():
    normalizer, seen = ObsNormalizer("running", SPACE, 10.0), batches()
    for batch in seen:
        normalizer.update(batch)
    every = np.concatenate(seen)
    found = normalizer(every)
    expected = (every - every.mean(0, dtype=np.float64)) / every.std(0, dtype=np.float64)
    assert np.allclose(found, expected, atol=1e-2)
    assert np.allclose(found.mean(0), 0, atol=1e-2)
    assert np.allclose(found.std(0), 1, atol=1e-2)
    assert found.dtype == np.float32


def test_observations_are_unchanged_before_the_first_update():
    batch = batches(1)[0].clip(-9, 9)
    assert np.array_equal(ObsNormalizer("running", SPACE, 10.0)(batch), batch)
    assert ObsNormalizer("off", SPACE, 10.0)(batch) is batch


def test_a_constant_component_is_centered_and_not_scaled():
    normalizer = ObsNormalizer("running", SPACE, 10.0)
    constant = np.tile(np.array([0.1, -7.3, 1e4], np.float32), (50, 1))
    normalizer.update(constant)
    normalizer.update(constant)
    assert np.allclose(normalizer(constant), 0, atol=1e-2)
    assert np.allclose(normalizer(constant + 1), 1, atol=1e-2)


def test_outliers_are_clipped_without_changing_the_observation_itself():
    normalizer = ObsNormalizer("running", SPACE, 2.5)
    normalizer.update(RNG.normal(size=(500, 3)).astype(np.float32))
    outlier = np.array([[1e6, -1e6, 0.0]], np.float32)
    assert normalizer(outlier)[0, :2].tolist() == [2.5, -2.5]
    assert outlier[0, 0] == 1e6


def test_static_maps_the_declared_range_to_minus_1_to_1_and_never_updates():
    normalizer = ObsNormalizer("static", RANGE, 10.0)
    ends = np.array([RANGE.low, RANGE.high, (0.0, 5.0, 0.0)], np.float32)
    before = normalizer(ends)
    assert np.allclose(before, [[-1] * 3, [1] * 3, [0] * 3])
    normalizer.update(ends * 100)
    assert np.array_equal(normalizer(ends), before)


def test_static_without_a_range_names_the_components_and_the_fix():
    half_open = BoxObs((3,), (-1.0, -np.inf, 0.0), (1.0, np.inf, 0.0))
    with pytest.raises(ConfigError, match=r"\[1, 2\]") as refused:
        ObsNormalizer("static", half_open, 10.0)
    assert "facts.observations" in refused.value.fix


def test_facts_give_a_range_to_unbounded_components():
    from gymnast.config.facts import Component

    facts = tuple(Component(name=n, low=-2, high=4) for n in "xyz")
    declared = with_declared_ranges(SPACE, facts)
    assert np.allclose(ObsNormalizer("static", declared, 10.0)(np.ones((1, 3), np.float32)), 0)


def slow_returns(reward: np.ndarray, done: np.ndarray, gamma: float) -> np.ndarray:
    total = np.zeros_like(reward)
    for n in range(reward.shape[1]):
        running = 0.0
        for t in range(len(reward)):
            running = running * gamma + reward[t, n]
            total[t, n] = running
            running *= not done[t, n]
    return total


def test_rewards_are_divided_by_the_std_of_the_discounted_return_over_all_rollouts():
    scale = RewardScale("running", 4)
    reward, done = RNG.normal(3, 5, (60, 4)), RNG.random((60, 4)) < 0.1
    parts = zip(np.split(reward, 3), np.split(done, 3), strict=True)
    scaled = [scale(r, d, np.ones_like(d), gamma=0.9) for r, d in parts]
    spread = slow_returns(reward, done, 0.9).std()
    assert scale.scale == pytest.approx(spread, rel=1e-9)
    assert np.allclose(scaled[-1], reward[40:] / spread)


def test_zero_rewards_stay_zero_and_the_sign_is_never_changed():
    scale = RewardScale("running", 2)
    nothing = np.zeros((5, 2))
    assert not scale(nothing, nothing.astype(bool), nothing == 0, gamma=0.99).any()
    reward = RNG.normal(100, 1, (50, 2))
    assert (scale(reward, np.zeros((50, 2), bool), reward > 0, gamma=0.99) > 0).all()


def test_rewards_can_be_reduced_to_their_sign():
    reward = np.array([[7.0, -0.5], [0.0, 4.0]])
    signs = RewardScale("sign", 2)(reward, np.zeros((2, 2), bool), reward == reward, gamma=0.9)
    assert signs.tolist() == [[1, -1], [0, 1]]
    assert reward[0, 0] == 7.0


def test_rewards_are_unchanged_if_scaling_is_off():
    reward = RNG.normal(size=(5, 2))
    assert RewardScale("off", 2)(reward, np.zeros((5, 2), bool), reward > 0, gamma=0.9) is reward


def popart_policy() -> Policy:
    policy = Policy(SPACE, DiscreteAction(2, 0), PolicyConfig(), NormalizeConfig(value="popart"))
    policy.initialize(0, "agent")
    policy.parameters.flat += RNG.normal(0, 0.2, policy.parameters.flat.size).astype(np.float32)
    return policy


def test_popart_preserves_the_critics_predictions_when_its_statistics_change():
    policy, seen = popart_policy(), batches(1)[0] / 100
    last = len(policy.network.critic) - 1
    views = policy.parameters.views
    for mean, spread in ((50, 3), (-2000, 400), (0, 0.1), (7, 0)):
        before = policy.value(seen)
        target = RNG.normal(mean, spread, 300)
        policy.value_scale.update(
            target, views[f"critic.{last}.weight"], views[f"critic.{last}.bias"]
        )
        size = max(np.abs(before).max(), policy.value_scale.std)
        assert np.allclose(policy.value(seen), before, atol=2e-5 * size)


def test_popart_targets_have_mean_0_and_std_1():
    scale, target = ValueScale("popart"), RNG.normal(-50, 9, 1000)
    scale.update(target, np.ones((4, 1), np.float32), np.zeros(1, np.float32))
    found = scale.normalized(target)
    assert (found.mean(), found.std()) == pytest.approx((0, 1), abs=1e-9)
    assert np.allclose(scale.denormalized(found.astype(np.float32)), target, rtol=1e-5, atol=1e-4)
    assert (scale.mean, scale.std) == pytest.approx((target.mean(), target.std()))


def test_a_value_scale_that_is_off_changes_nothing():
    scale, weight, bias = ValueScale("off"), np.ones((4, 1)), np.ones(1)
    scale.update(np.arange(10.0), weight, bias)
    assert (weight == 1).all()
    assert bias == 1
    value = np.arange(3.0)
    assert scale.normalized(value) is value
    assert scale.denormalized(value) is value
