"""Returns and advantages against their definitions, step by step in float64."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from gymnast.compiled import kernels
from gymnast.rl.returns import gae, reward_to_go, running_discounted_return
from gymnast.rl.returns import slow_gae as slow_gae_of_numpy

Array = np.ndarray


@dataclass(frozen=True)
class Steps:
    """T steps of N environment copies, arrays [T, N]."""

    reward: Array
    value: Array
    next_value: Array
    terminated: Array
    done: Array

    def __getitem__(self, where) -> Steps:
        return Steps(*(column[where] for column in vars(self).values()))

    def gae(self, gamma: float, lam: float) -> tuple[Array, Array]:
        return gae(*vars(self).values(), gamma=gamma, lam=lam)


@st.composite
def steps(draw: st.DrawFn) -> Steps:
    """Returns random values with any pattern of terminated, truncated and both at once.

    Inside an episode the next value is the value of the next step.
    """
    shape = draw(st.tuples(st.integers(1, 12), st.integers(1, 3)))
    numbers = arrays(np.float64, shape, elements=st.floats(-10, 10, width=32))
    switches = arrays(np.bool_, shape)
    reward, value, elsewhere = draw(numbers), draw(numbers), draw(numbers)
    terminated, truncated = draw(switches), draw(switches)
    done = terminated | truncated
    next_value = elsewhere.copy()
    next_value[:-1] = np.where(done[:-1], elsewhere[:-1], value[1:])
    return Steps(reward, value, next_value, terminated, done)


fractions = st.floats(0, 1)
property_test = settings(deadline=None, max_examples=60)


def slow_gae(s: Steps, t: int, n: int, gamma: float, lam: float) -> float:
    """Returns GAE by equation 16 of arXiv:1506.02438: the discounted sum of TD errors.

    The sum ends with the episode or the rollout.
    """
    total = 0.0
    for k in range(t, len(s.reward)):
        after = 0.0 if s.terminated[k, n] else float(s.next_value[k, n])
        difference = float(s.reward[k, n]) + gamma * after - float(s.value[k, n])
        total += (gamma * lam) ** (k - t) * difference
        if s.done[k, n]:
            break
    return total


def slow_n_step(s: Steps, t: int, column: int, gamma: float, n: int) -> float:
    total = 0.0
    for k in range(t, min(t + n, len(s.reward))):
        total += gamma ** (k - t) * float(s.reward[k, column])
        last = k == min(t + n, len(s.reward)) - 1
        if s.terminated[k, column]:
            return total
        if s.done[k, column] or last:
            return total + gamma ** (k - t + 1) * float(s.next_value[k, column])
    raise AssertionError("unreachable")


def each(s: Steps) -> list[tuple[int, int]]:
    return list(np.ndindex(s.reward.shape))


@property_test
@given(steps(), fractions, fractions)
def test_gae_matches_its_definition_through_terminations_and_truncations(s, gamma, lam):
    advantage, target = s.gae(gamma, lam)
    expected = [slow_gae(s, t, n, gamma, lam) for t, n in each(s)]
    assert np.allclose(advantage.ravel(), expected, rtol=1e-9, atol=1e-9)
    assert np.allclose(target, advantage + s.value, rtol=1e-12)


@property_test
@given(steps(), fractions)
def test_lambda_0_is_the_one_step_td_error(s, gamma):
    after = np.where(s.terminated, 0.0, s.next_value)
    assert np.allclose(s.gae(gamma, 0.0)[0], s.reward + gamma * after - s.value)


@property_test
@given(steps(), fractions)
def test_lambda_1_is_the_return_of_the_rest_of_the_episode_minus_the_value(s, gamma):
    whole = len(s.reward)
    expected = [slow_n_step(s, t, n, gamma, whole) - s.value[t, n] for t, n in each(s)]
    assert np.allclose(s.gae(gamma, 1.0)[0].ravel(), expected, rtol=1e-9, atol=1e-9)


@property_test
@given(steps(), steps(), fractions, fractions)
def test_the_advantages_of_an_episode_do_not_depend_on_its_neighbors(first, second, gamma, lam):
    """Data after the end of an episode, in the same copy, do not change its advantages."""
    n = min(first.reward.shape[1], second.reward.shape[1])
    first, second = first[:, :n], second[:, :n]
    first.done[-1] = True  # covers terminations and truncations
    columns = zip(vars(first).values(), vars(second).values(), strict=True)
    joined = Steps(*(np.concatenate(pair) for pair in columns))
    alone = first.gae(gamma, lam)[0]
    assert np.array_equal(joined.gae(gamma, lam)[0][: len(alone)], alone)
    assert np.array_equal(joined.gae(gamma, lam)[0][len(alone) :], second.gae(gamma, lam)[0])


@property_test
@given(steps(), fractions, fractions)
def test_environment_copies_do_not_affect_each_other(s, gamma, lam):
    together = s.gae(gamma, lam)[0]
    for n in range(s.reward.shape[1]):
        assert np.array_equal(s[:, n : n + 1].gae(gamma, lam)[0][:, 0], together[:, n])


@property_test
@given(steps(), fractions, st.data())
def test_splitting_a_rollout_at_an_episodes_end_changes_nothing(s, gamma, data):
    cut = data.draw(st.integers(1, len(s.reward)))
    s.done[cut - 1] = True
    whole = s.gae(gamma, 0.9)[0]
    parts = [part.gae(gamma, 0.9)[0] for part in (s[:cut], s[cut:]) if len(part.reward)]
    assert np.array_equal(np.concatenate(parts), whole)


@property_test
@given(steps(), fractions, st.data())
def test_splitting_a_rollout_inside_an_episode_bootstraps_one_step_exactly(s, gamma, data):
    """A cut changes nothing with lambda 0, because the steps before it use the stored value."""
    cut = data.draw(st.integers(1, len(s.reward)))
    parts = [part.gae(gamma, 0.0)[0] for part in (s[:cut], s[cut:]) if len(part.reward)]
    assert np.array_equal(np.concatenate(parts), s.gae(gamma, 0.0)[0])


@property_test
@given(steps(), fractions)
def test_reward_to_go_matches_its_definition(s, gamma):
    found = reward_to_go(s.reward, s.done, gamma=gamma)
    for t, n in each(s):
        ends = [k for k in range(t, len(s.reward)) if s.done[k, n]]
        stop = ends[0] + 1 if ends else len(s.reward)
        expected = math.fsum(gamma ** (k - t) * s.reward[k, n] for k in range(t, stop))
        assert found[t, n] == pytest.approx(expected, rel=1e-9, abs=1e-9)


@property_test
@given(steps(), fractions, st.data())
def test_discounted_so_far_matches_its_definition_and_carries_over_between_rollouts(s, gamma, data):
    nothing = np.zeros(s.reward.shape[1])
    found = running_discounted_return(s.reward, s.done, nothing, gamma=gamma)
    for t, n in each(s):
        ends = [k for k in range(t) if s.done[k, n]]
        begin = ends[-1] + 1 if ends else 0
        expected = math.fsum(gamma ** (t - k) * s.reward[k, n] for k in range(begin, t + 1))
        assert found[t, n] == pytest.approx(expected, rel=1e-9, abs=1e-9)

    cut = data.draw(st.integers(1, len(s.reward)))
    before = running_discounted_return(s.reward[:cut], s.done[:cut], nothing, gamma=gamma)
    carry = np.where(s.done[cut - 1], 0.0, before[-1])
    after = running_discounted_return(s.reward[cut:], s.done[cut:], carry, gamma=gamma)
    assert np.array_equal(np.concatenate([before, after]), found)


@property_test
@given(steps(), fractions)
def test_inputs_are_not_changed(s, gamma):
    before = {name: column.copy() for name, column in vars(s).items()}
    s.gae(gamma, 0.9)
    reward_to_go(s.reward, s.done, gamma=gamma)
    running_discounted_return(s.reward, s.done, np.zeros(s.reward.shape[1]), gamma=gamma)
    assert all(np.array_equal(before[name], column) for name, column in vars(s).items())


@st.composite
def given_steps(draw: st.DrawFn) -> Steps:
    """Returns arrays with the dtypes of a rollout: values are float32, like the critic's outputs."""
    s = draw(steps())
    return replace(s, value=s.value.astype(np.float32), next_value=s.next_value.astype(np.float32))


@property_test
@given(given_steps(), fractions, fractions)
def test_compiled_and_numpy_gae_give_the_same_bits(s: Steps, gamma: float, lam: float):
    compiled = s.gae(gamma, lam)
    written = slow_gae_of_numpy(*vars(s).values(), gamma=gamma, lam=lam)
    assert kernels() is not None
    for ours, theirs in zip(compiled, written, strict=True):
        assert ours.dtype == theirs.dtype
        assert np.array_equal(ours, theirs)


def test_compiled_gae_propagates_nan():
    s = Steps(*np.zeros((3, 3, 2)), *np.zeros((2, 3, 2), bool))
    s = replace(s, value=s.value.astype(np.float32), next_value=s.next_value.astype(np.float32))
    s.reward[1, 0] = np.nan
    advantage, target = s.gae(0.9, 0.9)
    for found in (advantage, target):
        assert np.isnan(found).tolist() == [[True, False], [True, False], [False, False]]
