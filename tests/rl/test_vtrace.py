"""V-trace against its definition, a sum over later steps with products of clipped ratios, in float64."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from gymnast.rl.vtrace import ImportanceWeights, importance_weights, vtrace
from tests.rl.test_returns import Steps, each, fractions, property_test, slow_n_step, steps

Array = np.ndarray
Weighted = tuple[Steps, Array]


@st.composite
def weighted_steps(draw: st.DrawFn) -> Weighted:
    """Returns steps with the log of the importance ratio of each."""
    drawn = draw(steps())
    return drawn, draw(arrays(np.float64, drawn.reward.shape, elements=st.floats(-4, 4)))


caps = st.floats(0.1, 5)


def weights_of(log_ratio: Array, max_rho: float, max_c: float) -> ImportanceWeights:
    zero, every = np.zeros_like(log_ratio), np.ones_like(log_ratio, dtype=bool)
    return importance_weights(log_ratio, zero, every, max_rho=max_rho, max_c=max_c)


def run(s: Steps, weights: ImportanceWeights, gamma: float, lam: float) -> tuple[Array, Array]:
    return vtrace(*vars(s).values(), weights, gamma=gamma, lam=lam)


def slow_target(
    s: Steps, ratio: Array, at: tuple[int, int], gamma: float, lam: float, caps: tuple[float, float]
) -> float:
    """Returns the V-trace target by equation 1 of arXiv:1802.01561, with lambda * min(cap, ratio) as c."""
    first, n = at
    total, trace = float(s.value[at]), 1.0
    for t in range(first, len(s.reward)):
        after = 0.0 if s.terminated[t, n] else float(s.next_value[t, n])
        delta = float(s.reward[t, n]) + gamma * after - float(s.value[t, n])
        total += gamma ** (t - first) * trace * min(caps[0], float(ratio[t, n])) * delta
        if s.done[t, n]:
            break
        trace *= lam * min(caps[1], float(ratio[t, n]))
    return total


def slow_advantage(
    s: Steps, ratio: Array, at: tuple[int, int], gamma: float, lam: float, caps: tuple[float, float]
) -> float:
    """Returns r + gamma * q - V, where q mixes the target and the value of the next state."""
    t, n = at
    after = 0.0 if s.terminated[at] else float(s.next_value[at])
    if not s.done[at] and t + 1 < len(s.reward):
        target = slow_target(s, ratio, (t + 1, n), gamma, lam, caps)
        after = lam * target + (1 - lam) * after
    return float(s.reward[at]) + gamma * after - float(s.value[at])


@property_test
@given(weighted_steps(), fractions, fractions, caps, caps)
def test_targets_and_advantages_match_their_definitions_through_every_kind_of_end(
    drawn: Weighted, gamma: float, lam: float, max_rho: float, max_c: float
):
    s, log_ratio = drawn
    advantage, target = run(s, weights_of(log_ratio, max_rho, max_c), gamma, lam)
    given = s, np.exp(log_ratio)
    for at in each(s):
        settings = at, gamma, lam, (max_rho, max_c)
        assert np.isclose(target[at], slow_target(*given, *settings), rtol=1e-8, atol=1e-8)
        assert np.isclose(advantage[at], slow_advantage(*given, *settings), rtol=1e-8, atol=1e-8)


@property_test
@given(steps(), fractions, fractions)
def test_without_staleness_it_is_gae_for_every_lambda(s: Steps, gamma: float, lam: float):
    ones = weights_of(np.zeros_like(s.reward), 1.0, 1.0)
    for one, other in zip(run(s, ones, gamma, lam), s.gae(gamma, lam), strict=True):
        assert np.allclose(one, other, rtol=1e-9, atol=1e-9)


@property_test
@given(steps(), fractions)
def test_without_staleness_and_with_lambda_1_the_targets_are_n_step_returns(s: Steps, gamma: float):
    _, target = run(s, weights_of(np.zeros_like(s.reward), 1.0, 1.0), gamma, 1.0)
    expected = [slow_n_step(s, t, n, gamma, len(s.reward)) for t, n in each(s)]
    assert np.allclose(target.ravel(), expected, rtol=1e-9, atol=1e-9)


@property_test
@given(weighted_steps(), fractions, fractions)
def test_a_critic_that_is_right_keeps_its_values_whatever_the_ratios_are(
    drawn: Weighted, gamma: float, lam: float
):
    """If every TD error is 0, nothing is left to correct."""
    s, log_ratio = drawn
    after = np.where(s.terminated, 0.0, s.next_value)
    right = Steps(s.value - gamma * after, *list(vars(s).values())[1:])
    advantage, target = run(right, weights_of(log_ratio, 1.0, 1.0), gamma, lam)
    assert np.allclose(target, s.value, atol=1e-9)
    assert np.allclose(advantage, 0, atol=1e-9)


@property_test
@given(weighted_steps(), fractions, fractions)
def test_steps_of_other_episodes_and_copies_have_no_effect(
    drawn: Weighted, gamma: float, lam: float
):
    s, log_ratio = drawn
    cut = len(s.reward) // 2
    if cut:
        s.done[cut - 1] = True
    whole = run(s, weights_of(log_ratio, 1.0, 1.0), gamma, lam)
    for n in range(s.reward.shape[1]):
        for part in (slice(None, cut), slice(cut, None)):
            where = part, slice(n, n + 1)
            if not s.reward[where].size:
                continue
            alone = run(s[where], weights_of(log_ratio[where], 1.0, 1.0), gamma, lam)
            for one, other in zip(whole, alone, strict=True):
                assert np.array_equal(one[where], other)


def test_nothing_is_learned_through_actions_that_the_current_policy_never_takes():
    s = Steps(np.ones((3, 1)), *np.zeros((2, 3, 1)), *np.zeros((2, 3, 1), dtype=bool))
    log_ratio = np.array([[0.0], [-np.inf], [0.0]])
    _, target = run(s, weights_of(log_ratio, 1.0, 1.0), 1.0, 1.0)
    # nothing from the last step reaches back through the second
    assert target.ravel().tolist() == [1.0, 0.0, 1.0]


REWARD = {0: 1.0, 1: -2.0}
"""Reward of each action; the episode has three steps, and action 1 also doubles the later rewards."""
MU, PI = (0.5, 0.5), (0.8, 0.2)


def expected_targets(value: dict[int, float], max_rho: float) -> dict[int, float]:
    """Returns the mean V-trace target of each state over all eight episodes, as MU samples them. A state is
    the step and the number of earlier actions 1, as one number: value[4 * step + n]."""
    total, weight = dict.fromkeys(value, 0.0), dict.fromkeys(value, 0.0)
    for actions in itertools.product((0, 1), repeat=3):
        states = [4 * t + sum(actions[:t]) for t in range(3)]
        reward = np.array(
            [[REWARD[a] * 2 ** (s % 4)] for s, a in zip(states, actions, strict=True)]
        )
        values = np.array([[value[s]] for s in states])
        following = np.vstack([values[1:], [[0.0]]])
        last = np.array([[False], [False], [True]])
        log_ratio = np.log([[PI[a] / MU[a]] for a in actions])
        steps = Steps(reward, values, following, last, last)
        _, target = run(steps, weights_of(log_ratio, max_rho, 1.0), 1.0, 1.0)
        for state, number in zip(states, target.ravel(), strict=True):
            total[state] += number * 0.125
            weight[state] += 0.125
    return {state: total[state] / weight[state] for state in value if weight[state]}


def exact_values(policy: tuple[float, float]) -> dict[int, float]:
    """Returns the values of all reachable states by backward induction."""
    value = {4 * 3 + n: 0.0 for n in range(4)}
    for t in (2, 1, 0):
        for n in range(t + 1):
            value[4 * t + n] = sum(
                policy[a] * (REWARD[a] * 2**n + value[4 * (t + 1) + n + a]) for a in (0, 1)
            )
    return {state: number for state, number in value.items() if state < 12}


def test_the_targets_of_an_old_policys_episodes_estimate_the_values_of_the_current_policy():
    current = exact_values(PI)
    assert expected_targets(current, max_rho=10.0) == pytest.approx(current)
    assert expected_targets(exact_values(MU), max_rho=10.0) != pytest.approx(exact_values(MU))


def test_a_cap_on_rho_estimates_a_policy_between_the_old_and_the_current_one():
    """Theorem 1 of the paper: the policy proportional to min(cap * mu, pi)."""
    shares = [min(1.0 * mu, pi) for mu, pi in zip(MU, PI, strict=True)]
    between = exact_values((shares[0] / sum(shares), shares[1] / sum(shares)))
    assert expected_targets(between, max_rho=1.0) == pytest.approx(between)
    assert between != pytest.approx(exact_values(PI))


def test_ratios_are_clipped_without_overflow_and_invalid_steps_have_ratio_1():
    logprob = np.array([[1e4, -1.0, np.nan, -0.5]], np.float32)
    behavior = np.array([[-1e4, -1.0, 0.0, 0.0]], np.float32)
    valid = np.array([[True, True, False, True]])
    with np.errstate(all="raise"):
        rho, c = importance_weights(logprob, behavior, valid, max_rho=2.0, max_c=0.7)
    assert rho[0].tolist() == [2.0, 1.0, 1.0, math.exp(-0.5)]
    assert c[0].tolist() == [0.7, 0.7, 0.7, math.exp(-0.5)]
