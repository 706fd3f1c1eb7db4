"""Comparison of groups of seeds."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from gymnast import api
from gymnast.cli import cli
from gymnast.errors import RunError
from gymnast.insight.compare import SettingDifference
from gymnast.insight.improvement import MeanInterval
from gymnast.records import to_json
from gymnast.runs.run import Run
from gymnast.text import formatting

Record = Callable[..., Run]


def test_each_side_has_the_mean_over_its_seeds_with_an_interval(group, runs_dir: Path):
    group("wide", [100.0, 200.0, 480.0], overrides={"policy.hidden": [8]})
    group("g0", [300.0, None])
    found = api.compare(["wide", "g0"], runs_dir=runs_dir)
    wide, plain = found.groups
    assert (wide.runs, wide.scored, wide.solved) == (3, 3, 1)
    assert wide.score.mean == pytest.approx(260.0)
    assert wide.score.low < 260 < wide.score.high
    assert (plain.scored, plain.score) == (1, MeanInterval(300.0, None, None))
    (pair,) = found.improvements
    assert pair.difference == MeanInterval(pytest.approx(-40.0), None, None)
    assert (pair.better, pair.exceeds_noise) == ("g0", None)
    assert "g0 has 1 seed" in pair.problem
    assert found.config == [SettingDifference("policy.hidden", ["[8]", "[64, 64]"])]


def test_the_curve_of_a_group_is_the_mean_of_its_seeds(group, record: Record, runs_dir: Path):
    group("g0", [10.0, 30.0])
    alone = record([0.0, 5.0])
    found = api.compare(["g0", alone.id], "env_steps", runs_dir=runs_dir)
    assert found.groups[0].curve.y == [0.0, 20.0]
    assert (found.groups[1].curve.x, found.groups[1].curve.y) == (
        found.runs[2].curve.x,
        found.runs[2].curve.y,
    )
    assert found.groups[1].curve.low == [None, None]
    assert (found.groups[0].curve.low, found.groups[0].curve.high) == ([0.0, 10.0], [0.0, 30.0])
    assert (found.groups[0].curve.n, found.groups[1].curve.n) == ([2, 2], [1, 1])
    assert found.groups[0].area.mean == pytest.approx(10.0)


def test_a_setting_that_differs_within_a_group_is_marked(group, record: Record, runs_dir):
    group("g0", [10.0])
    record([0.0, 1.0], group="g0", seed=1, overrides={"seed": 1, "algo.gamma": 0.5})
    group("g1", [10.0])
    (entry,) = api.compare(["g0", "g1"], runs_dir=runs_dir).config
    assert entry.key == "algo.gamma"
    assert entry.values[0] == "(varies)"


def test_single_runs_have_no_group_summary_and_unknown_names_are_errors(record: Record, runs_dir):
    runs = [record([1.0, 2.0]), record([1.0, 3.0])]
    assert api.compare([run.id for run in runs], runs_dir=runs_dir).groups == []
    with pytest.raises(RunError, match="nobody"):
        api.compare([runs[0].id, "nobody"], runs_dir=runs_dir)


def test_the_page_has_the_numbers_of_the_record_in_100_columns(group, runs_dir: Path):
    group("wide", [100.0, 200.0, 250.0, 120.0])
    group("narrow", [300.0, 310.0])
    words = ["compare", "wide", "narrow", "--runs", str(runs_dir)]
    page = CliRunner().invoke(cli, words).output
    found = api.compare(["wide", "narrow"], runs_dir=runs_dir)
    (pair,) = found.improvements
    expected = [interval(value) for g in found.groups for value in (g.iqm, g.score, g.best, g.area)]
    for text in (*expected, interval(pair.difference), "0.00 [0.00, 0.00]", "narrow  yes"):
        assert text in page
    for run in found.runs:
        assert f"{run.final:.1f} [" in page
        assert run.id in page
    assert "● wide" in page
    assert max(map(len, page.splitlines())) <= 100
    record = json.loads(CliRunner().invoke(cli, [*words, "--json"]).output)
    assert record["improvements"] == [to_json(pair)]


def interval(value: MeanInterval) -> str:
    assert value.low is not None
    assert value.high is not None
    return formatting.interval(value.mean, value.low, value.high)
