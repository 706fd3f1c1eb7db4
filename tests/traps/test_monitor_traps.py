"""Regression tests for past bugs in overviews of self-play runs, with the numbers of the list of traps."""

from __future__ import annotations

import math
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

from gymnast import api
from gymnast.errors import RunError
from gymnast.monitor.chart_data import monitor_charts
from gymnast.monitor.match_rows import rolling_wins
from gymnast.monitor.monitored_run import MonitoredRun
from gymnast.monitor.overview import overview_row
from gymnast.monitor.records import MonitorChart, OverviewRow, RoleOverview
from tests.monitor.fixture import copy_fixture
from tests.monitor.runs import made_run


def _run(env_steps: list[float], returns: list[float], **more: str) -> MonitoredRun:
    return made_run(env_steps, {"episode/return": returns}, roles=(), **more)  # pyright: ignore[reportArgumentType]


def _reward_of_approaches(*runs: MonitoredRun) -> MonitorChart:
    charts = [chart for chart in monitor_charts(runs, smooth=1) if chart.about == "approach"]
    return next(chart for chart in charts if chart.name.endswith("reward"))


def test_33_a_win_rate_is_that_of_the_last_matches_not_of_all_since_the_start():
    lost_then_won = np.array([0.0] * 300 + [1.0] * 100)
    rates = rolling_wins(lost_then_won, "seeker", 100)["seeker:league/win_rate"]
    assert rates[-1] == 1.0, "the mean since the start is 0.25"
    run = made_run(
        [1, 2, 3],
        {
            f"{role}:{metric}": values
            for role, wins in (("seeker", [0.1, 0.5, 0.9]), ("hider", [0.9, 0.5, 0.1]))
            for metric, values in (("league/win_rate", wins), ("episode/return", wins))
        },
    )
    assert [role.rolling_win_rate for role in overview_row(run).roles] == [0.9, 0.1]


def test_33_an_unknown_outcome_counts_for_no_side():
    unknown = math.nan
    scores = np.array([1.0, unknown, unknown, 0.0, unknown, 1.0, 1.0, unknown])
    seeker = rolling_wins(scores, "seeker", 100)["seeker:league/win_rate"]
    hider = rolling_wins(1.0 - scores, "hider", 100)["hider:league/win_rate"]
    assert seeker[-1] == 0.75
    assert hider[-1] == 0.25
    nobody = rolling_wins(np.full(5, unknown), "seeker", 100)["seeker:league/win_rate"]
    assert np.isnan(nobody).all(), "not zero"


def test_33_no_number_is_the_mean_over_the_roles_of_a_zero_sum_game():
    run = made_run(
        [1, 2],
        {
            "seeker:episode/return": [-1.0, -0.8],
            "hider:episode/return": [1.0, 0.8],
            "seeker:league/win_rate": [0.1, 0.2],
            "hider:league/win_rate": [0.9, 0.8],
        },
    )
    row = overview_row(run)
    assert {role.role: role.final_return for role in row.roles} == {"seeker": -0.8, "hider": 0.8}
    in_roles = {field.name for field in fields(RoleOverview)}
    assert not in_roles & {field.name for field in fields(OverviewRow)}, "none is of the whole run"
    for chart in monitor_charts([run], smooth=1):
        if "return" in chart.title.lower() or "win rate" in chart.title.lower():
            assert all(series.role for series in chart.series), chart.name


def test_34_every_run_keeps_its_own_x_axis():
    """Both runs are on the line y = x, with different steps: so is their mean, wherever both have data."""
    short = _run([0, 100, 200, 300], [0, 100, 200, 300], run="a")
    long = _run([50, 150, 250, 1000], [50, 150, 250, 1000], run="b")
    (series,) = _reward_of_approaches(short, long).series
    assert np.allclose(series.y, series.x)
    assert (min(series.x), max(series.x)) == (50, 300), "where both runs have data"


def test_34_approaches_of_different_lengths_are_drawn_on_their_own_axes():
    short = _run([0, 100], [0, 100], run="a", approach="short")
    long = _run([0, 500, 1000], [0, 500, 1000], run="b", approach="long")
    by_approach = {series.approach: series for series in _reward_of_approaches(short, long).series}
    assert max(by_approach["short"].x) == 100
    assert max(by_approach["long"].x) == 1000
    assert all(np.allclose(series.y, series.x) for series in by_approach.values())


def test_34_a_missing_column_is_an_error_and_never_zeros(tmp_path: Path):
    runs = copy_fixture(tmp_path) / "runs"
    with pytest.raises(RunError, match="'seeker:policy/kl' is missing"):
        api.monitor(refs=["selfplay1", "broken01"], runs_dir=runs)
    report = api.monitor(refs=["selfplay1", "broken01"], skip_broken=True, runs_dir=runs)
    assert [run.run for run in report.skipped] == ["broken01"]
    with pytest.raises(RunError, match="no column"):
        _run([1], [1]).column("policy/kl")


def test_34_a_row_without_a_value_is_a_gap_and_never_zero():
    run = _run([1, 2, 3, 4], [5.0, math.nan, 5.0, 5.0])
    (chart,) = (c for c in monitor_charts([run], smooth=2) if c.name.endswith("reward"))
    (series,) = chart.series
    assert {y for y in series.y if not math.isnan(y)} == {5.0}


def test_34_a_csv_with_rows_of_different_widths_is_refused(tmp_path: Path):
    (tmp_path / "map.yaml").write_text("columns: {clock/env_steps: step, episode/return: reward}")
    file = tmp_path / "log.csv"
    file.write_text("step,reward\n1,2\n2,3,4\n")
    with pytest.raises(RunError) as refusal:
        api.monitor(files=[str(file)], column_map=str(tmp_path / "map.yaml"))
    assert refusal.value.at == f"{file}:3"
    assert "3 cells (expected 2" in refusal.value.message
