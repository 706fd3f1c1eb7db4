"""Reading parts of a metric store as blocks: from summaries where there are any, else from rows."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence

import numpy as np

from gymnast.metrics.blocks import Blocks, StoredRow, join, single_rows
from gymnast.metrics.summaries import (
    BLOCK_ROWS,
    BLOCKS,
    LEVELS,
    SUMMARY_ROWS,
    covered,
    read_schemas,
    read_summaries,
)

PAGE_ROWS = 128 * BLOCK_ROWS
"""Number of rows that are read at once, if many must be read."""

Positions = tuple[int, int]
"""The positions of the first and the last row of a part of the store."""


class BlockReader:
    """Reads a snapshot of a metric store (see `MetricStore.snapshot`)."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._schemas = read_schemas(db)
        (self.last,) = db.execute("SELECT coalesce(max(id), 0) FROM rows").fetchone()
        """Position of the last row, superseded or not."""
        query = "SELECT count(*) FROM sqlite_master WHERE name = 'summaries'"
        has_summaries = db.execute(query).fetchone()[0] > 0
        # A store of an older format has no summaries: all of its rows are loose.
        self._covered = [covered(db, level) if has_summaries else 0 for level in range(LEVELS)]
        """Level -> position of the last row that its summaries cover."""

    def count(self, part: Positions) -> int:
        """Returns the number of rows in a part; all rows of a summary that is partly inside count."""
        first, last = part
        rows = 0
        if self._covered[0]:
            query = "SELECT count(*) FROM summaries WHERE level = 0 AND first <= ? AND last >= ?"
            rows = SUMMARY_ROWS * self._db.execute(query, (last, first)).fetchone()[0]
        query = "SELECT count(*) FROM rows WHERE superseded = 0 AND id BETWEEN ? AND ?"
        loose = (max(first, self._covered[0] + 1), last)
        return rows + self._db.execute(query, loose).fetchone()[0]

    def part_between(self, clock: str, low: float, high: float) -> Positions:
        """Returns a part that contains every row with a value of `clock` from `low` to `high`, and few
        others. Clocks never decrease from row to row."""
        first, last = 1, self.last
        for level in reversed(range(LEVELS)):
            if not self._covered[level]:
                continue
            ends, found = read_summaries(self._db, level, first, last, [clock])
            if not ends:
                continue
            whole = found.merge(range(0, len(found), BLOCKS))
            before, after = whole.high[0] < low, whole.low[0] > high
            if before.any():
                first = max(first, ends[np.flatnonzero(before)[-1]][1] + 1)
            if after.any():
                last = min(last, ends[np.flatnonzero(after)[0]][0] - 1)
        return first, last

    def blocks(self, names: Sequence[str], part: Positions, level: int) -> Blocks:
        """Returns blocks that contain the rows of a part: of this level, then of lower levels and single rows
        where the summaries of the level end."""
        first, last = part
        parts: list[Blocks] = []
        for lower in reversed(range(level + 1)):
            if self._covered[lower] >= first:
                parts.append(read_summaries(self._db, lower, first, last, names)[1])
                first = self._covered[lower] + 1
        few = self.last - first < 2 * SUMMARY_ROWS
        for page in self._pages((first, last)):
            found = single_rows(page, self._schemas, names)
            parts.append(found if few else found.merge(range(0, len(page), BLOCK_ROWS)))
        return join(parts, names)

    def rows(self, names: Sequence[str], part: Positions, having: str | None = None) -> Blocks:
        """Returns every row of a part as a block of its own; with `having`, only the rows that have this
        key."""
        schemas = None
        if having is not None:
            schemas = [key for key, found in self._schemas.items() if having in found]
        pages = self._pages(part, schemas)
        return join((single_rows(page, self._schemas, names) for page in pages), names)

    def _pages(
        self, part: Positions, schemas: Sequence[int] | None = None
    ) -> Iterator[list[StoredRow]]:
        """Yields the rows of a part, some at a time; with `schemas`, only rows with one of these."""
        query = "SELECT id, schema, data FROM rows WHERE superseded = 0 AND id BETWEEN ? AND ?"
        if schemas is not None:
            query += f" AND schema IN ({', '.join('?' * len(schemas))})"
        found = self._db.execute(f"{query} ORDER BY id", (*part, *(schemas or ())))
        while page := found.fetchmany(PAGE_ROWS):
            yield page
