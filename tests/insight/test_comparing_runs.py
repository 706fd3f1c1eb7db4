from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from gymnast.clock import CLOCKS
from gymnast.errors import UsageError
from gymnast.insight.compare import Comparison, compare, shared_range
from gymnast.insight.comparison_text import comparison_chart
from gymnast.metrics.store import MetricStore
from gymnast.records import from_json, to_json
from gymnast.runs.curve import Curve, area, curve_of, read_rows
from gymnast.runs.run import Run

Record = Callable[..., Run]


def evaluation_curve(run: Run, x: str) -> Curve:
    return curve_of(read_rows(run), x)


def test_an_evaluation_is_at_the_version_it_scored_on_every_clock(record: Record):
    run = record([10.0, 20.0, 30.0], n_envs=8)
    versions = np.array([0, 2, 4])  # in rollouts; the results arrived at 2, 4 and 6
    per_rollout = {"env_steps": 256, "vec_steps": 32, "frames": 256, "updates": 4, "seconds": 0.1}
    per_rollout |= {"rollouts": 1, "episodes": 3}
    for axis in CLOCKS:
        xs, ys = evaluation_curve(run, axis)
        assert xs == pytest.approx(versions * per_rollout[axis])
        assert ys == [10.0, 20.0, 30.0]


def test_runs_with_different_numbers_of_envs_keep_their_own_x_values(record: Record):
    runs = [record([1.0, 2.0, 3.0], n_envs=1), record([1.0, 2.0, 3.0], n_envs=8)]
    over_env_steps = compare(runs, "env_steps")
    assert [r.curve.x[-1] for r in over_env_steps.runs] == [128, 1024]
    assert over_env_steps.range == (0, 128)
    over_vec_steps = compare(runs)
    assert over_vec_steps.x == "vec_steps"
    assert [r.curve.x[-1] for r in over_vec_steps.runs] == [128, 128]


def test_a_missing_evaluation_is_not_a_zero(record: Record):
    xs, ys = evaluation_curve(record([100.0, None, 120.0, None]), "vec_steps")
    assert (xs, ys) == ([0, 128], [100.0, 120.0])


def test_without_evaluations_there_is_no_area(record: Record):
    found = compare([record([1.0, 2.0]), record([None, None])])
    assert found.range is None
    assert [run.area for run in found.runs] == [None, None]
    assert from_json(Comparison, to_json(found)) == found
    assert "●" in comparison_chart(found)


def test_area_is_the_integral_of_the_interpolated_curve_over_the_shared_range():
    rng = np.random.default_rng(0)
    for _ in range(20):
        xs = np.sort(rng.random(9)) * 100
        ys = rng.normal(size=9)
        low, high = xs[0] + 3, xs[-1] - 5
        grid = np.linspace(low, high, 200_001)
        expected = np.interp(grid, xs, ys).mean()
        assert area((list(xs), list(ys)), low, high) == pytest.approx(expected, abs=1e-4)


def test_the_shared_range_is_covered_by_all_curves():
    assert shared_range([[0, 10, 30], [5, 20]]) == (5, 20)
    assert shared_range([[0, 10], [20, 30]]) is None
    assert shared_range([[0, 10], [3]]) is None
    assert shared_range([]) is None


def test_superseded_rows_are_not_in_a_curve(record: Record):
    run = record([10.0, 20.0, 30.0])
    with MetricStore(run.path / "metrics.db", "w") as store:
        store.supersede(after_rollouts=4)
    assert evaluation_curve(run, "vec_steps")[1] == [10.0, 20.0]


def test_only_settings_that_differ_are_listed_with_the_value_of_each_run(record: Record):
    runs = [
        record([1.0], overrides={"algo.gamma": 0.9}),
        record([1.0], overrides={"algo.gamma": 0.9, "policy.hidden": [8, 8]}),
        record([1.0], overrides={"algo.gamma": 0.5}),
    ]
    found = {entry.key: entry.values for entry in compare(runs).config}
    assert found.keys() == {"algo.gamma", "policy.hidden"}
    assert found["algo.gamma"] == [0.9, 0.9, 0.5]
    assert found["policy.hidden"] == ["[64, 64]", "[8, 8]", "[64, 64]"]


def test_an_unreadable_config_is_reported_and_the_rest_is_compared(record: Record):
    good, bad = record([1.0, 2.0]), record([3.0, 4.0])
    (bad.path / "config.yaml").write_text("algo: {name: sarsa}\n")
    found = compare([good, bad])
    assert "sarsa" in found.config_problem
    assert found.config == []
    assert [run.area for run in found.runs] == [1.5, 3.5]


def test_the_first_evaluation_at_the_threshold_is_reported(record: Record):
    (summary, never) = compare([record([1.0, 480.0, 500.0]), record([1.0, 2.0, 3.0])]).runs
    assert summary.threshold_at == 64
    assert never.threshold_at is None


def test_an_unknown_x_axis_is_an_error(record: Record):
    with pytest.raises(UsageError, match="'steps' is not a clock"):
        compare([record([1.0]), record([1.0])], "steps")
