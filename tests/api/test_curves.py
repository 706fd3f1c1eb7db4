"""Curves of one or more runs: exact if they are short; else every spike is kept, on one axis."""

from __future__ import annotations

import math
import os
from pathlib import Path

import numpy as np
import pytest

from gymnast import api
from gymnast.api import curves as curves_api
from gymnast.api import evaluation_curves
from gymnast.errors import RunError, UsageError
from gymnast.metrics.store import MetricStore
from gymnast.runs.curve import read_evaluation_rows
from gymnast.runs.run import Run

ENV_STEPS, VEC_STEPS = "clock/env_steps", "clock/vec_steps"


def make_run(runs_dir: Path, values: list[float], n_envs: int = 8, name: str = "") -> Run:
    """Creates a run with a row per value; every third row has an entropy too."""
    run = Run.create(runs_dir, config_text="", preset="A:ppo", seed=0, provenance={}, name=name)
    write_rows(run, values, n_envs)
    return run


def write_rows(run: Run, values: list[float], n_envs: int = 8, first: int = 1) -> None:
    with MetricStore(run.path / "metrics.db", "w") as store:
        for i, value in enumerate(values, start=first):
            row = {"clock/rollouts": float(i), VEC_STEPS: 16.0 * i, ENV_STEPS: 16.0 * i * n_envs}
            row |= {"policy/kl": value}
            store.append(row if i % 3 else row | {"policy/entropy": -value})


def test_short_curves_are_exact_and_continue_with_rows(runs_dir: Path):
    run = make_run(runs_dir, [float(i % 7) if i != 5 else math.nan for i in range(40)])
    whole = api.curves([run.id], ["policy/kl", "policy/entropy"], points=40)
    recorded = api.rows(run.id).rows
    assert [series.key for series in whole.series] == ["policy/kl", "policy/entropy"]
    for series in whole.series:
        with_key = [row for row in recorded if series.key in row]
        assert series.x == [row[VEC_STEPS] for row in with_key]
        expected = [row[series.key] for row in with_key]
        for found in (series.mean, series.low, series.high):
            np.testing.assert_array_equal(found, expected)
        assert (series.run, series.total) == (run.id, len(with_key))
    assert whole.range == (16.0, 640.0)
    (source,) = whole.runs
    assert (source.run, source.rows, source.attempt) == (run.id, 40, 1)
    write_rows(run, [7.0], first=41)
    assert [row["policy/kl"] for row in api.rows(run.id, after=source.cursor).rows] == [7.0]


def test_a_long_curve_keeps_its_extremes_and_a_zoom_shows_the_rows(runs_dir: Path):
    values = [math.sin(i / 50) for i in range(5000)]
    values[777], values[3333] = 50.0, -60.0
    run = make_run(runs_dir, values)
    (series,) = api.curves([run.id], ["policy/kl"], points=20, x="rollouts").series
    assert len(series.x) == 20 < series.total == 5000
    assert (max(series.high), min(series.low)) == (50.0, -60.0)
    assert series.high.index(50.0) == 777 * 20 // 5000
    zoomed = api.curves([run.id], ["policy/kl"], points=20, x="rollouts", low=771.0, high=785.0)
    assert zoomed.range == (771.0, 785.0)
    assert zoomed.series[0].x == [float(i) for i in range(771, 786)]
    assert zoomed.series[0].mean == values[770:785]


def test_reduced_curves_of_several_runs_share_one_axis_and_their_ends_are_gaps(runs_dir: Path):
    short = make_run(runs_dir, [1.0, 2.0, 3.0])
    long = make_run(runs_dir, [float(i) for i in range(1, 1001)])
    found = api.curves([short.id, long.id], ["policy/kl"], points=50)
    first, second = found.series
    assert first.x is second.x, "so that it can be sent once"
    assert found.range == (16.0, 16_000.0)
    assert np.allclose(np.diff(first.x), (16_000 - 16) / 50)
    assert (first.low[0], first.mean[0], first.high[0]) == (1.0, 2.0, 3.0)
    assert np.isnan(first.mean[1:]).all(), "a run that has ended is not continued"
    assert (second.low[0], second.high[-1]) == (1.0, 1000.0)
    apart = api.curves([short.id, long.id], ["policy/kl"], points=2000).series
    assert [len(series.x) for series in apart] == [3, 1000], "nothing is reduced: own x values"


def test_evaluations_are_at_the_policy_version_that_they_scored(runs_dir: Path):
    run = make_run(runs_dir, [0.0] * 10)
    with MetricStore(run.path / "metrics.db", "w") as store:
        for i in (11, 12, 13):
            clocks = {"clock/rollouts": float(i), VEC_STEPS: 16.0 * i, ENV_STEPS: 128.0 * i}
            # The result arrives four rollouts after the version that was evaluated.
            scored = {"eval:clock/env_steps": 128.0 * (i - 4), "eval:episode/return": float(i)}
            store.append(clocks | scored | {"eval/red:episode/return": -float(i)})
    curves = {
        x: api.curves([run.id, run.id], ["eval:episode/return"], x=x).series
        for x in ("rollouts", "env_steps", "vec_steps")
    }
    assert {x: series.x for x, (series,) in curves.items()} == {
        "rollouts": [7.0, 8.0, 9.0],
        "env_steps": [128.0 * i for i in (7, 8, 9)],
        "vec_steps": [16.0 * i for i in (7, 8, 9)],
    }
    assert curves["vec_steps"][0].mean == [11.0, 12.0, 13.0]
    (of_role,) = api.curves([run.id], ["eval/red:*"], x="rollouts").series
    assert (of_role.x, of_role.mean) == ([7.0, 8.0, 9.0], [-11.0, -12.0, -13.0])
    (zoomed,) = api.curves(
        [run.id], ["eval:episode/return"], x="rollouts", low=8.5, high=8.75
    ).series
    assert zoomed.x == [8.0, 9.0], "with a neighbor on each side, so that a line can be drawn"


def test_evaluations_are_read_once_until_the_run_changes(
    runs_dir: Path, monkeypatch: pytest.MonkeyPatch
):
    run = make_run(runs_dir, [0.0] * 10)
    read: list[str] = []

    def counted(run: Run) -> list[dict[str, float]]:
        read.append(run.id)
        return read_evaluation_rows(run)

    monkeypatch.setattr(evaluation_curves, "read_evaluation_rows", counted)
    for i in (11, 12):
        with MetricStore(run.path / "metrics.db", "w") as store:
            clocks = {"clock/rollouts": float(i), VEC_STEPS: 16.0 * i, ENV_STEPS: 128.0 * i}
            store.append(
                clocks | {"eval:clock/env_steps": 64.0 * i, "eval:episode/return": 1.0 * i}
            )
        os.utime(
            run.path / "metrics.db", (i, i)
        )  # a file that has just been written is not relied on
        for low in (None, 100.0, None):
            (series,) = api.curves([run.id], ["eval:*"], x="env_steps", low=low).series[1:]
            assert series.mean == [11.0, 12.0][: i - 10]
    assert len(read) == 2


def test_many_runs_have_fewer_points_each(runs_dir: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(curves_api_module(), "MAX_POINTS", 60)
    runs = [make_run(runs_dir, [float(i) for i in range(100)]) for _ in range(3)]
    found = api.curves([run.id for run in runs], ["policy/kl"])
    assert [len(series.x) for series in found.series] == [20] * 3


def curves_api_module() -> object:
    import sys

    assert curves_api is api.curves
    return sys.modules["gymnast.api.curves"]


def test_names_may_end_in_a_star_and_unknown_ones_are_refused(runs_dir: Path):
    run = make_run(runs_dir, [1.0, 2.0, 3.0])
    nothing = Run.create(runs_dir, config_text="", preset="A:ppo", seed=0, provenance={})
    both = [run.id, nothing.id]
    assert {s.key for s in api.curves(both, ["policy/*"]).series} == {"policy/kl", "policy/entropy"}
    assert {s.key for s in api.curves([run.id]).series} >= {VEC_STEPS, "policy/kl"}
    empty = api.curves([nothing.id], ["policy/kl"])
    assert (empty.series, empty.range, empty.runs[0].rows) == ([], None, 0)
    with pytest.raises(UsageError, match="did you mean policy/kl"):
        api.curves([run.id], ["policy/k"])
    with pytest.raises(UsageError, match="none of the runs has a metric 'value/"):
        api.curves(both, ["value/*"])
    with pytest.raises(UsageError, match="fewer than 2"):
        api.curves([run.id], points=1)
    with pytest.raises(RunError, match="nobody"):
        api.curves([run.id, "nobody"])


def test_a_run_is_found_by_its_id_its_name_and_a_prefix_and_drawn_once(runs_dir: Path):
    run = make_run(runs_dir, [1.0], name="mine")
    found = api.curves([run.id, "mine", run.id[:6]], ["policy/kl"])
    assert [source.run for source in found.runs] == [run.id]


def test_a_resume_replaces_rows(runs_dir: Path):
    run = make_run(runs_dir, [float(i) for i in range(3000)])
    before = api.curves([run.id], ["policy/kl"], points=10)
    with MetricStore(run.path / "metrics.db", "w") as store:
        store.supersede(after_rollouts=1000)
    write_rows(run, [-5.0], first=1001)
    after = api.curves([run.id], ["policy/kl"], points=10)
    assert after.runs[0].attempt > before.runs[0].attempt
    (series,) = after.series
    assert (series.total, max(series.high), min(series.low)) == (1001, 999.0, -5.0)


def test_a_damaged_store_does_not_hide_the_other_runs(runs_dir: Path):
    intact = make_run(runs_dir, [1.0, 2.0, 3.0])
    no_store, cut = (make_run(runs_dir, [float(i) for i in range(9000)]) for _ in range(2))
    (no_store.path / "metrics.db").write_bytes(b"no sqlite file" * 1000)
    whole = (cut.path / "metrics.db").read_bytes()
    (cut.path / "metrics.db").write_bytes(whole[: len(whole) // 2])
    for names in (["policy/kl"], []):
        found = api.curves([no_store.id, intact.id, cut.id], names)
        assert {series.run for series in found.series} == {intact.id}
        assert {source.run: (bool(source.problem), source.rows) for source in found.runs} == {
            no_store.id: (True, 0),
            intact.id: (False, 3),
            cut.id: (True, 0),
        }
    assert str(no_store.path) in found.runs[0].problem, "it says which file"
    for damaged in (no_store, cut):
        with pytest.raises(RunError, match="metric store"):
            api.curves([damaged.id], ["policy/kl"])


def test_damaged_evaluations_leave_the_other_series(
    runs_dir: Path, monkeypatch: pytest.MonkeyPatch
):
    runs = [make_run(runs_dir, [1.0, 2.0]) for _ in range(2)]
    for run in runs:
        with MetricStore(run.path / "metrics.db", "w") as store:
            clocks = {"clock/rollouts": 3.0, VEC_STEPS: 48.0, ENV_STEPS: 384.0}
            store.append(clocks | {"eval:clock/env_steps": 256.0, "eval:episode/return": 5.0})
    read = read_evaluation_rows

    def read_one(run: Run) -> list[dict[str, float]]:
        if run.id == runs[0].id:
            raise RunError("cannot read the metric store: damaged")
        return read(run)

    monkeypatch.setattr(evaluation_curves, "read_evaluation_rows", read_one)
    found = api.curves([run.id for run in runs], ["policy/kl", "eval:episode/return"])
    assert [(s.run, s.key) for s in found.series] == [
        (runs[0].id, "policy/kl"),
        (runs[1].id, "policy/kl"),
        (runs[1].id, "eval:episode/return"),
    ]
    assert [bool(source.problem) for source in found.runs] == [True, False]
    with pytest.raises(RunError, match="damaged"):
        api.curves([runs[0].id], ["eval:episode/return"])
