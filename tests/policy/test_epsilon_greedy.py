"""The epsilon-greedy head: a distribution over actions from Q-values."""

from __future__ import annotations

import numpy as np
import pytest

from gymnast.config.sections.normalize import NormalizeConfig
from gymnast.config.sections.policy import PolicyConfig
from gymnast.errors import ConfigError
from gymnast.policy.actions import EpsilonGreedy, head_for
from gymnast.policy.policy import Policy
from gymnast.spaces.spaces import BoxObs, DiscreteAction, MultiBinaryAction

HEAD = EpsilonGreedy(DiscreteAction(4, 10))
VALUES = np.array([[1.0, 3.0, 2.0, -1.0], [0.0, -5.0, 0.5, 0.4]], np.float32)
MASK = np.array([[True, False, True, True], [True, True, False, False]])


def chances(epsilon: float, mask: np.ndarray | None = None) -> np.ndarray:
    logits = HEAD.dist_parameters(VALUES, np.array([epsilon], np.float32), mask)
    assert np.isfinite(logits).all()
    assert np.allclose(np.exp(logits).sum(-1), 1, atol=1e-5)
    return np.exp(logits)


def test_the_greedy_action_has_probability_1_minus_epsilon_plus_its_uniform_share():
    expected = [[0.05, 0.85, 0.05, 0.05], [0.05, 0.05, 0.85, 0.05]]
    assert np.allclose(chances(0.2), expected, atol=1e-5)
    assert np.allclose(chances(0.0), [[0, 1, 0, 0], [0, 0, 1, 0]])


def test_with_a_mask_the_best_allowed_action_is_greedy():
    third = 0.2 / 3
    expected = [[third, 0, 0.8 + third, third], [0.9, 0.1, 0, 0]]
    assert np.allclose(chances(0.2, MASK), expected, atol=1e-5)


@pytest.mark.parametrize("epsilon", [0.0, 0.3, 1.0, 7.0])
def test_the_mode_is_the_best_action_for_any_epsilon(epsilon: float):
    dist = HEAD.dist_parameters(VALUES, np.array([epsilon], np.float32), MASK)
    assert HEAD.mode(dist).tolist() == [2, 0]
    assert HEAD.for_env(HEAD.mode(dist)).tolist() == [12, 10]
    assert np.isfinite(HEAD.entropy(dist)).all()
    assert np.allclose(HEAD.kl(dist, dist), 0)


def test_a_policy_of_q_values_needs_no_critic_and_is_restored_from_its_spec():
    obs = BoxObs((3,), (-1.0,) * 3, (1.0,) * 3)
    policy = Policy(
        obs,
        DiscreteAction(4, 0),
        PolicyConfig(),
        NormalizeConfig(),
        action_selection="epsilon_greedy",
    )
    policy.initialize(0, "agent")
    assert policy.network.critic == ()
    assert policy.parameters.views["actor.epsilon"] == 1.0
    policy.parameters.views["actor.epsilon"][:] = 0.4
    policy.parameters.views["actor.4.weight"][:] *= 300
    seen = np.random.default_rng(0).normal(size=(9, 3)).astype(np.float32)
    again = Policy.from_spec(policy.spec())
    again.load(policy.arrays())
    dist = again.dist(seen)
    values = again.inference.actor(again.features(seen))
    assert np.array_equal(again.head.mode(dist), values.argmax(-1))
    expected = 0.6 * values.max(-1) + 0.4 * values.mean(-1)
    assert np.allclose(again.value(seen), expected, atol=1e-5)


def test_epsilon_greedy_needs_discrete_actions():
    with pytest.raises(ConfigError, match="MultiBinary"):
        head_for(MultiBinaryAction((2,)), action_selection="epsilon_greedy")
