"""Diversity is 0 for identical copies, about 1 for independent ones, and in between otherwise."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gymnast.rl.diversity import array_diversity, diversity, slow_array_diversity

RNG = np.random.default_rng(0)
T, N = 200, 8
WALK = RNG.normal(size=(T, N, 3)).cumsum(0)


def records() -> np.ndarray:
    rows = np.zeros((T, N), [("at", np.float32, (2,)), ("kind", np.int64)])
    rows["at"], rows["kind"] = RNG.normal(size=(T, N, 2)), RNG.integers(0, 4, (T, N))
    return rows


INDEPENDENT = {
    "numbers": RNG.normal(size=(T, N, 3)) * [1, 100, 0.01],
    "categories": RNG.integers(0, 16, (T, N)),
    "pixels": RNG.integers(0, 256, (T, N, 84, 84)).astype(np.uint8),
    "records": records(),
}


@pytest.mark.parametrize("kind", INDEPENDENT)
def test_independent_copies_are_diverse_and_identical_ones_are_not(kind: str):
    obs = INDEPENDENT[kind]
    assert diversity(obs) == pytest.approx(1, abs=0.15)
    assert diversity(np.repeat(obs[:, :1], N, 1)) == pytest.approx(0, abs=1e-9)


def test_variation_that_all_copies_share_does_not_count():
    shared = RNG.normal(size=(16, 1, 32))
    own = RNG.normal(size=(16, 16, 32))
    for weight in (0.5, 1.0, 2.0):
        expected = weight**2 / (1 + weight**2)  # the share of the variance within a step
        assert diversity(shared + weight * own) == pytest.approx(expected, abs=0.1)


def test_diversity_does_not_depend_on_units_or_on_the_order_of_copies():
    assert diversity(WALK * 7 + 3) == pytest.approx(diversity(WALK))
    assert diversity(WALK[:, ::-1]) == pytest.approx(diversity(WALK))


@settings(deadline=None, max_examples=80)
@given(st.integers(2, 6), st.integers(2, 6), st.integers(1, 3), st.integers(0, 10**6))
def test_diversity_is_the_variance_within_a_step_over_the_total_variance(steps, n, k, seed):
    x = np.random.default_rng(seed).normal(3, 2, (steps, n, k))
    together = np.mean([x[t].var(0, ddof=1) for t in range(steps)], axis=0)
    every = x.reshape(-1, k).var(0, ddof=1)
    assert diversity(x) == pytest.approx((together / every).mean())
    assert 0 <= diversity(x) <= n / (n - 1)


def test_diversity_is_0_for_identical_copies_and_about_1_for_independent_ones():
    rng = np.random.default_rng(0)
    independent = rng.normal(50, 1, (16, 16, 4))
    assert diversity(independent) == pytest.approx(1, abs=0.1)
    assert diversity(np.repeat(independent[:, :1], 16, 1)) == pytest.approx(0, abs=1e-9)
    in_step = (
        independent + 3 * np.arange(16)[:, None, None]
    )  # the age of an episode, equal in all copies
    assert 0 < diversity(in_step) < 0.1
    half = np.concatenate([independent[..., :2], np.ones((16, 16, 2))], -1)
    assert diversity(half) == pytest.approx(diversity(independent[..., :2])), "what is constant"


def test_diversity_is_none_if_nothing_can_differ():
    assert diversity(np.ones((5, 4, 3))) is None
    assert diversity(np.random.default_rng(0).normal(size=(5, 1, 3))) is None
    assert diversity(np.random.default_rng(0).normal(size=(1, 5, 3))) is None


@settings(deadline=None, max_examples=40)
@given(st.integers(2, 6), st.integers(2, 6), st.integers(1, 4), st.integers(0, 10**6))
def test_diversity_is_the_same_compiled_or_not(steps, n, k, seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(3, 2, (steps, n, k)) * rng.integers(0, 2, k)  # some components are constant
    slow = slow_array_diversity(x)
    assert array_diversity(x) == (None if slow is None else pytest.approx(slow))


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
def test_large_rollouts_are_sampled_evenly_over_steps_copies_and_components(dtype: type):
    x = np.random.default_rng(4).normal(0, 50, (40, 20, 70)).astype(dtype)
    sampled = x[::3, ::2, ::3].astype(np.float64, order="C")
    assert diversity(x) == array_diversity(sampled)
    assert diversity(x[::-1]) == array_diversity(
        x[::-1][::3, ::2, ::3].astype(np.float64, order="C")
    )
