"""Statistics over seeds: equal to those of rliable on committed data, and to enumeration for few seeds."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gymnast.rl import seed_statistics as stats
from gymnast.rl.seed_statistics import as_sample, bootstrap_interval, curve_band

RLIABLE: dict[str, Any] = json.loads(Path(__file__).with_name("rliable.json").read_text())
AGGREGATES = ("iqm", "mean", "median", "optimality_gap")
PAIRS = ("improvement_probability", "iqm_difference")
property_test = settings(max_examples=60, deadline=None)
scores = st.lists(
    st.integers(-20, 20).map(lambda i: i / 4), min_size=1, max_size=6
)  # few different values, so that ties occur


def same_as_rliable(statistic: Callable[..., np.ndarray], groups: list[Any], expected: Any) -> None:
    assert float(statistic(*map(as_sample, groups))) == pytest.approx(expected["value"], abs=1e-6)
    drawn = {"resamples": RLIABLE["resamples"], "seed": RLIABLE["seed"]}
    interval = bootstrap_interval(statistic, *groups, **drawn)
    assert interval == pytest.approx((expected["low"], expected["high"]), abs=1e-6)


@pytest.mark.parametrize("name", AGGREGATES)
@pytest.mark.parametrize("case", RLIABLE["groups"])
def test_aggregates_and_their_intervals_equal_rliable(case: dict[str, Any], name: str):
    same_as_rliable(getattr(stats, name), [case["scores"]], case[name])


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("case", RLIABLE["pairs"])
def test_comparisons_of_two_groups_and_their_intervals_equal_rliable(
    case: dict[str, Any], name: str
):
    same_as_rliable(getattr(stats, name), [case["first"], case["second"]], case[name])


@pytest.mark.parametrize("case", RLIABLE["curves"])
def test_the_band_of_a_curve_equals_rliable_at_every_point(case: dict[str, Any]):
    curves = np.array(case["curves"])
    band = curve_band(curves, resamples=RLIABLE["curve_resamples"], seed=RLIABLE["seed"])
    for name, found in (("value", band.mean), ("low", band.low), ("high", band.high)):
        assert found == pytest.approx([point[name] for point in case["band"]], abs=1e-6)


def test_the_defaults_are_those_of_the_committed_data():
    assert RLIABLE["seed"] == stats.SEED
    assert RLIABLE["resamples"] == stats.RESAMPLES
    assert RLIABLE["curve_resamples"] == stats.CURVE_RESAMPLES


@property_test
@given(scores, scores)
def test_the_probability_of_improvement_is_the_fraction_of_pairs(a: list[float], b: list[float]):
    points = [1.0 if x > y else 0.5 if x == y else 0.0 for x, y in product(a, b)]
    forth = stats.improvement_probability(as_sample([a]), as_sample([b]))
    back = stats.improvement_probability(as_sample([b]), as_sample([a]))
    assert float(forth) == pytest.approx(sum(points) / len(points))
    assert float(forth + back) == pytest.approx(1.0)


@property_test
@given(scores, st.randoms(use_true_random=False))
def test_the_order_of_seeds_does_not_change_a_statistic(a: list[float], random: Any):
    shuffled = random.sample(a, len(a))
    for name in AGGREGATES:
        statistic = getattr(stats, name)
        expected = pytest.approx(float(statistic(as_sample([a]))))
        assert float(statistic(as_sample([shuffled]))) == expected


@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_intervals_agree_with_the_enumeration_of_all_resamples(n: int):
    values = np.random.default_rng(n).normal(size=n)
    everything = np.array([*product(values, repeat=n)])
    for statistic in (stats.iqm, stats.mean):
        exact = np.asarray(statistic([everything]))
        found = bootstrap_interval(statistic, [values.tolist()])
        # The quantiles of 10,000 random resamples are those of all resamples at almost the same level.
        for end, level in zip(found, (0.025, 0.975), strict=True):
            near = [level - 0.008, level + 0.008]
            at_least, at_most = np.quantile(exact, near, method="inverted_cdf")
            assert at_least - 1e-12 <= end <= at_most + 1e-12


def test_environments_may_have_different_numbers_of_seeds_and_are_resampled_apart():
    first, second = [[0.0, 1.0], [10.0, 11.0, 12.0]], [[5.0, 5.0, 5.0], [20.0]]
    (small, large), (constant, single) = stats.resample([first, second], 500, 0)
    assert (small.shape, large.shape, constant.shape) == ((500, 2), (500, 3), (500, 3))
    assert (set(small.flat), set(large.flat)) == ({0.0, 1.0}, {10.0, 11.0, 12.0})
    assert (set(constant.flat), set(single.flat)) == ({5.0}, {20.0})
    assert float(stats.mean(as_sample(first))) == pytest.approx((0.5 + 11.0) / 2)


def test_intervals_of_a_difference_cover_the_true_value_often_enough():
    rng = np.random.default_rng(0)
    covered = 0
    for _ in range(60):
        first, second = rng.normal(3, 1, (1, 12)), rng.normal(1, 1, (1, 12))
        low, high = bootstrap_interval(
            stats.iqm_difference, first.tolist(), second.tolist(), resamples=2_000
        )
        covered += low <= 2 <= high
    assert covered >= 50


@property_test
@given(st.lists(st.lists(st.floats(-1e3, 1e3), min_size=4, max_size=4), min_size=1, max_size=6))
def test_a_band_contains_its_mean(rows: list[list[float]]):
    band = curve_band(np.array(rows), resamples=200)
    assert np.all(band.low <= band.mean)
    assert np.all(band.mean <= band.high)
    if len(rows) == 1:
        assert band.low == pytest.approx(band.high)
