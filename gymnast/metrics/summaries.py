"""Summaries of rows, which the metric store writes along with them so that charts need not read every row.

A summary covers consecutive rows with blocks of equal numbers of rows: for every key that a row has, the
minimum, maximum, mean and counts of each block. Summaries of a level are merged into one of the next level:
those of level 0, which are small, into one with the same blocks, which replaces them; others into one with
larger blocks, which is added to them.

On every level, the summaries cover the rows from the first one on without gaps, except that level 0 starts
where level 1 ends. The rows after the last summary are loose: they are read one by one. Superseded rows are
in no summary.
"""

from __future__ import annotations

import math
import sqlite3
import struct
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from gymnast.clock import CLOCKS
from gymnast.metrics.database import schema_names

if TYPE_CHECKING:
    import numpy as np

    from gymnast.metrics.blocks import Blocks

SUMMARY_ROWS = (256, 1_024, 8_192, 65_536)
"""Level -> number of rows that a summary covers. A summary has at most 32 blocks: with 64, columns do not fit
into a page of the table, and the file grows by a third instead of a fifth."""
BLOCK_ROWS = (32, 32, 256, 2_048)
"""Level -> number of rows of a block."""
SUMMARY_BLOCKS = tuple(a // b for a, b in zip(SUMMARY_ROWS, BLOCK_ROWS, strict=True))
"""Level -> number of blocks of a summary."""
LEVELS = len(SUMMARY_ROWS)
PARTS = ("low", "high", "mean", "valid", "recorded")
"""The numbers that describe the values of a block (see `Blocks`), in the order in which they are stored."""
StoredRow = tuple[int, int, bytes]
"""Position, schema id and packed values of a row of the metric store."""


class Summary(NamedTuple):
    """A summary without its columns."""

    id: int
    """Never used again in the same store, even if the summary is deleted."""
    level: int
    first: int
    """Position of its first row."""
    last: int


class SummaryWriter:
    """Writes the summaries of rows that are appended to a store."""

    def __init__(self) -> None:
        self._loose: list[StoredRow] = []
        self._schemas: dict[int, list[str]] = {}
        """Schema id -> names of the values of rows with this schema."""
        self._last: int | None = None
        """Position of the last row; None if the loose rows must be read from the store."""

    def add(self, db: sqlite3.Connection, rows: Sequence[tuple[int, bytes]]) -> None:
        """Writes the summaries that are complete with `rows` (schema id and packed values), which have just
        been inserted in the same transaction. If that fails or is rolled back, `forget` must be called."""
        (last,) = db.execute("SELECT coalesce(max(id), 0) FROM rows").fetchone()
        first = last - len(rows) + 1
        # Else these are the first rows since the store was opened or rows were superseded.
        is_known = self._last == first - 1
        if is_known:
            self._loose += [(first + i, *row) for i, row in enumerate(rows)]
        else:
            self._loose = _next_loose(db)
        while len(self._loose) >= SUMMARY_ROWS[0]:
            self._summarize(db, self._loose[: SUMMARY_ROWS[0]])
            # A store without summaries is read in parts: all of its rows might not fit into memory.
            self._loose = self._loose[SUMMARY_ROWS[0] :] if is_known else _next_loose(db)
        self._last = last

    def forget(self) -> None:
        """Makes the next `add` read the loose rows from the store."""
        self._loose, self._last = [], None

    def drop_after(self, db: sqlite3.Connection, position: int) -> None:
        """Deletes the summaries of rows at or after `position`, which have been superseded."""
        self.forget()
        found = db.execute("SELECT id FROM summaries WHERE last >= ?", (position,)).fetchall()
        _delete(db, [key for (key,) in found])

    def _summarize(self, db: sqlite3.Connection, rows: Sequence[StoredRow]) -> None:
        """Writes the summary of level 0 of these rows, and those of higher levels that are complete with
        it."""
        from gymnast.metrics.blocks import single_rows

        used = {key for _, key, _ in rows}
        if not used <= self._schemas.keys():
            self._schemas = read_schemas(db)
        names = list(dict.fromkeys(name for key in sorted(used) for name in self._schemas[key]))
        blocks = single_rows(rows, self._schemas, names)
        _write(db, 0, rows[0][0], rows[-1][0], blocks.merge(range(0, len(rows), BLOCK_ROWS[0])))
        for level in range(1, LEVELS):
            parts = _parts_of_next(db, level)
            if len(parts) * SUMMARY_ROWS[level - 1] < SUMMARY_ROWS[level]:
                return
            merged = _read_whole(db, parts)
            merged = merged.merge(range(0, len(merged), BLOCK_ROWS[level] // BLOCK_ROWS[level - 1]))
            _write(db, level, parts[0].first, parts[-1].last, merged)
            if level == 1:
                _delete(db, [part.id for part in parts])


def read_schemas(db: sqlite3.Connection) -> dict[int, list[str]]:
    """Returns schema id -> names of the values of rows with this schema."""
    return {key: schema_names(text) for key, text in db.execute("SELECT id, names FROM schemas")}


def decode_columns(columns: Sequence[bytes], blocks: int) -> np.ndarray:
    """Returns stored columns of summaries with `blocks` blocks each: float64 [columns, parts, blocks]."""
    import numpy as np

    stored = np.frombuffer(b"".join(columns), _column_type(blocks))
    decoded = np.empty((len(columns), len(PARTS), blocks))
    decoded[:, :3] = stored["values"]
    decoded[:, 3:] = stored["counts"]
    return decoded


@cache
def no_column(blocks: int) -> np.ndarray:
    """Returns the column of a key that no row of a summary has: [parts, blocks]."""
    import numpy as np

    column = np.zeros((len(PARTS), blocks))
    column[:3] = np.nan
    return column


@cache
def _column_type(blocks: int) -> np.dtype[np.void]:
    """Returns the type of the data of one key in a summary: the parts of `Blocks`, one after the other."""
    import numpy as np

    return np.dtype([("values", "<f8", (3, blocks)), ("counts", "<u2", (2, blocks))])


def _next_loose(db: sqlite3.Connection) -> list[StoredRow]:
    """Returns the first loose rows, at most twice as many as a summary needs."""
    (covered,) = db.execute("SELECT coalesce(max(last), 0) FROM summaries").fetchone()
    query = "SELECT id, schema, data FROM rows WHERE superseded = 0 AND id > ? ORDER BY id LIMIT ?"
    return db.execute(query, (covered, 2 * SUMMARY_ROWS[0])).fetchall()


def _parts_of_next(db: sqlite3.Connection, level: int) -> list[Summary]:
    """Returns the summaries of the level below that are not yet merged into one of this level."""
    # Found from the end, since there are few: the table has no index.
    query = "SELECT id, level, first, last FROM summaries ORDER BY id DESC"
    parts: list[Summary] = []
    for found in map(Summary._make, db.execute(query)):
        if found.level >= level:
            break
        parts += [found] if found.level == level - 1 else []
    return parts[::-1]


def _read_whole(db: sqlite3.Connection, summaries: Sequence[Summary]) -> Blocks:
    """Returns all columns of summaries of the same level, as blocks one after the other."""
    import numpy as np

    from gymnast.metrics.blocks import Blocks

    blocks = SUMMARY_BLOCKS[summaries[0].level]
    place = {summary.id: number for number, summary in enumerate(summaries)}
    query = (
        "SELECT summary, name, data FROM summary_columns"
        f" WHERE summary IN ({', '.join(map(str, place))})"
    )
    found = db.execute(query).fetchall()
    key = {name: number for number, name in enumerate(dict.fromkeys(n for _, n, _ in found))}
    data = np.empty((len(PARTS), len(key), len(summaries), blocks))
    data[:] = no_column(blocks)[:, None, None]
    decoded = decode_columns([column for _, _, column in found], blocks)
    data[:, [key[name] for _, name, _ in found], [place[i] for i, _, _ in found]] = (
        decoded.swapaxes(0, 1)
    )
    return Blocks(tuple(key), data.reshape(len(PARTS), len(key), -1))


def _write(db: sqlite3.Connection, level: int, first: int, last: int, blocks: Blocks) -> None:
    """Writes a summary of the rows from `first` to `last`."""
    import numpy as np

    columns = np.empty(len(blocks.names), _column_type(len(blocks)))
    columns["values"] = blocks.data[:3].swapaxes(0, 1)
    columns["counts"] = blocks.data[3:].swapaxes(0, 1)
    query = "INSERT INTO summaries (level, first, last, clocks) VALUES (?, ?, ?, ?)"
    key = db.execute(query, (level, first, last, _clock_ranges(blocks))).lastrowid
    packed, size = columns.tobytes(), columns.itemsize
    db.executemany(
        "INSERT INTO summary_columns (summary, name, data) VALUES (?, ?, ?)",
        # sorted, as the table is
        sorted(
            (key, name, packed[place * size : (place + 1) * size])
            for place, name in enumerate(blocks.names)
        ),
    )


def _clock_ranges(blocks: Blocks) -> bytes:
    """Returns the smallest and the largest value of each clock, packed in the order of CLOCKS; NaN for a
    clock that no row has."""
    known = [name for clock in CLOCKS if (name := f"clock/{clock}") in blocks.names]
    whole = blocks.of(*known).merge([0])
    ends = dict(zip(known, whole.data[:2, :, 0].T.tolist(), strict=True))
    ranges = [end for clock in CLOCKS for end in ends.get(f"clock/{clock}", (math.nan, math.nan))]
    return struct.pack(f"<{len(ranges)}d", *ranges)


def _delete(db: sqlite3.Connection, summaries: Sequence[int]) -> None:
    ids = [(key,) for key in summaries]
    db.executemany("DELETE FROM summary_columns WHERE summary = ?", ids)
    db.executemany("DELETE FROM summaries WHERE id = ?", ids)
