"""Summaries of rows, which the metric store writes along with them so that charts need not read every row.

A summary covers consecutive rows with a few blocks of equal numbers of rows: for every key that a row has,
the minimum, maximum, mean and counts of each block. A summary of a higher level has larger blocks and is
merged from several of the level below. On every level, the summaries cover the rows from the first one on
without gaps; the rows after the last summary of the lowest level are read one by one. Superseded rows are in
no summary.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gymnast.metrics.blocks import Blocks, StoredRow

LEVELS = 3
BLOCKS = 8
"""Number of blocks in a summary, and of summaries that are merged into one of the next level."""
BLOCK_ROWS = 32
"""Number of rows of a block of level 0."""
SUMMARY_ROWS = BLOCKS * BLOCK_ROWS
"""Number of rows that a summary of level 0 covers."""
COLUMN = [
    ("low", "<f8", BLOCKS),
    ("high", "<f8", BLOCKS),
    ("mean", "<f8", BLOCKS),
    ("valid", "<u2", BLOCKS),
    ("recorded", "<u2", BLOCKS),
]
"""The NumPy type of a summary's data for one key."""


def block_rows(level: int) -> int:
    """Returns the number of rows of a block."""
    return BLOCK_ROWS * BLOCKS**level


class SummaryWriter:
    """Writes the summaries of rows that are appended to a store."""

    def __init__(self) -> None:
        self._loose: list[StoredRow] = []
        """The rows that no summary covers."""
        self._last: int | None = None
        """Position of the last row; None if the loose rows must be read from the store."""

    def add(self, db: sqlite3.Connection, rows: Sequence[tuple[int, bytes]]) -> None:
        """Writes the summaries that are complete with `rows` (schema id and packed values), which have just
        been inserted in the same transaction. If that fails or is rolled back, `forget` must be called."""
        (last,) = db.execute("SELECT coalesce(max(id), 0) FROM rows").fetchone()
        first = last - len(rows) + 1
        if self._last == first - 1:
            self._loose += [(first + i, *row) for i, row in enumerate(rows)]
        else:  # the first rows since the store was opened or rows were superseded
            self._loose = _loose_rows(db)
        while len(self._loose) >= SUMMARY_ROWS:
            complete, self._loose = self._loose[:SUMMARY_ROWS], self._loose[SUMMARY_ROWS:]
            _summarize(db, complete)
            # A store that had no summaries is read in parts: all of its rows might not fit into memory.
            self._loose = self._loose if self._last is not None else _loose_rows(db)
        self._last = last

    def forget(self) -> None:
        """Makes the next `add` read the loose rows from the store."""
        self._loose, self._last = [], None

    def drop_after(self, db: sqlite3.Connection, position: int) -> None:
        """Deletes the summaries of rows at or after `position`, which have been superseded."""
        self.forget()
        dropped = "SELECT id FROM summaries WHERE last >= ?"
        db.execute(f"DELETE FROM summary_columns WHERE summary IN ({dropped})", (position,))
        db.execute("DELETE FROM summaries WHERE last >= ?", (position,))


def covered(db: sqlite3.Connection, level: int) -> int:
    """Returns the position of the last row that summaries of a level cover; 0 if there are none."""
    query = "SELECT last FROM summaries WHERE level = ? ORDER BY first DESC LIMIT 1"
    found = db.execute(query, (level,)).fetchone()
    return found[0] if found else 0


def read_schemas(db: sqlite3.Connection) -> dict[int, list[str]]:
    """Returns schema id -> names of the values of rows with this schema."""
    return {key: json.loads(text) for key, text in db.execute("SELECT id, names FROM schemas")}


def _loose_rows(db: sqlite3.Connection) -> list[StoredRow]:
    """Returns the first rows that no summary covers, at most twice as many as a summary needs."""
    query = "SELECT id, schema, data FROM rows WHERE superseded = 0 AND id > ? ORDER BY id LIMIT ?"
    return db.execute(query, (covered(db, 0), 2 * SUMMARY_ROWS)).fetchall()


def _summarize(db: sqlite3.Connection, rows: Sequence[StoredRow]) -> None:
    """Writes the summary of level 0 of these rows, and those of higher levels that are complete with it."""
    from gymnast.metrics.blocks import single_rows

    schemas = read_schemas(db)
    names = list(dict.fromkeys(name for _, key, _ in rows for name in schemas[key]))
    blocks = single_rows(rows, schemas, names).merge(range(0, SUMMARY_ROWS, BLOCK_ROWS))
    _write(db, 0, rows[0][0], rows[-1][0], blocks)
    for level in range(1, LEVELS):
        start = covered(db, level) + 1
        query = "SELECT count(*) FROM summaries WHERE level = ? AND first >= ?"
        if db.execute(query, (level - 1, start)).fetchone()[0] < BLOCKS:
            return
        ends, parts = read_summaries(db, level - 1, start, rows[-1][0])
        merged = parts.merge(range(0, BLOCKS * BLOCKS, BLOCKS))
        _write(db, level, ends[0][0], ends[-1][1], merged)


def _write(db: sqlite3.Connection, level: int, first: int, last: int, blocks: Blocks) -> None:
    import numpy as np

    columns = np.empty(len(blocks.names), COLUMN)
    for part, *_ in COLUMN:
        columns[part] = getattr(blocks, part)
    query = "INSERT INTO summaries (level, first, last) VALUES (?, ?, ?)"
    key = db.execute(query, (level, first, last)).lastrowid
    db.executemany(
        "INSERT INTO summary_columns (summary, name, data) VALUES (?, ?, ?)",
        # sorted, as the table is
        sorted(
            (key, name, column.tobytes())
            for name, column in zip(blocks.names, columns, strict=True)
        ),
    )


def read_summaries(
    db: sqlite3.Connection,
    level: int,
    first: int,
    last: int,
    names: Sequence[str] | None = None,
) -> tuple[list[tuple[int, int]], Blocks]:
    """Returns the summaries of a level that cover some row from position `first` to `last`: the positions of
    the first and the last row of each, and their blocks. `names`: the keys; None for all."""
    import numpy as np

    from gymnast.metrics.blocks import Blocks

    inside = "s.level = ? AND s.first <= ? AND s.last >= ?"
    bounds = (level, last, first)
    query = f"SELECT s.id, s.first, s.last FROM summaries s WHERE {inside} ORDER BY s.first"
    summaries = db.execute(query, bounds).fetchall()
    places = {key: i for i, (key, _, _) in enumerate(summaries)}
    found: dict[str, tuple[list[int], list[bytes]]] = {name: ([], []) for name in names or ()}
    chosen = "" if names is None else f" AND c.name IN ({', '.join('?' * len(names))})"
    # CROSS JOIN makes sqlite look up the columns of each summary, and not scan all columns.
    query = (
        "SELECT s.id, c.name, c.data FROM summaries s CROSS JOIN summary_columns c"
        f" WHERE {inside} AND c.summary = s.id{chosen}"
    )
    for key, name, data in db.execute(query, (*bounds, *(names or ()))):
        at, packed = found.setdefault(name, ([], []))
        at.append(places[key])
        packed.append(data)
    columns = np.zeros((len(found), len(summaries)), COLUMN)
    for part in ("low", "high", "mean"):
        columns[part] = np.nan
    for row, (at, packed) in zip(columns, found.values(), strict=True):
        row[at] = np.frombuffer(b"".join(packed), COLUMN)
    shape = (len(found), len(summaries) * BLOCKS)
    low, high, mean = (columns[part].reshape(shape) for part in ("low", "high", "mean"))
    valid, recorded = (
        columns[part].reshape(shape).astype(np.int64) for part in ("valid", "recorded")
    )
    return [(a, b) for _, a, b in summaries], Blocks(tuple(found), low, high, mean, valid, recorded)
