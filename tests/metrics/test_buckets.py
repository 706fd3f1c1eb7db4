"""Series for charts have every extreme of the rows, whatever was summarized, and few points are exact."""

from __future__ import annotations

import math
import os
import sqlite3
from contextlib import AbstractContextManager
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gymnast.metrics import block_reader, buckets
from gymnast.metrics.buckets import Series, buckets_on_grid, read_buckets, read_series
from gymnast.metrics.column_cache import ColumnCache, FileState
from gymnast.metrics.store import MetricStore
from gymnast.metrics.summaries import BLOCK_ROWS, LEVELS, SUMMARY_ROWS

CLOCK = "vec_steps"
X = f"clock/{CLOCK}"
DENSE, LATE, SPARSE, ROUGH = "policy/kl", "value/loss", "eval:episode/return", "policy/entropy"
NAMES = [DENSE, LATE, SPARSE, ROUGH]
Row = dict[str, float]


def make_row(i: int, rng: np.random.Generator, attempt: int) -> Row:
    """Returns the row of rollout i: `LATE` starts late, `SPARSE` is in few rows, `ROUGH` may be NaN or
    infinite. Values depend on the attempt, so that superseded rows are recognized."""
    row = {"clock/rollouts": float(i), X: 16.0 * i + attempt, DENSE: rng.normal() + 100 * attempt}
    if i > 500:
        row[LATE] = rng.normal()
    if i % 97 == 0:
        row[SPARSE] = float(i)
    row[ROUGH] = rng.choice([math.nan, math.inf, -math.inf, 0.0, rng.normal() * 1e300])
    return row


def write(path: Path, lengths: list[tuple[int, int]], seed: int) -> None:
    """Writes attempts: each goes back by some rollouts, then appends rows; a new process each time."""
    rng, rollouts = np.random.default_rng(seed), 0
    for attempt, (back, more) in enumerate(lengths):
        with MetricStore(path, "w") as store:
            rollouts = max(rollouts - back, 0)
            store.supersede(rollouts, keep=1)
            for i in range(rollouts + 1, rollouts + more + 1):
                store.append(make_row(i, rng, attempt))
            rollouts += more


def rows_in(path: Path, name: str, low: float = -math.inf, high: float = math.inf) -> np.ndarray:
    """Returns x and value of every row with the metric in a range, from the rows themselves: [rows, 2]."""
    with MetricStore(path) as store:
        pairs = [(row[X], row[name]) for row in store.rows() if name in row]
    return np.array([p for p in pairs if low <= p[0] <= high]).reshape(-1, 2)


def check(series: Series, rows: np.ndarray, points: int) -> None:
    """Compares a series with all rows of the range that it covers."""
    assert len(series.x) == len(series.mean) == len(series.low) == len(series.high) <= points
    assert series.total == len(rows)
    if len(rows) <= points:
        assert not series.is_reduced
        for part, column in ((series.x, 0), (series.mean, 1), (series.low, 1), (series.high, 1)):
            assert part.tobytes() == np.ascontiguousarray(rows[:, column]).tobytes()
        return
    assert (np.diff(series.x) > 0).all()
    valid = rows[rows[:, 1] == rows[:, 1], 1]
    if not len(valid):
        assert np.isnan(series.mean).all()
        return
    assert np.nanmin(series.low) == valid.min()
    assert np.nanmax(series.high) == valid.max()
    assert set(series.low[series.low == series.low]) <= set(valid)
    assert set(series.high[series.high == series.high]) <= set(valid)
    known = series.mean == series.mean
    assert (series.low[known] <= series.mean[known]).all()
    assert (series.mean[known] <= series.high[known]).all()


attempts = st.lists(st.tuples(st.integers(0, 900), st.integers(0, 2600)), min_size=1, max_size=3)


@settings(deadline=None, max_examples=12)
@given(lengths=attempts, seed=st.integers(0, 99), points=st.integers(2, 400), few=st.booleans())
def test_every_extreme_is_in_the_series_and_few_points_are_exact(
    tmp_path_factory: pytest.TempPathFactory,
    lengths: list[tuple[int, int]],
    seed: int,
    points: int,
    few: bool,
):
    path = tmp_path_factory.mktemp("store") / "metrics.db"
    write(path, lengths, seed)
    stored = read_series(path, NAMES, CLOCK, points=points, max_rows=0 if few else 10**9)
    assert stored.rows == len(rows_in(path, DENSE))
    for name in NAMES:
        rows = rows_in(path, name)
        assert (name in stored.names) == (len(rows) > 0)
        if not len(rows):
            continue
        check(buckets.buckets_of_rows(stored, name, points), rows, points)


@settings(deadline=None, max_examples=12)
@given(
    lengths=attempts,
    seed=st.integers(0, 99),
    ends=st.tuples(st.floats(-0.1, 1.1), st.floats(-0.1, 1.1)),
    points=st.integers(2, 60),
)
def test_a_zoom_has_every_extreme_of_its_range_and_little_else(
    tmp_path_factory: pytest.TempPathFactory,
    lengths: list[tuple[int, int]],
    seed: int,
    ends: tuple[float, float],
    points: int,
):
    path = tmp_path_factory.mktemp("store") / "metrics.db"
    write(path, lengths, seed)
    everything = rows_in(path, DENSE)
    span = everything[-1, 0] if len(everything) else 100.0
    low, high = sorted(end * span for end in ends)
    stored = read_series(path, NAMES, CLOCK, points=points, low=low, high=high, max_rows=0)
    for name in stored.names:
        rows = rows_in(path, name, low, high)
        series = buckets.buckets_of_rows(stored, name, points)
        if len(rows) <= points and not series.is_reduced:
            check(series, rows, points)
            continue
        valid = rows[rows[:, 1] == rows[:, 1], 1]
        if len(valid):
            assert np.nanmin(series.low) <= valid.min()
            assert np.nanmax(series.high) >= valid.max()
        # Blocks at both ends may reach beyond the range.
        assert len(rows) <= series.total <= len(rows) + 2 * BLOCK_ROWS[0]


@settings(deadline=None, max_examples=12)
@given(lengths=attempts, seed=st.integers(0, 99), points=st.integers(2, 60))
def test_a_shared_grid_has_the_extremes_of_every_bucket(
    tmp_path_factory: pytest.TempPathFactory,
    lengths: list[tuple[int, int]],
    seed: int,
    points: int,
):
    path = tmp_path_factory.mktemp("store") / "metrics.db"
    write(path, lengths, seed)
    edges = np.linspace(0.0, 50_000.0, points + 1)
    stored = read_series(path, NAMES, CLOCK, points=points, max_rows=10**9)
    for name in stored.names:
        rows = rows_in(path, name)
        (series,) = buckets_on_grid([stored], name, edges)
        assert len(series.x) == points
        place = np.clip((rows[:, 0] / 50_000.0 * points).astype(int), 0, points - 1)
        for bucket in range(points):
            inside = rows[place == bucket, 1]
            valid = inside[inside == inside]
            if len(valid):
                found = (series.low[bucket], series.high[bucket])
                assert found == (valid.min(), valid.max())
                if name == DENSE:
                    assert series.mean[bucket] == pytest.approx(valid.mean(), rel=1e-12, abs=1e-12)
            elif len(inside):
                assert np.isnan(series.mean[bucket]), "NaN rows are a gap"


def test_a_store_of_the_older_format_gives_the_same_series(tmp_path: Path):
    path = tmp_path / "metrics.db"
    write(path, [(0, 3000), (700, 900)], seed=1)
    expected = read_buckets(path, NAMES, CLOCK, points=50)
    coarse = read_series(path, NAMES, CLOCK, points=20, max_rows=0)
    with sqlite3.connect(path) as db:
        db.executescript(
            "DROP TABLE summaries; DROP TABLE summary_columns; DROP INDEX rows_by_schema;"
            "UPDATE meta SET version = 2"
        )
    found = read_buckets(path, NAMES, CLOCK, points=50)
    from_rows = read_series(path, NAMES, CLOCK, points=20, max_rows=0)
    assert found.keys() == expected.keys()
    for name in NAMES:
        np.testing.assert_array_equal(found[name].low, expected[name].low)
        np.testing.assert_array_equal(found[name].mean, expected[name].mean)
        check(buckets.buckets_of_rows(from_rows, name, 20), rows_in(path, name), 20)
        assert from_rows.of(name).recorded.sum() == coarse.of(name).recorded.sum()


def summaries(path: Path) -> dict[int, list[tuple[int, int]]]:
    """Returns level -> first and last position of each summary."""
    found: dict[int, list[tuple[int, int]]] = {level: [] for level in range(LEVELS)}
    with sqlite3.connect(path) as db:
        for level, *ends in db.execute("SELECT level, first, last FROM summaries ORDER BY first"):
            found[level].append(tuple(ends))
    return found


def test_the_summaries_of_a_level_follow_each_other_and_are_dropped_with_superseded_rows(
    tmp_path: Path,
):
    path = tmp_path / "metrics.db"
    write(path, [(0, SUMMARY_ROWS[2] + SUMMARY_ROWS[1] + 3 * SUMMARY_ROWS[0] + 100)], seed=0)
    found = summaries(path)
    assert {level: len(of) for level, of in found.items()} == {0: 3, 1: 9, 2: 1, 3: 0}
    assert found[0][0][0] == found[1][-1][1] + 1
    assert found[1][0][0] == found[2][0][0] == 1
    for of in found.values():
        assert all(a[1] + 1 == b[0] for a, b in pairwise(of))
    with MetricStore(path, "w") as store:
        store.supersede(after_rollouts=2 * SUMMARY_ROWS[1] + 10)
    assert {level: len(of) for level, of in summaries(path).items()} == {0: 0, 1: 2, 2: 0, 3: 0}
    write(path, [(0, 1)], seed=0)
    check(read_buckets(path, [DENSE], CLOCK, points=10)[DENSE], rows_in(path, DENSE), 10)


def test_a_store_of_the_older_format_is_converted_when_rows_are_appended(tmp_path: Path):
    path = tmp_path / "metrics.db"
    write(path, [(0, 3 * SUMMARY_ROWS[0])], seed=0)
    with sqlite3.connect(path) as db:
        db.executescript(
            "DROP TABLE summaries; DROP TABLE summary_columns; DROP INDEX rows_by_schema;"
            "UPDATE meta SET version = 2"
        )
    with MetricStore(path, "w") as store:
        store.append(make_row(3 * SUMMARY_ROWS[0] + 1, np.random.default_rng(0), 0))
    assert len(summaries(path)[0]) == 3
    stored = read_series(path, NAMES, CLOCK, points=10, max_rows=0)
    check(buckets.buckets_of_rows(stored, DENSE, 10), rows_in(path, DENSE), 10)


def test_rows_and_their_summaries_are_committed_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """A commit that fails leaves neither; the next one writes both."""
    from gymnast.metrics import summaries as written

    path = tmp_path / "metrics.db"
    rng = np.random.default_rng(0)
    with MetricStore(path, "w") as store:
        for i in range(1, SUMMARY_ROWS[0]):
            store.append(make_row(i, rng, 0))
        store.flush()

        def fail(*_: object) -> None:
            raise sqlite3.OperationalError("disk full")

        with monkeypatch.context() as patched:
            patched.setattr(written, "_write", fail)
            with pytest.raises(Exception, match="disk full"):
                store.append(make_row(SUMMARY_ROWS[0], rng, 0)) or store.flush()
        assert summaries(path)[0] == []
        with MetricStore(path) as reader:
            assert len(list(reader.rows())) == SUMMARY_ROWS[0] - 1
        store.flush()
    assert summaries(path)[0] == [(1, SUMMARY_ROWS[0])]
    assert len(rows_in(path, DENSE)) == SUMMARY_ROWS[0]


def test_what_is_read_does_not_grow_with_the_rows(tmp_path: Path):
    path = tmp_path / "metrics.db"
    write(path, [(0, 2 * SUMMARY_ROWS[2])], seed=0)
    stored = read_series(path, [DENSE], CLOCK, points=10, max_rows=100, max_blocks=200)
    assert len(stored.blocks) == 2 * SUMMARY_ROWS[2] // BLOCK_ROWS[2]
    low, high = 160_000.0, 162_400.0
    zoomed = read_series(path, [DENSE], CLOCK, points=10, max_rows=5000, low=low, high=high)
    assert zoomed.blocks.recorded.max() == 1, "the rows of a small range are read one by one"
    assert zoomed.blocks.recorded[1].sum() == 151
    exact = read_series(path, [DENSE], CLOCK, points=200, max_rows=0, low=low, high=high)
    assert exact.is_exact(DENSE)


def test_what_is_in_the_cache_is_not_read_again_and_new_rows_are_not_missed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    path = tmp_path / "metrics.db"
    write(path, [(0, 3000)], seed=0)
    opened: list[Path] = []

    snapshot = block_reader.POOL.snapshot

    def counted(
        path: Path, state: FileState | None
    ) -> AbstractContextManager[sqlite3.Connection | None]:
        opened.append(path)
        return snapshot(path, state)

    monkeypatch.setattr(block_reader.POOL, "snapshot", counted)
    os.utime(path, (1, 1))  # a file that has been written just now might change without notice
    first = read_series(path, [DENSE], CLOCK, points=10, max_rows=0)
    again = read_series(path, [DENSE], CLOCK, points=10, max_rows=0, low=8000.0, high=30_000.0)
    assert len(opened) == 1
    check(buckets.buckets_of_rows(first, DENSE, 10), rows_in(path, DENSE), 10)
    assert set(again.blocks.low[1]) < set(first.blocks.low[1])
    write(path, [(0, 3000), (1000, 900)], seed=1)
    for now in range(2, 4):
        last = read_series(path, [DENSE], CLOCK, points=10, max_rows=0)
        check(buckets.buckets_of_rows(last, DENSE, 10), rows_in(path, DENSE), 10)
        os.utime(path, (now, now))


def test_the_cache_drops_what_was_not_used_for_the_longest_time():
    column = np.zeros(5)
    cache = ColumnCache(max_bytes=3 * column.nbytes)
    for number in range(10):
        cache.add_columns(f"store{number}", 1, {DENSE: {1: column}})
        cache.columns("store0", 1)
    known = [n for n in range(10) if cache.columns(f"store{n}", 1)]
    assert known == [0, 8, 9]
