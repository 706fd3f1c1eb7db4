"""Connections to metric stores stay open for the next chart, and never hinder a writer."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

import pytest

from gymnast.metrics import block_reader, reader_pool
from gymnast.metrics.buckets import read_series
from gymnast.metrics.database import open_reader
from gymnast.metrics.reader_pool import ReaderPool
from gymnast.metrics.store import MetricStore

CLOCK = "vec_steps"
KEYS = ["policy/kl", "policy/entropy", "value/loss"]


def make_row(i: int) -> dict[str, float]:
    return {"clock/rollouts": float(i), f"clock/{CLOCK}": 16.0 * i} | dict.fromkeys(KEYS, float(i))


def write(path: Path, rows: int) -> None:
    with MetricStore(path, "w") as store:
        for i in range(1, rows + 1):
            store.append(make_row(i))


def test_an_open_connection_is_reused_until_the_store_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    path = tmp_path / "metrics.db"
    write(path, 3000)
    os.utime(path, (1, 1))
    opened: list[Path] = []

    def counted(path: Path) -> sqlite3.Connection | None:
        opened.append(path)
        return open_reader(path)

    pool = ReaderPool()
    monkeypatch.setattr(block_reader, "POOL", pool)
    monkeypatch.setattr(reader_pool, "open_reader", counted)
    for name in KEYS:
        read_series(path, [name], CLOCK, points=10, max_rows=0)
    assert (len(opened), len(pool)) == (1, 1)
    with MetricStore(path, "w") as store:
        store.append(make_row(3001))
        store.flush()
        os.utime(path, (2, 2))
        os.utime(f"{path}-wal", (2, 2))
        during = read_series(path, KEYS, CLOCK, points=10, max_rows=0)
        assert during.rows == 3001
        assert len(pool) == 0, "the trainer could not leave WAL mode"
    assert not path.with_name("metrics.db-wal").exists()
    with sqlite3.connect(path) as db:
        assert db.execute("PRAGMA journal_mode").fetchone() == ("delete",)
    assert read_series(path, KEYS, CLOCK, points=10, max_rows=0).rows == 3001


def test_few_connections_stay_open_and_none_to_deleted_stores(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    pool = ReaderPool(max_idle=2)
    monkeypatch.setattr(block_reader, "POOL", pool)
    paths = [tmp_path / f"{number}" / "metrics.db" for number in range(4)]
    for path in paths:
        write(path, 10)
        os.utime(path, (1, 1))
        read_series(path, KEYS, CLOCK, points=10)
    assert len(pool) == 2
    paths[-1].unlink()
    assert read_series(paths[-1], KEYS, CLOCK, points=10).rows == 0
    pool.close()
    assert len(pool) == 0
    assert read_series(paths[-2], KEYS, CLOCK, points=10).rows == 10
