"""Smoothing, interpolation and bands, compared with slow computations from their definitions."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gymnast.errors import RunError
from gymnast.monitor.curves import Curve, read_curve, smooth_curve, value_at
from gymnast.monitor.mean_over_runs import common_axis, mean_over_runs
from gymnast.rl.seed_statistics import bootstrap_interval, mean
from tests.monitor.runs import made_run

NUMBER = st.floats(-1e6, 1e6, allow_nan=False).map(lambda v: round(v, 3))


@st.composite
def curves(draw: st.DrawFn) -> Curve:
    """A curve with gaps, whose x values are its own."""
    xs = draw(st.lists(st.integers(0, 1000), min_size=1, max_size=30, unique=True).map(sorted))
    ys = [draw(NUMBER | st.just(math.nan)) for _ in xs]
    ys[0], ys[-1] = draw(NUMBER), draw(NUMBER)
    return Curve(np.array(xs, dtype=np.float64), np.array(ys))


def slow_smooth(y: np.ndarray, rows: int) -> list[float]:
    means = []
    for i, value in enumerate(y):
        window = [v for v in y[max(0, i - rows + 1) : i + 1] if not math.isnan(v)]
        means.append(math.nan if math.isnan(value) else sum(window) / len(window))
    return means


def slow_value(curve: Curve, x: float) -> float:
    points = list(zip(curve.x.tolist(), curve.y.tolist(), strict=True))
    for at, y in points:
        if at == x:
            return y
    for (x0, y0), (x1, y1) in pairwise(points):
        if x0 < x < x1:
            return y0 * (x1 - x) / (x1 - x0) + y1 * (x - x0) / (x1 - x0)
    return math.nan


@given(curves(), st.integers(1, 12))
def test_a_moving_average_is_the_mean_of_the_last_rows_and_gaps_stay(curve: Curve, rows: int):
    found = smooth_curve(curve, rows)
    assert found.x.tolist() == curve.x.tolist()
    np.testing.assert_allclose(found.y, slow_smooth(curve.y, rows), rtol=1e-9, atol=1e-9)


def test_an_infinite_value_affects_only_the_rows_whose_window_has_it():
    curve = Curve(np.arange(5.0), np.array([1.0, math.inf, 3.0, 4.0, 6.0]))
    assert smooth_curve(curve, 2).y.tolist() == [1.0, math.inf, math.inf, 3.5, 5.0]


@given(curves(), st.lists(st.integers(-50, 2100).map(lambda i: i / 2), max_size=20))
def test_a_value_is_interpolated_between_neighbors_and_missing_elsewhere(
    curve: Curve, xs: list[float]
):
    found = value_at(curve, np.array(xs))
    expected = [slow_value(curve, x) for x in xs]
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-6)


@given(st.lists(curves(), min_size=1, max_size=5))
def test_the_axis_is_that_of_all_runs_within_the_range_that_all_cover(made: list[Curve]):
    axis = common_axis(made, points=1000).tolist()
    low, high = max(c.x[0] for c in made), min(c.x[-1] for c in made)
    every = {x for curve in made for x in curve.x.tolist()}
    assert axis == sorted(x for x in every if low <= x <= high)
    if axis:
        few = common_axis(made, points=3).tolist()
        assert few == (axis if len(axis) <= 3 else [low, (low + high) / 2, high])


@settings(max_examples=30)
@given(st.lists(curves(), min_size=1, max_size=4))
def test_the_mean_counts_each_run_where_it_has_a_value_and_never_as_zero(made: list[Curve]):
    found = mean_over_runs(made)
    for i, x in enumerate(found.x.tolist()):
        values = [v for curve in made if not math.isnan(v := slow_value(curve, x))]
        assert found.n[i] == len(values)
        if not values:
            assert math.isnan(found.mean[i])
            continue
        assert found.mean[i] == pytest.approx(sum(values) / len(values), rel=1e-9, abs=1e-6)
        if len(values) == 1:
            assert math.isnan(found.low[i])
            assert math.isnan(found.high[i])
        elif len(values) == 2:
            ends = found.low[i], found.high[i]
            assert ends == pytest.approx((min(values), max(values)), rel=1e-9, abs=1e-6)
        else:
            assert found.low[i] <= found.mean[i] <= found.high[i]


def test_the_band_of_three_runs_is_the_bootstrap_interval_of_their_mean():
    made = [
        Curve(np.array([0.0, 10.0, 20.0]), np.array([1.0, 2.0, 9.0])),
        Curve(np.array([0.0, 5.0, 20.0]), np.array([2.0, 2.0, 5.0])),
        Curve(np.array([0.0, 20.0]), np.array([-3.0, 7.0])),
    ]
    found = mean_over_runs(made)
    assert found.band == "95 % interval of the mean over runs"
    assert found.x.tolist() == [0, 5, 10, 20]
    for i, x in enumerate(found.x.tolist()):
        values = [slow_value(curve, x) for curve in made]
        ends = bootstrap_interval(mean, [values], resamples=2000)
        assert (found.low[i], found.high[i]) == pytest.approx(ends)


@pytest.mark.parametrize(
    ("n", "band"),
    [
        (1, ""),
        (2, "lowest to highest run"),
        (3, "95 % interval of the mean over runs"),
    ],
)
def test_the_band_depends_on_the_number_of_runs(n: int, band: str):
    made = [Curve(np.array([1.0, 2.0]), np.array([k, k + 1.0])) for k in range(n)]
    assert mean_over_runs(made).band == band


@given(curves())
def test_the_mean_of_one_run_is_that_run(curve: Curve):
    found = mean_over_runs([curve])
    assert found.x.tolist() == curve.x.tolist()
    np.testing.assert_array_equal(found.mean, curve.y)


@settings(max_examples=30)
@given(curves(), st.integers(2, 4))
def test_the_mean_of_equal_runs_is_that_run_with_a_band_of_no_width(curve: Curve, n: int):
    found = mean_over_runs([curve] * n)
    for values in (found.mean, found.low, found.high):
        np.testing.assert_allclose(values, curve.y, rtol=1e-9, atol=1e-6)


def test_runs_that_do_not_overlap_have_no_mean():
    early = Curve(np.array([1.0, 2.0]), np.array([1.0, 1.0]))
    late = Curve(np.array([3.0, 4.0]), np.array([1.0, 1.0]))
    assert len(mean_over_runs([early, late]).x) == 0
    assert len(mean_over_runs([]).x) == 0


def test_runs_with_different_axes_are_not_drawn_over_the_axis_of_the_first():
    """Both runs are the line y = x, with a row every 10 and every 25 env steps."""
    first, second = (np.arange(0, 101, width, dtype=np.float64) for width in (10, 25))
    for made in ([first, second], [second, first]):
        found = mean_over_runs([Curve(x, x.copy()) for x in made])
        np.testing.assert_allclose(found.mean, found.x)
        np.testing.assert_allclose(found.high - found.low, 0, atol=1e-9)
        assert {25.0, 75.0, 30.0} <= set(found.x.tolist())


def test_a_column_is_a_curve_with_gaps_and_without_the_rows_of_late_evaluations():
    nan = math.nan
    run = made_run(
        [10, 20, 20, 30, 40, 50],
        {
            "seeker:policy/kl": [nan, 1.0, nan, nan, 4.0, nan],
            "eval/seeker:match/win_rate": [nan, nan, 0.25, nan, 0.5, nan],
            "eval:clock/env_steps": [nan, nan, 10.0, nan, 30.0, nan],
        },
    )
    trained = read_curve(run, "seeker:policy/kl")
    assert trained.x.tolist() == [20, 30, 40]
    np.testing.assert_array_equal(trained.y, [1.0, nan, 4.0])
    evaluated = read_curve(run, "eval/seeker:match/win_rate")
    assert (evaluated.x.tolist(), evaluated.y.tolist()) == ([10, 30], [0.25, 0.5])
    with pytest.raises(RunError, match="policy/kl"):
        read_curve(run, "hider:policy/kl")
