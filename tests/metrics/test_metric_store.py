"""The metric store: bit-identical values in every format, concurrent readers, killed writers."""

from __future__ import annotations

import csv
import io
import math
import os
import signal
import sqlite3
import struct
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gymnast.errors import RunError
from gymnast.metrics.database import is_on_network
from gymnast.metrics.export import to_csv
from gymnast.metrics.store import COMMIT_ROWS, COMMIT_SECONDS, MetricStore
from tests.waiting import PATIENCE, wait_for

AWKWARD = [math.nan, math.inf, -math.inf, 5e-324, 1.7976931348623157e308, -0.0, 0.0, 0.1, 5e-4]
AWKWARD += [1 / 3, 2.0**53, struct.unpack("<d", b"\x01\x02\x03\x04\x05\x06\xf8\xff")[0]]  # odd NaN


def bits(value: float) -> bytes:
    return struct.pack("<d", value if value == value else math.nan)


def views(store: MetricStore) -> dict[str, list[dict[str, bytes]]]:
    """Returns format -> rows, key -> bits of the value, for every way of reading the store."""
    head, *lines = csv.reader(io.StringIO(to_csv(store)))
    columns = store.read()
    rows = list(store.rows())
    return {
        "rows": [{k: bits(v) for k, v in row.items()} for row in rows],
        "csv": [
            {k: bits(float(v)) for k, v in zip(head, line, strict=True) if v} for line in lines
        ],
        "columns": [{k: columns[k][i].tobytes() for k in row} for i, row in enumerate(rows)],
    }


def test_store_and_csv_agree_bit_for_bit(tmp_path, row):
    with MetricStore(tmp_path / "metrics.db", "w") as store:
        for i, value in enumerate(AWKWARD):
            store.append(row(i, policy__loss=value, value__mean=-value))
    with MetricStore(tmp_path / "metrics.db") as store:
        formats = views(store)
    assert [r["policy/loss"] for r in formats["rows"]] == [bits(v) for v in AWKWARD]
    assert formats["rows"] == formats["csv"] == formats["columns"]


@settings(deadline=None, max_examples=40)
@given(values=st.lists(st.floats(width=64), min_size=1, max_size=20))
def test_any_float_survives_every_view(tmp_path_factory, values):
    path = tmp_path_factory.mktemp("store") / "metrics.db"
    with MetricStore(path, "w") as store:
        for i, value in enumerate(values):
            store.append({"clock/rollouts": float(i), "policy/loss": value})
        formats = views(store)
    assert [r["policy/loss"] for r in formats["csv"]] == [bits(v) for v in values]
    assert formats["rows"] == formats["csv"] == formats["columns"]


def test_stored_values_are_not_rounded_to_the_displayed_digits(tmp_path):
    with MetricStore(tmp_path / "metrics.db", "w") as store:
        store.append({"clock/rollouts": 1.0, "hyper/lr": 5e-4 * (1 - 1e-12)})
        assert f"{5e-4 * (1 - 1e-12)!r}" in to_csv(store)


def test_missing_keys_are_nan_or_empty_and_never_zero(tmp_path, row):
    with MetricStore(tmp_path / "metrics.db", "w") as store:
        store.append(row(1, policy__loss=1.0))
        store.append(row(2, {"eval:episode/return": 9.0}, policy__loss=2.0))
        store.append(row(3))
        store.append({"policy/loss": 4.0, **row(4)})  # another order of the same keys
        columns = store.read(["eval:episode/return", "policy/loss", "never/seen"])
        assert store.read(last=2)["clock/rollouts"].tolist() == [3, 4]
        lines = list(csv.DictReader(io.StringIO(to_csv(store))))
    np.testing.assert_array_equal(columns["eval:episode/return"], [math.nan, 9, math.nan, math.nan])
    np.testing.assert_array_equal(columns["policy/loss"], [1, 2, math.nan, 4])
    np.testing.assert_array_equal(columns["never/seen"], [math.nan] * 4)
    assert [line["policy/loss"] for line in lines] == ["1.0", "2.0", "", "4.0"]


def test_superseded_rows_stay_in_the_file_but_are_not_read(tmp_path, row):
    path = tmp_path / "metrics.db"
    with MetricStore(path, "w") as store:
        for i in range(1, 6):
            store.append(row(i))
    with MetricStore(path, "w") as store:
        assert store.attempt == 2
        assert store.supersede(after_rollouts=3) == 2
        store.append(row(4))
        store.append(row(5))
    with MetricStore(path) as store:
        assert store.read()["clock/rollouts"].tolist() == [1, 2, 3, 4, 5]
        assert [r["clock/rollouts"] for r in store.rows(last=2)] == [4, 5]
    with sqlite3.connect(path) as db:
        kept = db.execute("SELECT rollouts, attempt, superseded FROM rows").fetchall()
    assert kept == [(1, 1, 0), (2, 1, 0), (3, 1, 0), (4, 1, 2), (5, 1, 2), (4, 2, 0), (5, 2, 0)]
    with MetricStore(path, "w") as store:
        assert store.supersede(after_rollouts=4) == 1, (
            "rows that are already superseded are not marked again"
        )
        assert [r["clock/rollouts"] for r in store.rows()] == [1, 2, 3, 4]


def test_a_single_row_is_on_disk_within_about_a_second(tmp_path, row):
    path = tmp_path / "metrics.db"
    with MetricStore(path, "w") as store, MetricStore(path) as reader:
        store.append(row(1))  # the first is written at once
        store.append(row(2))
        assert store._timer is not None
        assert store._timer.interval <= COMMIT_SECONDS == 1.0
        assert len(list(reader.rows())) == 1
        wait_for(lambda: len(list(reader.rows())) == 2)


def test_a_hundred_pending_rows_are_committed_at_once(tmp_path, row):
    path = tmp_path / "metrics.db"
    with MetricStore(path, "w") as store, MetricStore(path) as reader:
        for i in range(101):
            store.append(row(i))
        assert len(list(reader.rows())) == 101


WRITER = """
import itertools, sys, time
from gymnast.clock import CLOCKS
from gymnast.metrics.store import MetricStore
store = MetricStore(sys.argv[1], "w")
for i in itertools.count(1):
    extra = {"eval:episode/return": float(i)} if i % 7 == 0 else {}
    store.append({f"clock/{c}": float(i) for c in CLOCKS} | {"policy/loss": i / 3} | extra)
    print(i, flush=True)
    time.sleep(0.002)
"""


@pytest.fixture
def writer(tmp_path):
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(tmp_path / "metrics.db")],
        stdout=subprocess.PIPE,
        text=True,
    )
    yield process
    process.kill()
    process.wait()
    assert process.stdout is not None
    process.stdout.close()


def test_a_reader_sees_consistent_rows_while_another_process_writes(tmp_path, writer):
    assert writer.stdout is not None
    writer.stdout.readline()
    seen = 0
    deadline = time.monotonic() + PATIENCE
    with MetricStore(tmp_path / "metrics.db") as reader:
        while seen < 250 and time.monotonic() < deadline:
            columns = reader.read(["clock/rollouts", "policy/loss", "eval:episode/return"])
            count = columns["clock/rollouts"]
            assert len(count) >= seen
            seen = len(count)
            np.testing.assert_array_equal(count, np.arange(1, seen + 1))
            np.testing.assert_array_equal(columns["policy/loss"], count / 3)
            evaluated = np.where(count % 7 == 0, count, math.nan)
            np.testing.assert_array_equal(columns["eval:episode/return"], evaluated)
    assert seen >= 250


def test_kill_9_loses_at_most_the_rows_since_the_last_commit(tmp_path, writer):
    assert writer.stdout is not None
    printed = [int(writer.stdout.readline()) for _ in range(350)]
    os.kill(writer.pid, signal.SIGKILL)
    writer.wait()
    with MetricStore(tmp_path / "metrics.db") as store:
        kept = store.read()["clock/rollouts"]
    np.testing.assert_array_equal(kept, np.arange(1, len(kept) + 1))
    assert len(kept) > printed[-1] - COMMIT_ROWS
    with MetricStore(tmp_path / "metrics.db", "w") as store:
        store.supersede(after_rollouts=10)
        assert len(list(store.rows())) == 10


def test_a_run_without_rows_has_an_empty_store(tmp_path):
    with MetricStore(tmp_path / "metrics.db") as store:
        assert store.read() == {}
        assert store.read(["policy/loss"])["policy/loss"].tolist() == []
        assert list(store.rows()) == []


def test_an_unknown_format_version_is_rejected_with_the_reason(tmp_path):
    MetricStore(tmp_path / "metrics.db", "w").close()
    with sqlite3.connect(tmp_path / "metrics.db") as db:
        db.execute("UPDATE meta SET version = 99")
    for mode in ("r", "w"):
        with pytest.raises(RunError, match="version 99; this gymnast reads versions 2 and 3"):
            MetricStore(tmp_path / "metrics.db", mode)


def test_a_file_that_is_no_database_is_rejected_with_the_reason(tmp_path):
    (tmp_path / "metrics.db").write_text(
        "not a database at all, but long enough to look like one\n" * 99
    )
    for mode in ("r", "w"):
        with pytest.raises(RunError, match="metric store"):
            MetricStore(tmp_path / "metrics.db", mode)


def test_a_store_in_a_read_only_folder_can_be_read(tmp_path, row):
    place = tmp_path / "archive"
    with MetricStore(place / "metrics.db", "w") as store:
        store.append(row(1))
    assert [p.name for p in place.iterdir()] == ["metrics.db"], "a closed store is a single file"
    (place / "metrics.db").chmod(0o444)
    place.chmod(0o555)
    try:
        with MetricStore(place / "metrics.db") as store:
            assert len(list(store.rows())) == 1
    finally:
        place.chmod(0o755)


def test_wal_is_not_used_on_a_network_file_system(tmp_path, row, monkeypatch):
    monkeypatch.setattr("gymnast.metrics.database.is_on_network", lambda _: True)
    with MetricStore(tmp_path / "metrics.db", "w") as store:
        store.append(row(1))
        assert {p.name for p in tmp_path.iterdir()} == {"metrics.db"}
        with MetricStore(tmp_path / "metrics.db") as reader:
            assert len(list(reader.rows())) == 1


@pytest.mark.parametrize(
    "kind", ["nfs4", "cifs", "lustre", "fuse.sshfs", "ext4", "tmpfs", "overlay"]
)
def test_the_innermost_mount_decides_whether_a_file_is_on_a_network_file_system(
    kind, tmp_path, row, monkeypatch
):
    mounts = tmp_path / "mounts"
    mounts.write_text(f"disk / ext4 rw 0 0\nserver:/x {tmp_path} {kind} rw 0 0\n")
    monkeypatch.setattr("gymnast.metrics.database.MOUNTS", str(mounts))
    is_network = kind not in ("ext4", "tmpfs", "overlay")
    assert is_on_network(tmp_path / "a" / "metrics.db") is is_network
    assert not is_on_network(tmp_path.parent / "metrics.db")
    (tmp_path / "run").mkdir()
    with MetricStore(tmp_path / "run" / "metrics.db", "w") as store:
        store.append(row(1))
        store.flush()
        wal = (tmp_path / "run" / "metrics.db-wal").exists()
        with MetricStore(tmp_path / "run" / "metrics.db") as reader:
            assert len(list(reader.rows())) == 1
    assert wal is not is_network
    for word in ("on", "off"):
        monkeypatch.setenv("GYMNAST_NETWORK_FILES", word)
        assert is_on_network(tmp_path) is (word == "on")


def test_a_row_needs_clock_rollouts_and_a_reader_cannot_write(tmp_path, row):
    with MetricStore(tmp_path / "metrics.db", "w") as store:
        with pytest.raises(RunError, match="clock/rollouts"):
            store.append({"policy/loss": 1.0})
        store.append(row(1))
    with MetricStore(tmp_path / "metrics.db") as store, pytest.raises(RunError, match="read-only"):
        store.append(row(2))


def test_reading_rows_does_not_import_numpy(tmp_path, row):
    path = Path(tmp_path / "metrics.db")
    with MetricStore(path, "w") as store:
        store.append(row(1))
    code = (
        "import sys; from gymnast.metrics.store import MetricStore\n"
        f"assert len(list(MetricStore({str(path)!r}).rows())) == 1\n"
        "assert not {'numpy', 'pandas', 'rich', 'torch', 'pydantic'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE rows SET data = zeroblob(100000000)",
        "ALTER TABLE rows RENAME TO stored; CREATE VIEW rows AS WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL"
        " SELECT i + 1 FROM n) SELECT i AS id, attempt, rollouts, superseded, schema, data FROM n, stored",
    ],
)
def test_a_store_with_endless_rows_or_huge_values_is_not_read(tmp_path: Path, change: str):
    with MetricStore(tmp_path / "metrics.db", "w") as store:
        store.append({"clock/rollouts": 1.0})
    with closing(sqlite3.connect(tmp_path / "metrics.db")) as db:
        db.executescript(change)
    with (
        pytest.raises(RunError, match=r"metric store"),
        MetricStore(tmp_path / "metrics.db") as store,
    ):
        store.read()
