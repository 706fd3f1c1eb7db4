"""The metric store: an append-only sqlite file with all rows of a run, as float64 without rounding.

One process writes while any number of processes read. Superseded rows (those after the checkpoint that a
resume started from) stay in the file and are skipped when reading.
"""

from __future__ import annotations

import json
import math
import sqlite3
import struct
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import RLock, Timer
from typing import TYPE_CHECKING, Literal

from gymnast.errors import RunError
from gymnast.metrics.database import (
    check_version,
    explain_read_errors,
    open_reader,
    open_writer,
    schema_names,
)
from gymnast.metrics.summaries import SummaryWriter

if TYPE_CHECKING:
    import numpy as np

COMMIT_SECONDS, COMMIT_ROWS = 1.0, 100
"""A row is committed to disk after at most this many seconds or rows."""


class MetricStore:
    """The file `metrics.db` of a run. Use it as a context manager, or call `close()`.

    Opened for reading (`r`), a missing file is an empty store: the run has not written a row yet. Opened for
    writing (`w`), rows are appended, under the next attempt number unless `attempt` is given.
    """

    def __init__(
        self, path: str | Path, mode: Literal["r", "w"] = "r", *, attempt: int | None = None
    ) -> None:
        """`attempt`: the number stored with rows; None for the next one when writing, the latest one when
        reading. Raises RunError if the file cannot be opened, is no metric store or has another format
        version."""
        self.path = Path(path)
        self._lock = RLock()  # the timer's thread flushes too
        self._pending: list[Mapping[str, float]] = []
        """Rows that are not committed yet."""
        self._schemas: dict[tuple[str, ...], tuple[int, struct.Struct]] = {}
        """Keys of a row -> id of its schema, and the format of its values. A row stores only the id."""
        self._summaries = SummaryWriter()
        self._committed_at = -math.inf
        self._timer: Timer | None = None
        self._db = open_writer(self.path) if mode == "w" else open_reader(self.path)
        self._writes = mode == "w"
        if self._db is not None and not check_version(self._db, self.path):
            self._db = None
        self.attempt = attempt if attempt is not None else self._next_attempt()

    def append(self, row: Mapping[str, float]) -> None:
        """Appends a row, which the caller must not change afterwards; it is on disk within a second. Raises
        RunError if the store is read-only, if the row lacks `clock/rollouts`, or if it cannot be written."""
        if not self._writes:
            raise RunError("the metric store was opened read-only", at=str(self.path))
        if "clock/rollouts" not in row:
            raise RunError("a row without clock/rollouts cannot be stored", at=str(self.path))
        with self._lock:
            self._pending.append(row)
            # A commit waits for the disk, so fast rollouts share one; the timer limits what a crash loses.
            wait = self._committed_at + COMMIT_SECONDS - time.monotonic()
            if wait <= 0 or len(self._pending) >= COMMIT_ROWS:
                self.flush()
            elif self._timer is None:
                self._timer = Timer(wait, self._flush_late)
                self._timer.daemon = True
                self._timer.start()

    def flush(self) -> None:
        """Commits every pending row to disk now. Raises RunError if that fails; the rows then stay
        pending."""
        with self._lock:
            self._stop_timer()
            if not self._pending:
                return
            try:
                packed = [self._packed(row) for row in self._pending]
                with self._database as db:
                    db.executemany(
                        "INSERT INTO rows (attempt, rollouts, schema, data) VALUES (?, ?, ?, ?)",
                        packed,
                    )
                    self._summaries.add(db, [(schema, data) for _, _, schema, data in packed])
            except BaseException as error:
                self._summaries.forget()  # it may have counted rows that are not in the file
                if not isinstance(error, sqlite3.Error):
                    raise
                raise RunError(
                    f"cannot write the metric store: {error}", at=str(self.path)
                ) from error
            self._pending.clear()
            self._committed_at = time.monotonic()

    def supersede(self, after_rollouts: int, keep: int | None = None) -> int:
        """Marks rows as superseded and returns how many: all rows after the rollout number `after_rollouts`,
        and of the rows of that rollout all but the first `keep` (None: none of them)."""
        with self._lock:
            self.flush()
            with self._database as db:
                attempt = max(self.attempt, 1)
                # "LIMIT -1 OFFSET n" selects all but the first n rows of this rollout, in the order
                # of writing: its own row, then late rows with a score.
                marked = db.execute(
                    "UPDATE rows SET superseded = ? WHERE superseded = 0 AND (rollouts > ? OR id IN"
                    " (SELECT id FROM rows WHERE rollouts = ? AND superseded = 0"
                    " ORDER BY id LIMIT -1 OFFSET ?)) RETURNING id",
                    (attempt, after_rollouts, after_rollouts, 1 << 40 if keep is None else keep),
                ).fetchall()
                if marked:
                    self._summaries.drop_after(db, min(marked)[0])
            return len(marked)

    def read(
        self, names: Sequence[str] | None = None, last: int | None = None
    ) -> dict[str, np.ndarray]:
        """Returns name -> column, float64 [rows] in chronological order, NaN where a row lacks the key.
        Superseded rows are skipped.

        `names` selects columns (default: all); a name that no row has gives a column of NaN. `last` limits
        the result to the latest rows.
        """
        import numpy as np

        schemas, found = self._select(last)
        ids, blobs = [schema for _, schema, _ in found], [data for _, _, data in found]
        every_name = list(dict.fromkeys(n for key in dict.fromkeys(ids) for n in schemas[key]))
        selected = every_name if names is None else names
        columns = {name: np.full(len(ids), math.nan) for name in selected}
        # Rows with the same schema are decoded together, as one block [rows, names].
        schema_of_row = np.array(ids, dtype=np.int64)
        for key in dict.fromkeys(ids):
            at = np.flatnonzero(schema_of_row == key)
            packed = b"".join(blobs[i] for i in at)
            block = np.frombuffer(packed, dtype="<f8").reshape(len(at), len(schemas[key]))
            for column, name in enumerate(schemas[key]):
                if name in columns:
                    columns[name][at] = block[:, column]
        return columns

    def names(self) -> list[str]:
        """Returns every key that a row has, superseded rows excepted, without reading the values."""
        if self._db is None and not self._writes:
            return []
        with self._lock:
            if self._writes:
                self.flush()
            query = (
                "SELECT names FROM schemas WHERE EXISTS"
                " (SELECT 1 FROM rows WHERE schema = schemas.id AND superseded = 0)"
            )
            schemas = self._database.execute(query).fetchall()
        return list(dict.fromkeys(name for (text,) in schemas for name in schema_names(text)))

    def count(self, limit: int) -> int:
        """Returns the number of rows, superseded ones excepted, or `limit` if there are more."""
        with self.snapshot() as db:
            if db is None:
                return 0
            query = "SELECT count(*) FROM (SELECT 1 FROM rows WHERE superseded = 0 LIMIT ?)"
            return db.execute(query, (limit,)).fetchone()[0]

    def rows(self, last: int | None = None) -> Iterator[dict[str, float]]:
        """Yields the rows as they were written, each with its own keys, without superseded ones; with `last`,
        only the latest ones. Does not need NumPy."""
        return (row for _, row in self.numbered_rows(last))

    def numbered_rows(
        self, last: int | None = None, *, after: int = 0, limit: int | None = None
    ) -> Iterator[tuple[int, dict[str, float]]]:
        """Yields what `rows` yields, each with its position, which grows in the order of writing. `after`:
        only rows after this position; `limit`: at most that many, from the earliest on."""
        schemas, found = self._select(last, after, limit)
        for position, key, blob in found:
            names = schemas[key]
            row = dict(zip(names, struct.unpack(f"<{len(names)}d", blob), strict=True))
            yield position, row

    @contextmanager
    def snapshot(self) -> Iterator[sqlite3.Connection | None]:
        """Yields the database, in a transaction: what is read inside belongs together, whatever is written
        meanwhile. None if the file does not exist yet. Raises RunError if it cannot be read."""
        if self._db is None and not self._writes:
            yield None
            return
        with self._lock, explain_read_errors(self.path):
            if self._writes:
                self.flush()
            self._database.execute("BEGIN")
            try:
                yield self._database
            finally:
                self._database.rollback()

    def close(self) -> None:
        """Writes the pending rows and closes the file. A second call does nothing."""
        with self._lock:
            if self._db is None:
                return
            try:
                if self._writes:
                    self.flush()
            finally:
                self._stop_timer()
                if self._writes:  # without WAL it is a single file, readable on read-only disks too
                    with suppress(sqlite3.Error):
                        self._db.execute("PRAGMA busy_timeout = 0")
                        self._db.execute("PRAGMA journal_mode = DELETE")
                self._db.close()
                self._db = None

    def __enter__(self) -> MetricStore:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def _database(self) -> sqlite3.Connection:
        if self._db is None:
            raise RunError("the metric store is closed", at=str(self.path))
        return self._db

    def _select(
        self, last: int | None, after: int = 0, limit: int | None = None
    ) -> tuple[dict[int, list[str]], list[tuple[int, int, bytes]]]:
        """Returns schema id -> names, and the position, the schema id and the packed values of each row that
        is not superseded, in chronological order. `last`: only the latest rows; `after`: only rows after this
        position; `limit`: only the first ones of these; None: all."""
        if self._db is None and not self._writes:
            return {}, []
        with self._lock, explain_read_errors(self.path):
            if self._writes:
                self.flush()
            order, count = ("DESC", last) if last is not None else ("ASC", limit)
            query = "SELECT id, schema, data FROM rows WHERE superseded = 0 AND id > ? ORDER BY id"
            arguments = (after, -1 if count is None else count)
            rows = self._database.execute(f"{query} {order} LIMIT ?", arguments).fetchall()
            # read after the rows, so that every schema they refer to is there
            schemas = self._database.execute("SELECT id, names FROM schemas").fetchall()
        names = {key: schema_names(text) for key, text in schemas}
        return names, rows[::-1] if last is not None else rows

    def _packed(self, row: Mapping[str, float]) -> tuple[int, int, int, bytes]:
        """Returns a row as the columns of the `rows` table: attempt, rollouts, schema id, packed values."""
        schema, packer = self._schemas.get(names := tuple(row)) or self._add_schema(names)
        values = [*row.values()]
        # the sum is NaN if any value is (or by inf - inf): a fast test for the rare slow path
        data = packer.pack(*(map(_plain, values) if math.isnan(sum(values)) else values))
        return self.attempt, int(row["clock/rollouts"]), schema, data

    def _add_schema(self, names: tuple[str, ...]) -> tuple[int, struct.Struct]:
        """Returns the id of the schema with these names, which is created if it is new, and the binary format
        of its values."""
        text = json.dumps(names)
        with self._database as db:
            db.execute("INSERT OR IGNORE INTO schemas (names) VALUES (?)", (text,))
        (key,) = self._database.execute(
            "SELECT id FROM schemas WHERE names = ?", (text,)
        ).fetchone()
        self._schemas[names] = (key, struct.Struct(f"<{len(names)}d"))
        return self._schemas[names]

    def _next_attempt(self) -> int:
        """Returns the number of a new attempt when writing, of the latest one when reading."""
        if self._db is None:
            return 0
        # The attempts of rows never decrease, so the last row has the largest one.
        last = self._db.execute("SELECT attempt FROM rows ORDER BY id DESC LIMIT 1").fetchone()
        largest = last[0] if last else 0
        return largest + 1 if self._writes else largest

    def _flush_late(self) -> None:
        with suppress(RunError):  # the rows stay pending: the next append retries, and raises
            self.flush()

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def _plain(value: float) -> float:
    """Maps every NaN to one bit pattern, so that exports agree bit for bit."""
    return float(value) if value == value else math.nan
