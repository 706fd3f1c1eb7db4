"""Rows around a step: the nearest ones, as many as asked for, also at the ends and after a resume."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gymnast import api
from gymnast.api.calling import call
from gymnast.errors import Failure
from gymnast.metrics.nearest_rows import earlier_rows, position_before
from gymnast.metrics.store import MetricStore
from gymnast.runs.run import Run

STEPS = "clock/env_steps"


def write_rows(store: MetricStore, steps: list[float], first: int = 1) -> None:
    for i, step in enumerate(steps, start=first):
        store.append({"clock/rollouts": float(i), STEPS: step, "policy/kl": step / 7})


@pytest.fixture
def run(runs_dir: Path) -> Run:
    run = Run.create(runs_dir, config_text="", preset="A:ppo", seed=0, provenance={})
    with MetricStore(run.path / "metrics.db", "w") as store:
        write_rows(store, [100.0 * i for i in range(1, 31)])
    with MetricStore(run.path / "metrics.db", "w") as store:  # resumed at rollout 20
        store.supersede(20)
        write_rows(store, [100.0 * i + 50 for i in range(21, 41)], first=21)
    return run


def nearest(steps: list[float], around: float, count: int) -> list[float]:
    """Returns `count` steps in order: half of them before `around`, if there are as many."""
    windows = [steps[i : i + count] for i in range(max(len(steps) - count, 0) + 1)]
    return min(
        windows,
        key=lambda window: (
            abs(sum(step < around for step in window) - count // 2),
            abs(fmean(window) - around),  # if all are on one side
        ),
    )


EVERY = [100.0 * i for i in range(1, 21)]


@pytest.fixture(scope="module")
def metrics(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MetricStore]:
    with MetricStore(tmp_path_factory.mktemp("rows") / "metrics.db", "w") as store:
        write_rows(store, EVERY)
        yield store


@given(around=st.floats(-10, 5000), count=st.integers(1, 60))
def test_the_rows_around_a_step_are_half_before_and_half_after_it(
    metrics: MetricStore, around: float, count: int
):
    after = position_before(metrics, around, count)
    found = [row[STEPS] for _, row in metrics.numbered_rows(after=after, limit=count)]
    assert found == nearest(EVERY, around, count)


@pytest.mark.parametrize("around", [0, 100, 2000, 2001, 2149, 2500, 4050, 10**9])
def test_superseded_rows_are_skipped_and_csv_agrees(run: Run, around: int):
    steps = [row[STEPS] for row in api.rows(run.id).rows]
    page = api.rows(run.id, ["policy/kl"], around=around, limit=6)
    assert [row[STEPS] for row in page.rows] == nearest(steps, around, 6)
    assert page.has_more == (page.rows[-1][STEPS] < steps[-1])
    lines = list(csv.DictReader(io.StringIO(api.rows_csv(run.id, around=around, limit=6))))
    assert [float(line[STEPS]) for line in lines] == [row[STEPS] for row in page.rows]


def test_the_rows_that_follow_continue_at_the_cursor(run: Run):
    page = api.rows(run.id, around=2000)
    assert len(page.rows) == 10
    following = api.rows(run.id, after=page.cursor, limit=1).rows[0]
    steps = [row[STEPS] for row in api.rows(run.id).rows]
    assert following[STEPS] == steps[steps.index(page.rows[-1][STEPS]) + 1]


def test_a_run_without_rows_has_none_around_a_step(runs_dir: Path):
    empty = Run.create(runs_dir, config_text="", preset="A:ppo", seed=0, provenance={})
    assert api.rows(empty.id, around=100).rows == []


@pytest.mark.parametrize("other", [{"after": 3}, {"last": 2}, {"limit": 0}])
def test_around_is_refused_together_with_another_selection(run: Run, other: dict[str, int]):
    failure = call("rows", {"ref": run.id, "around": 100} | other)
    assert isinstance(failure, Failure)
    assert "around" in failure.message


def test_all_rows_are_before_the_step_if_none_is_after_it():
    assert earlier_rows(10, 0, 4) == 4
    assert earlier_rows(1, 9, 4) == 1


def test_a_step_may_be_written_as_in_a_config(run: Run):
    assert api.rows(run.id, around="2k").rows == api.rows(run.id, around=2000).rows
    failure = call("rows", {"ref": run.id, "around": "soon"})
    assert isinstance(failure, Failure)
    assert "soon" in failure.message
