"""Metrics as means over seeds, against means that are computed point by point."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gymnast import api
from gymnast.errors import UsageError
from gymnast.insight.mean_curve import mean_curve
from gymnast.metrics.store import MetricStore
from gymnast.rl import seed_statistics
from gymnast.runs.run import Run

Record = Callable[..., Run]
property_test = settings(max_examples=40, deadline=None)
x_values = st.lists(st.integers(0, 30).map(float), min_size=1, max_size=8, unique=True)
curves = st.lists(
    x_values.map(lambda xs: (sorted(xs), [x * x % 7 - 3 for x in sorted(xs)])), max_size=5
)


@property_test
@given(curves, st.randoms(use_true_random=False))
def test_a_mean_curve_is_the_mean_of_the_interpolated_seeds(drawn, random):
    found = mean_curve(drawn)
    low = max((xs[0] for xs, _ in drawn), default=0.0)
    high = min((xs[-1] for xs, _ in drawn), default=0.0)
    assert found.x == sorted({x for xs, _ in drawn for x in xs if low <= x <= high})
    for i, x in enumerate(found.x):
        at_x = [float(np.interp(x, xs, ys)) for xs, ys in drawn]
        assert found.y[i] == pytest.approx(np.mean(at_x))
        assert found.n[i] == len(drawn)
        if len(drawn) == 1:
            assert found.low[i] is found.high[i] is None
        else:
            assert found.low[i] <= found.y[i] <= found.high[i]
    assert mean_curve(random.sample(drawn, len(drawn))) == found


def test_the_band_at_a_point_is_the_interval_of_its_values():
    xs, heights = [0.0, 1.0, 2.0], [3.0, 5.0, 11.0, 4.0]
    found = mean_curve((xs, [h, 2 * h, -h]) for h in sorted(heights))
    for i, factor in enumerate((1, 2, -1)):
        values = [factor * h for h in sorted(heights)]
        resamples = seed_statistics.CURVE_RESAMPLES
        ends = seed_statistics.bootstrap_interval(
            seed_statistics.mean, [values], resamples=resamples
        )
        assert (found.low[i], found.high[i]) == pytest.approx(ends)


def test_missing_values_are_gaps_and_not_zeros():
    nan, inf = float("nan"), float("inf")
    found = mean_curve([([0.0, 1.0, 2.0], [4.0, nan, 8.0]), ([0.0, 1.0, 2.0], [4.0, 6.0, 8.0])])
    assert found.y == [4.0, 6.0, 8.0]
    assert mean_curve([([0.0, 1.0], [1.0, 1.0]), ([], [])]).n == [1, 1]
    assert mean_curve([([0.0], [inf])]).x == []


def test_a_long_series_is_averaged_in_parts_of_its_range():
    rng = np.random.default_rng(0)
    ys = rng.normal(size=(3, 1000))
    xs = np.arange(1000.0)
    found = mean_curve(((xs.tolist(), y.tolist()) for y in ys), points=10)
    assert found.y == pytest.approx(ys.mean(axis=0).reshape(10, 100).mean(axis=1))
    assert found.x == pytest.approx(999 / 10 * (np.arange(10) + 0.5))
    sparse = mean_curve([(xs.tolist(), ys[0].tolist()), ([0.0, 999.0], [0.0, 999.0])], points=10)
    assert len(sparse.x) == 10
    assert sparse.y[4] == pytest.approx((ys[0, 400:500].mean() + sparse.x[4]) / 2)


def test_seed_curves_keep_the_x_values_of_each_seed(record: Record, runs_dir: Path):
    """The k-th evaluation of a recorded run scores the policy after 64 k vector steps."""
    record([10.0, 20.0, 60.0], group="g", seed=0)
    record([30.0, None, 100.0, 7.0], group="g", seed=1)
    found = api.seed_curves(["g"], ["eval:episode/return", "policy/entropy"], runs_dir=runs_dir)
    (group,) = found.groups
    returns, entropy = group.series
    assert (found.x, group.name, len(group.runs)) == ("vec_steps", "g", 2)
    assert (returns.key, returns.x) == ("eval:episode/return", [0.0, 64.0, 128.0])
    assert returns.mean == pytest.approx([20.0, (20.0 + 65.0) / 2, 80.0])
    assert returns.n == [2, 2, 2]
    assert entropy.x == [32.0 * i for i in range(1, 7)]
    assert entropy.mean == pytest.approx([1 / i for i in range(1, 7)])
    assert entropy.low == pytest.approx(entropy.mean)


def test_seed_curves_agree_with_compare_on_every_clock(record: Record, runs_dir: Path):
    for seed, n_envs in enumerate((1, 8, 4)):
        record([1.0, 5.0 + seed, 9.0, 3.0 * seed], group="g", seed=seed, n_envs=n_envs)
    for x in ("vec_steps", "env_steps", "updates", "seconds"):
        found = api.seed_curves(["g", "g"], ["eval:episode/return"], x=x, runs_dir=runs_dir)
        compared = api.compare(["g", "g"], x, runs_dir=runs_dir).groups[0].curve
        (series,) = found.groups[1].series
        assert (series.x, series.mean) == (pytest.approx(compared.x), pytest.approx(compared.y))
        assert (series.low, series.n) == (pytest.approx(compared.low), compared.n)


def test_a_seed_without_the_metric_is_left_out(record: Record, runs_dir: Path):
    first, _ = (record([1.0, 2.0], group="g", seed=seed) for seed in range(2))
    with MetricStore(first.path / "metrics.db", "w") as store:
        (last,) = store.rows(last=1)
        store.append(last | {"policy/kl": 0.5})
    (group,) = api.seed_curves(["g"], ["policy/kl"], runs_dir=runs_dir).groups
    assert (group.series[0].mean, group.series[0].n) == ([0.5], [1])


def test_wrong_arguments_are_reported(record: Record, runs_dir: Path):
    record([1.0, 2.0], name="one")
    with pytest.raises(UsageError, match=r"entropi.*entropy"):
        api.seed_curves(["one"], ["policy/entropi"], runs_dir=runs_dir)
    with pytest.raises(UsageError, match="fortnights"):
        api.seed_curves(["one"], ["policy/entropy"], x="fortnights", runs_dir=runs_dir)
    with pytest.raises(UsageError, match="points"):
        api.seed_curves(["one"], ["policy/entropy"], points=1, runs_dir=runs_dir)
