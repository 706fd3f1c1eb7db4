"""The index of a metric store lists its schemas, its summaries and the rows that are in none of them."""

from __future__ import annotations

import math
import sqlite3
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from gymnast.clock import CLOCKS
from gymnast.metrics.blocks import DecodedRows
from gymnast.metrics.database import schema_names
from gymnast.metrics.summaries import LEVELS, SUMMARY_BLOCKS, SUMMARY_ROWS

MAX_LOOSE = 2 * SUMMARY_ROWS[1]
"""Maximum number of loose rows that are kept in memory. There are more only in stores of the older format,
which have no summaries."""


Within = list[tuple[int, int]]
"""Level -> start and end of some of its summaries, which follow each other in the index."""


class Part(NamedTuple):
    """Consecutive summaries of one level: `start` to `end` of those in the index."""

    level: int
    start: int
    end: int


@dataclass(frozen=True)
class StoreIndex:
    """The content of a metric store at one moment, without the columns of its summaries."""

    attempt: int
    """Number of the latest attempt."""
    last: int
    """Position of the last row, superseded or not."""
    rows: int
    """Number of rows that are not superseded."""
    schemas: dict[int, list[str]]
    """Schema id -> names of the values of rows with this schema."""
    names: list[str]
    """Every key that a row has, superseded rows excepted."""
    levels: tuple[int, ...]
    """The level of each summary. Summaries are sorted by level, then in the order of their rows."""
    starts: tuple[int, ...]
    """Position of the first row of each summary."""
    ends: tuple[int, ...]
    """Position of the last row of each summary."""
    ids: tuple[int, ...]
    """The id of each summary."""
    ranges: np.ndarray
    """Smallest and largest value of every clock in every summary: [summaries, clocks, 2]."""
    loose: DecodedRows | None
    """The rows after the last summary; None if there are more than MAX_LOOSE."""

    def cover(self, within: Within, max_blocks: float = math.inf) -> list[Part]:
        """Returns summaries that cover the rows of `within` once: with the smallest blocks, of which there
        are not more than `max_blocks`; where the summaries with larger blocks end, with smaller ones. The
        parts follow each other in the order of their rows."""
        parts: list[Part] = []
        for of_level in self._covers:
            parts = [
                Part(level, max(start, within[level][0]), within[level][1])
                for level, start in of_level
                if start < within[level][1]
            ]
            if sum((p.end - p.start) * SUMMARY_BLOCKS[p.level] for p in parts) <= max_blocks:
                break
        return parts

    def ids_of(self, parts: Iterable[Part]) -> list[int]:
        return [key for part in parts for key in self.ids[part.start : part.end]]

    def within(self, clock: str, low: float, high: float) -> Within:
        """Returns the summaries with a row whose `clock` is from `low` to `high`."""
        if (low, high) == (-math.inf, math.inf):
            return self._of_level
        ranges = self.ranges[:, CLOCKS.index(clock)]
        # NaN, for rows without the clock, is neither below nor above.
        outside = (ranges[:, 1] < low) | (ranges[:, 0] > high)
        found = np.flatnonzero(~outside).tolist()
        ends: Within = []
        for start, end in self._of_level:
            first, after = bisect_left(found, start), bisect_left(found, end)
            ends.append((found[first], found[after - 1] + 1) if first < after else (start, start))
        return ends

    @cached_property
    def _of_level(self) -> Within:
        """All summaries."""
        return [
            (bisect_left(self.levels, level), bisect_right(self.levels, level))
            for level in range(LEVELS)
        ]

    @cached_property
    def _covers(self) -> list[list[tuple[int, int]]]:
        """The choices of `cover`, one for each level from 1 on: this and all lower levels, with the first
        summary of each whose rows are not covered by those before."""
        found: list[list[tuple[int, int]]] = []
        for level in range(1, LEVELS):
            covered, parts = 0, list[tuple[int, int]]()
            for lower in range(level, -1, -1):
                start, end = self._of_level[lower]
                parts.append((lower, bisect_right(self.starts, covered, start, end)))
                covered = max(covered, self.ends[end - 1] if start < end else 0)
            found.append(parts)
        return found


EMPTY = StoreIndex(
    0, 0, 0, {}, [], (), (), (), (), np.empty((0, len(CLOCKS), 2)), DecodedRows([], {})
)
"""The index of a store without rows."""


def read_index(db: sqlite3.Connection) -> StoreIndex:
    """Reads the index of a store; `db` is in a transaction."""
    last, attempt = db.execute(
        "SELECT id, attempt FROM rows ORDER BY id DESC LIMIT 1"
    ).fetchone() or (0, 0)  # the attempts of rows never decrease
    # A store of an older format has no summaries: all of its rows are loose.
    (version,) = db.execute("SELECT version FROM meta").fetchone()
    query = "SELECT level, first, last, id, clocks FROM summaries"
    summaries = sorted(db.execute(query)) if version > 2 else []
    levels, starts, ends, ids, clocks = zip(*summaries, strict=True) if summaries else [()] * 5
    ranges = np.frombuffer(b"".join(clocks), "<f8").reshape(-1, len(CLOCKS), 2)
    query = "SELECT id, schema, data FROM rows WHERE superseded = 0 AND id > ? ORDER BY id LIMIT ?"
    loose = db.execute(query, (max(ends, default=0), MAX_LOOSE + 1)).fetchall()
    rows = len(loose) + sum(SUMMARY_ROWS[level] * levels.count(level) for level in (0, 1))
    schemas, names = read_names(db)
    decoded = DecodedRows(loose, schemas)
    if len(loose) > MAX_LOOSE:
        query = "SELECT count(*) FROM rows WHERE superseded = 0"
        decoded, (rows,) = None, db.execute(query).fetchone()
    return StoreIndex(
        attempt, last, rows, schemas, names, levels, starts, ends, ids, ranges, decoded
    )


def read_names(db: sqlite3.Connection) -> tuple[dict[int, list[str]], list[str]]:
    """Returns schema id -> names, and all names that a row has, superseded rows excepted."""
    query = (
        "SELECT id, names, EXISTS (SELECT 1 FROM rows WHERE schema = schemas.id AND superseded = 0)"
        " FROM schemas"
    )
    found = [(key, schema_names(text), used) for key, text, used in db.execute(query)]
    used_names = dict.fromkeys(name for _, names, used in found if used for name in names)
    return {key: names for key, names, _ in found}, list(used_names)
