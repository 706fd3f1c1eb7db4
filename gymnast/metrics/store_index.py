"""The index of a metric store lists its schemas, its summaries and the rows that are in none of them."""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gymnast.clock import CLOCKS
from gymnast.metrics.summaries import (
    BLOCK_ROWS,
    LEVELS,
    SUMMARY_ROWS,
    StoredRow,
    Summary,
    read_summaries,
)

MAX_LOOSE = 2 * SUMMARY_ROWS[1]
"""Maximum number of loose rows that are kept in memory. There are more only in stores of the older format,
which have no summaries."""


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
    summaries: list[Summary]
    """All summaries, in the order of their rows within a level."""
    loose: list[StoredRow] | None
    """The rows after the last summary; None if there are more than MAX_LOOSE."""

    @cached_property
    def covered(self) -> list[int]:
        """Level -> position of the last row that summaries of this or a lower level number cover."""
        found = [0] * LEVELS
        for summary in self.summaries:
            found[summary.level] = summary.last
        found[0] = max(found)
        return found

    def between(self, clock: str, low: float, high: float) -> list[Summary]:
        """Returns the summaries with a row whose `clock` is from `low` to `high`."""
        if (low, high) == (-math.inf, math.inf):
            return self.summaries
        place = CLOCKS.index(clock)
        # NaN, for rows without the clock, is neither below nor above.
        outside = (self._ranges[:, place, 1] < low) | (self._ranges[:, place, 0] > high)
        return [self.summaries[i] for i in np.flatnonzero(~outside).tolist()]

    def cover(self, summaries: Sequence[Summary], max_blocks: float = math.inf) -> list[Summary]:
        """Returns those of `summaries` that cover their rows once: with the smallest blocks, of which there
        are not more than `max_blocks`; where the summaries with larger blocks end, with smaller ones."""
        chosen: list[Summary] = []
        for level in range(1, LEVELS):
            chosen, start = [], 0
            for lower in range(level, -1, -1):
                chosen += [s for s in summaries if s.level == lower and s.first > start]
                start = max(start, self.covered[lower])
            if sum(SUMMARY_ROWS[s.level] // BLOCK_ROWS[s.level] for s in chosen) <= max_blocks:
                break
        return chosen

    @cached_property
    def _ranges(self) -> np.ndarray:
        """Smallest and largest value of every clock in every summary: [summaries, clocks, 2]."""
        packed = b"".join(summary.clocks for summary in self.summaries)
        return np.frombuffer(packed, "<f8").reshape(len(self.summaries), len(CLOCKS), 2)


def read_index(db: sqlite3.Connection) -> StoreIndex:
    """Reads the index of a store; `db` is in a transaction (see `MetricStore.snapshot`)."""
    last, attempt = db.execute(
        "SELECT id, attempt FROM rows ORDER BY id DESC LIMIT 1"
    ).fetchone() or (0, 0)  # the attempts of rows never decrease
    # A store of an older format has no summaries: all of its rows are loose.
    (version,) = db.execute("SELECT version FROM meta").fetchone()
    summaries = read_summaries(db) if version > 2 else []
    covered = max((summary.last for summary in summaries), default=0)
    query = "SELECT id, schema, data FROM rows WHERE superseded = 0 AND id > ? ORDER BY id LIMIT ?"
    loose = db.execute(query, (covered, MAX_LOOSE + 1)).fetchall()
    rows = len(loose) + sum(SUMMARY_ROWS[s.level] for s in summaries if s.level < 2)
    if len(loose) > MAX_LOOSE:
        query = "SELECT count(*) FROM rows WHERE superseded = 0"
        loose, (rows,) = None, db.execute(query).fetchone()
    schemas, names = read_names(db)
    return StoreIndex(attempt, last, rows, schemas, names, summaries, loose)


def read_names(db: sqlite3.Connection) -> tuple[dict[int, list[str]], list[str]]:
    """Returns schema id -> names, and all names that a row has, superseded rows excepted."""
    query = (
        "SELECT id, names, EXISTS (SELECT 1 FROM rows WHERE schema = schemas.id AND superseded = 0)"
        " FROM schemas"
    )
    found = [(key, json.loads(text), used) for key, text, used in db.execute(query)]
    used_names = dict.fromkeys(name for _, names, used in found if used for name in names)
    return {key: names for key, names, _ in found}, list(used_names)
