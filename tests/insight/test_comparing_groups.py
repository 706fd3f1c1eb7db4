"""Comparison of groups of seeds."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from gymnast import api
from gymnast.cli import cli
from gymnast.errors import RunError
from gymnast.jobs.groups import difference_interval
from gymnast.runs.run import Run

Record = Callable[..., Run]


@pytest.fixture
def group(record: Record) -> Callable[..., list[Run]]:
    """Returns a function that makes a group with a finished run per score; each curve ends at the score."""

    def make(name: str, scores: list[float | None], **more: Any) -> list[Run]:
        runs = []
        for seed, mean in enumerate(scores):
            own = {"seed": seed} | more.get("overrides", {})
            run = record([0.0, mean or 0.0], group=name, seed=seed, overrides=own)
            score = None
            if mean is not None:
                score = {"mean": mean, "low": mean - 1, "high": mean + 1, "episodes": 9}
            run.update(score=score, solved=mean is not None and mean > 475)
            runs.append(run)
        return runs

    return make


def test_each_side_has_the_mean_over_its_seeds_with_an_interval(group, runs_dir: Path):
    group("wide", [100.0, 200.0, 480.0], overrides={"policy.hidden": [8]})
    group("g0", [300.0, None])
    found = api.compare(["wide", "g0"], runs_dir=runs_dir)
    wide, plain = found["groups"]
    assert (wide["runs"], wide["scored"], wide["solved"]) == (3, 3, 1)
    assert wide["mean"] == pytest.approx(260.0)
    assert wide["low"] < 260 < wide["high"]
    assert (plain["scored"], plain["mean"], plain["low"]) == (1, 300.0, None)
    assert found["difference"] == {"mean": pytest.approx(-40.0), "low": None, "high": None}
    assert found["config"] == [{"key": "policy.hidden", "values": ["[8]", "[64, 64]"]}]


def test_the_curve_of_a_group_is_the_mean_of_its_seeds(group, record: Record, runs_dir: Path):
    group("g0", [10.0, 30.0])
    alone = record([0.0, 5.0])
    found = api.compare(["g0", alone.id], "env_steps", runs_dir=runs_dir)
    assert found["groups"][0]["curve"]["y"] == [0.0, 20.0]
    assert found["groups"][1]["curve"] == found["runs"][2]["curve"]
    assert found["groups"][0]["area"]["mean"] == pytest.approx(10.0)


def test_a_setting_that_differs_within_a_group_is_marked(group, record: Record, runs_dir):
    group("g0", [10.0])
    record([0.0, 1.0], group="g0", seed=1, overrides={"seed": 1, "algo.gamma": 0.5})
    group("g1", [10.0])
    (entry,) = api.compare(["g0", "g1"], runs_dir=runs_dir)["config"]
    assert entry["key"] == "algo.gamma"
    assert entry["values"][0] == "(varies)"


def test_the_interval_of_a_difference_covers_the_true_value_often_enough():
    rng = np.random.default_rng(0)
    covered = 0
    for _ in range(60):
        first, second = rng.normal(3, 1, 12).tolist(), rng.normal(1, 1, 12).tolist()
        low, high = difference_interval(first, second) or (0, 0)
        covered += low <= 2 <= high
    assert covered >= 50


def test_single_runs_have_no_group_summary_and_unknown_names_are_errors(record: Record, runs_dir):
    runs = [record([1.0, 2.0]), record([1.0, 3.0])]
    assert "groups" not in api.compare([run.id for run in runs], runs_dir=runs_dir)
    with pytest.raises(RunError, match="nobody"):
        api.compare([runs[0].id, "nobody"], runs_dir=runs_dir)


def test_the_page_names_both_groups_and_their_difference(group, runs_dir: Path):
    group("wide", [100.0, 200.0])
    group("narrow", [300.0, 310.0])
    words = ["compare", "wide", "narrow", "--runs", str(runs_dir)]
    page = CliRunner().invoke(cli, words).output
    assert "score of wide minus score of narrow: -155.0 [" in page
    assert "● wide" in page
