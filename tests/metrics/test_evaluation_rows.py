"""The rows that evaluation curves depend on give the same curves and summaries as all rows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gymnast.clock import CLOCKS
from gymnast.metrics.evaluation_rows import evaluation_rows
from gymnast.metrics.store import MetricStore
from gymnast.runs.curve import (
    LOW_KEY,
    RETURN_KEY,
    SCORED_STEPS_KEY,
    TRAINING_KEY,
    ClockAxis,
    curve_of,
    lower_bounds,
    summarize_learning,
)


def write(path: Path, rows: int, every: int, lag: int, seed: int, back: int) -> None:
    """Writes a run that is resumed once, `back` rollouts earlier. Each evaluation scores the policy of some
    rollouts before, or some env steps beyond the last row; results may come in another order."""
    rng = np.random.default_rng(seed)
    steps = np.cumsum(rng.integers(0, 3, size=rows + 1) * 100)  # some rows share their env steps
    for first, end in ((1, rows // 2), (max(rows // 2 - back, 0) + 1, rows)):
        with MetricStore(path, "w") as store:
            store.supersede(first - 1, keep=1)
            for i in range(first, end + 1):
                row = {
                    f"clock/{clock}": float(steps[i]) / (k + 1) for k, clock in enumerate(CLOCKS)
                }
                row["clock/rollouts"] = float(i)
                row["clock/seconds"] = float(i) ** 1.1
                if i > 5:
                    row[TRAINING_KEY] = rng.normal()
                if i % every == 0:
                    scored = int(steps[max(i - int(rng.integers(0, lag + 1)), 0)])
                    row[SCORED_STEPS_KEY] = float(scored + rng.integers(0, 2) * 50)
                    row[RETURN_KEY] = rng.normal()
                    if rng.random() < 0.8:
                        row[LOW_KEY] = row[RETURN_KEY] - 1
                store.append(row)


@settings(deadline=None, max_examples=30)
@given(
    rows=st.integers(1, 700),
    every=st.integers(1, 90),
    lag=st.integers(0, 300),
    seed=st.integers(0, 999),
    back=st.integers(0, 200),
)
def test_few_rows_give_the_same_curves_as_all_rows(
    tmp_path_factory: pytest.TempPathFactory, rows: int, every: int, lag: int, seed: int, back: int
):
    path = tmp_path_factory.mktemp("store") / "metrics.db"
    write(path, rows, every, lag, seed, back)
    with MetricStore(path) as store:
        everything = list(store.rows())
        few = evaluation_rows(store, SCORED_STEPS_KEY, TRAINING_KEY)
    assert len(few) <= 3 * (rows // every) + 8
    for clock in CLOCKS:
        assert curve_of(few, clock) == curve_of(everything, clock)
    assert lower_bounds(few) == lower_bounds(everything)
    assert summarize_learning(few, 0.5, 1e6) == summarize_learning(everything, 0.5, 1e6)
    assert few == [row for row in everything if row in few]


def test_a_store_without_rows_or_evaluations(tmp_path: Path):
    with MetricStore(tmp_path / "metrics.db") as store:
        assert evaluation_rows(store, SCORED_STEPS_KEY, TRAINING_KEY) == []
    write(tmp_path / "metrics.db", 50, 1000, 0, 0, 0)
    with MetricStore(tmp_path / "metrics.db") as store:
        found = evaluation_rows(store, SCORED_STEPS_KEY, TRAINING_KEY)
        last = list(store.rows())[-1]
    assert [row["clock/rollouts"] for row in found] == [6.0, 50.0]
    assert ClockAxis(found, "seconds")(1e9) == last["clock/seconds"]
