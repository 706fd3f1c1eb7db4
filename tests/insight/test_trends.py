"""Trends: verdicts follow the declared direction of a metric, never the sign of its change alone."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from gymnast import api
from gymnast.cli import cli
from gymnast.errors import UsageError
from gymnast.insight.trends import MetricTrend, MetricValues, metric_trend
from gymnast.metrics.metric import Metric
from gymnast.metrics.specs import METRICS
from gymnast.metrics.store import MetricStore
from gymnast.runs.run import Run

N = 80
XS = [1000.0 * (i + 1) for i in range(N)]


def trend_of(metric: Metric, ys: list[float], recent: float = 0.25) -> MetricTrend:
    found = metric_trend(metric.name, metric, MetricValues(XS[: len(ys)], ys, ys, ys), recent)
    assert found is not None
    return found


@pytest.mark.parametrize("metric", METRICS.values(), ids=lambda metric: metric.name)
def test_a_rise_is_an_improvement_only_where_higher_is_better(metric: Metric):
    noise = np.random.default_rng(0).normal(0, 0.01, N)
    rising, falling = (
        trend_of(metric, (sign * np.linspace(0, 1, N) + noise).tolist()) for sign in (1, -1)
    )
    expected = {"higher": ("better", "worse"), "lower": ("worse", "better")}
    words = expected.get(metric.better, ("rising", "falling"))
    assert (rising.overall.verdict, falling.overall.verdict) == words
    assert (rising.recent.verdict, falling.recent.verdict) == words


def test_a_flat_end_is_flat_whatever_came_before():
    noise = np.random.default_rng(1).normal(0, 3, N)
    curve = np.minimum(np.arange(N) * 20.0, 500) + noise
    trend = trend_of(METRICS["episode/return"], curve.tolist())
    assert (trend.overall.verdict, trend.recent.verdict) == ("better", "flat")
    assert trend.highest.value == curve.max()
    assert trend.highest.at == XS[int(curve.argmax())]
    assert trend.collapse is None


@pytest.mark.parametrize("back", [False, True])
def test_a_collapse_is_found_at_its_step_and_says_whether_it_lasted(back: bool):
    level = np.where(np.arange(N) < 50, np.minimum(np.arange(N) * 20.0, 480), 20)
    if back:
        level[65:] = 470
    trend = trend_of(METRICS["episode/return"], level.tolist())
    assert trend.collapse is not None
    assert trend.collapse.at == XS[50]
    assert (trend.collapse.before, trend.collapse.after) == (480, 20)
    assert trend.collapse.lasted is not back
    assert "collapsed from 480.00 to 20.00 at 51k" in trend.text
    # A metric of which lower values are better collapses upwards.
    mirrored = trend_of(METRICS["value/loss"], (-level).tolist())
    assert METRICS["value/loss"].better == "lower"
    assert mirrored.collapse is not None
    assert mirrored.collapse.at == XS[50]


def test_a_metric_without_a_direction_jumps_but_never_collapses():
    trend = trend_of(METRICS["policy/entropy"], [0.7] * 30 + [0.01] * 30)
    assert trend.collapse is None
    assert trend.jump is not None
    assert (trend.jump.at, trend.jump.exceeds_noise) == (XS[30], True)


def test_values_that_are_not_finite_are_left_out_and_few_points_are_unknown():
    trend = trend_of(METRICS["episode/return"], [float("nan"), 1.0, float("inf"), 3.0])
    assert (trend.points, trend.first.value, trend.last.value) == (2, 1.0, 3.0)
    assert (trend.overall.verdict, trend.recent.verdict, trend.jump) == ("unknown", "unknown", None)
    empty = MetricValues([1.0], [float("nan")], [float("nan")], [float("nan")])
    assert metric_trend("episode/return", METRICS["episode/return"], empty) is None


def test_the_health_of_the_recent_part_is_judged_by_the_declared_range():
    high = trend_of(METRICS["policy/kl"], [0.01] * 60 + [0.2] * 20)
    low = trend_of(METRICS["policy/kl"], [0.2] * 60 + [0.01] * 20)
    assert (high.healthy, low.healthy) == (False, True)
    assert trend_of(METRICS["episode/length"], [1.0, 2.0]).healthy is None


@pytest.fixture
def run(runs_dir: Path) -> Run:
    config = "metrics: {env/own: {source: own, better: lower, description: Own.}}"
    run = Run.create(
        runs_dir, config_text=config, preset="A:ppo", seed=0, provenance={}, name="mine"
    )
    with MetricStore(run.path / "metrics.db", "w") as store:
        for i in range(3000):
            row = {f"clock/{c}": float(i * n) for c, n in (("env_steps", 128), ("vec_steps", 16))}
            row |= {"clock/rollouts": float(i), "episode/return": float(i == 1234) * 50 + i / 100}
            store.append(row | {"system/memory": 1.0, "env/own": i / 10})
    return run


def test_extremes_of_a_long_run_are_those_of_its_rows(run: Run):
    (trend,) = api.trends(run.id, ["episode/return"]).trends
    assert trend.points == 1000
    assert trend.highest.value == 50 + 12.34
    assert trend.highest.at == pytest.approx(1234 * 16, abs=3 * 16)


def test_by_default_the_metrics_of_the_live_table_are_examined(run: Run):
    found = api.trends(run.id)
    assert [trend.key for trend in found.trends] == ["episode/return", "env/own"]
    everything = api.trends(run.id, ["*"], x="vec_steps")
    assert len(everything.trends) == everything.total == found.total == 6
    assert everything.trends[0].last.at == pytest.approx(2999 * 16, abs=3 * 16)


def test_a_metric_of_a_preset_has_the_direction_that_it_declares(run: Run):
    (trend,) = api.trends(run.id, ["env/own"]).trends
    assert (trend.better, trend.overall.verdict) == ("lower", "worse")


def test_wrong_names_and_shares_are_errors(run: Run):
    with pytest.raises(UsageError, match="did you mean episode/return"):
        api.trends(run.id, ["episode/retrun"])
    with pytest.raises(UsageError, match="share"):
        api.trends(run.id, recent=0)


def test_the_command_prints_a_line_per_metric(run: Run):
    done = CliRunner().invoke(cli, ["trends", run.id, "--metric", "episode/*"])
    assert done.exit_code == 0, done.output
    assert done.output.splitlines()[0].startswith(
        "episode/return  0.01 -> 29.98 (best 62.34 at 19.7k): better"
    )
    assert "1 of 6 metrics" in done.output
    assert "positions are in vec steps" in done.output
