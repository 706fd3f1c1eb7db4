"""Summary statistics against tables, NumPy and their definitions, degenerate cases first."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gymnast.rl.running import Moments
from gymnast.rl.statistics import (
    column_means,
    explained_variance,
    interquartile_mean,
    mean_interval,
    slow_summary_stats,
    standardize,
    summary_stats,
    t_quantile,
    wilson_interval,
)

numbers = st.floats(-1e3, 1e3, width=32)
property_test = settings(deadline=None, max_examples=80)

T_TABLE = {
    1: 12.7062, 2: 4.30265, 3: 3.18245, 4: 2.77645, 5: 2.57058, 6: 2.44691, 7: 2.36462,
    8: 2.30600, 9: 2.26216, 10: 2.22814, 12: 2.17881, 15: 2.13145, 19: 2.09302, 20: 2.08596,
    25: 2.05954, 29: 2.04523, 30: 2.04227, 40: 2.02108, 60: 2.00030, 99: 1.98422, 120: 1.97993,
    199: 1.97196, 1999: 1.96115,
}  # fmt: skip
"""Degrees of freedom -> the 97.5 % quantile, from printed tables."""


@pytest.mark.parametrize(("df", "quantile"), T_TABLE.items())
def test_the_t_quantile_matches_printed_tables(df: int, quantile: float):
    assert t_quantile(df) == pytest.approx(quantile, rel=2e-3 if df < 5 else 2e-4)


def test_the_t_quantile_approaches_the_normal_quantile():
    found = [t_quantile(df) for df in range(1, 3000)]
    assert all(a > b for a, b in pairwise(found))
    assert found[-1] > 1.959964


def test_an_interval_is_the_mean_plus_and_minus_t_standard_errors():
    x = np.array([3.0, 5.0, 4.0, 8.0])
    found = mean_interval(x)
    half = 3.18245 * math.sqrt(sum((v - 5) ** 2 for v in x) / 3) / math.sqrt(4)
    assert found.mean == 5
    assert (found.high - 5, 5 - found.low) == pytest.approx((half, half), rel=2e-3)


def test_an_interval_covers_the_true_mean_95_times_in_100():
    draws = np.random.default_rng(1).normal(7, 2, size=(4000, 6))
    hits = [i.low <= 7 <= i.high for i in map(mean_interval, draws)]
    assert np.mean(hits) == pytest.approx(0.95, abs=3 * math.sqrt(0.95 * 0.05 / 4000))


def test_one_value_has_an_infinite_interval_and_a_population_one_of_no_width():
    found = mean_interval(np.array([4.0]))
    assert (found.mean, found.low, found.high) == (4.0, -math.inf, math.inf)
    exact = mean_interval(np.array([1.0, 9.0]), exact=True)
    assert (exact.mean, exact.low, exact.high) == (5.0, 5.0, 5.0)


def slow_iqm(values: list[float]) -> Fraction:
    """Every value occurs four times, so that the middle half is a whole number of entries."""
    entries = sorted(Fraction(v) for v in values for _ in range(4))
    middle = entries[len(values) : 3 * len(values)]
    return sum(middle, Fraction(0)) / len(middle)


@property_test
@given(st.lists(numbers, min_size=1, max_size=25))
def test_iqm_is_the_mean_of_the_middle_half(values: list[float]):
    found = interquartile_mean(np.array(values))
    assert found == pytest.approx(float(slow_iqm(values)), rel=1e-9, abs=1e-9)


def test_iqm_ignores_the_tails():
    assert interquartile_mean(np.array([-1e9, 1, 2, 3, 4, 1e9, 2, 3])) == pytest.approx(2.5)


def test_explained_variance_matches_its_definition():
    rng = np.random.default_rng(0)
    actual = rng.normal(size=1000)
    assert explained_variance(actual, actual) == 1.0
    assert explained_variance(np.full(1000, actual.mean()), actual) == pytest.approx(0.0)
    half = actual + rng.normal(size=1000) * math.sqrt(0.5)
    assert explained_variance(half, actual) == pytest.approx(0.5, abs=0.1)
    assert explained_variance(-actual, actual) == pytest.approx(-3.0)
    assert explained_variance(actual + 5, actual) == pytest.approx(1.0)  # an offset has no variance


@property_test
@given(numbers, st.integers(2, 50))
def test_explained_variance_of_constant_returns_is_1_or_0(value: float, n: int):
    actual = np.full(n, value)
    wrong = actual + np.linspace(-1, 1, n)
    assert explained_variance(actual, actual) == 1.0
    assert explained_variance(wrong, actual) == 0.0
    assert explained_variance(actual + 1 + abs(value), actual) == 0.0  # another constant


@property_test
@given(st.floats(0.1, 100), st.integers(2, 50))
def test_returns_that_differ_only_by_rounding_are_constant(value: float, n: int):
    """GAE of equal rewards gives such returns: equal up to the last digits."""
    actual = np.full(n, value) * (1 + np.arange(n) % 2 * 2**-52)
    assert explained_variance(np.linspace(-1, 1, n), actual) == 0.0
    assert explained_variance(actual, actual) == 1.0


@property_test
@given(st.lists(numbers, min_size=2, max_size=30))
def test_standardized_numbers_have_mean_0_and_std_1_or_are_all_0(values: list[float]):
    x = np.array(values)
    found = standardize(x)
    if x.std() > 1e-6:
        assert found.mean() == pytest.approx(0, abs=1e-6)
        assert found.std() == pytest.approx(1, rel=1e-6)
        assert np.allclose(found * x.std() + x.mean(), x, atol=1e-6)
    if np.ptp(x) == 0:
        assert np.array_equal(found, np.zeros_like(x))


def test_standardizing_keeps_float32_and_defines_a_single_number():
    assert standardize(np.array([1, 2, 3], dtype=np.float32)).dtype == np.float32
    assert standardize(np.array([5.0])).tolist() == [0.0]


@property_test
@given(st.lists(st.lists(st.tuples(numbers, numbers), max_size=6), max_size=6))
def test_moments_of_batches_match_those_of_all_data_at_once(batches):
    moments = Moments.empty(2)
    for batch in batches:
        moments = moments.updated(np.array(batch, dtype=np.float32).reshape(-1, 2))
    every = np.array([row for batch in batches for row in batch]).reshape(-1, 2)
    assert moments.count == len(every)
    if len(every):
        assert np.allclose(moments.mean, every.mean(0), rtol=1e-9, atol=1e-9)
        assert np.allclose(moments.var, every.var(0), rtol=1e-6, atol=1e-6)


def test_moments_stay_accurate_far_from_zero():
    x = np.random.default_rng(0).normal(1e6, 1e-2, size=(4000, 1))
    moments = Moments.empty(1)
    for batch in np.split(x, 40):
        moments = moments.updated(batch)
    assert moments.std == pytest.approx(x.std(0), rel=1e-6)


def test_dividing_by_the_std_is_always_defined():
    assert Moments.empty(2).std.tolist() == [1.0, 1.0]
    constant = Moments.empty(1).updated(np.full((10, 1), 0.1))
    assert constant.std.tolist() == [1.0]


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
@pytest.mark.parametrize("more", [(), (3,)])
def test_spread_uses_valid_entries_only_compiled_or_not(dtype: type, more: tuple[int, ...]):
    rng = np.random.default_rng(0)
    x = (rng.normal(size=(16, 5, *more)) * 100).astype(dtype)
    valid = rng.random((16, 5)) < 0.7
    for keep in (valid, None):
        expected = slow_summary_stats(x, keep)
        assert summary_stats(x, keep) == pytest.approx(expected, rel=1e-12)
        kept = x if keep is None else x[keep]
        assert expected.std == pytest.approx(np.std(kept.astype(np.float64)))
        assert (expected.minimum, expected.maximum) == (kept.min(), kept.max())


def test_a_spread_of_nan_is_nan():
    assert all(np.isnan(part) for part in summary_stats(np.array([1.0, np.nan, 2.0])))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_column_means_match_the_mean_of_each_column(dtype: type):
    x = np.random.default_rng(3).normal(1e3, 1, (501, 7)).astype(dtype)
    expected = [math.fsum(x[:, k].tolist()) / 501 for k in range(7)]
    assert column_means(x) == pytest.approx(expected, rel=1e-13)
    assert column_means(x[:, ::2]) == pytest.approx(expected[::2], rel=1e-13)


@pytest.mark.parametrize(("wins", "n"), [(0, 1), (1, 1), (0, 20), (20, 20), (7, 20), (50.5, 99)])
def test_the_ends_of_a_wilson_interval_solve_the_score_equation(wins: float, n: int):
    def too_far(p: float) -> bool:
        return abs(wins / n - p) > 1.959964 * math.sqrt(p * (1 - p) / n)

    found = wilson_interval(wins, n)
    assert found.mean == wins / n
    inside = [p for p in np.linspace(0, 1, 20_001) if not too_far(p)]
    assert (found.low, found.high) == pytest.approx((inside[0], inside[-1]), abs=1e-4)


@pytest.mark.parametrize("n", [10, 40, 200])
def test_a_wilson_interval_covers_the_true_share_95_times_in_100(n: int):
    found = [wilson_interval(k, n) for k in range(n + 1)]
    truths = np.random.default_rng(4).random(400)
    covered = [
        math.fsum(
            math.comb(n, k) * p**k * (1 - p) ** (n - k)
            for k in range(n + 1)
            if found[k].low <= p <= found[k].high
        )
        for p in truths
    ]
    assert np.mean(covered) == pytest.approx(0.95, abs=0.01)


def test_a_wilson_interval_of_no_trials_is_0_to_1_and_impossible_counts_are_rejected():
    found = wilson_interval(0, 0)
    assert math.isnan(found.mean)
    assert (found.low, found.high) == (0, 1)
    for wins, n in ((3, 2), (-1, 2), (math.nan, 2)):
        with pytest.raises(ValueError, match="are not possible"):
            wilson_interval(wins, n)
