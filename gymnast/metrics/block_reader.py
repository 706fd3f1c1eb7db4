"""Reading parts of a metric store as blocks: from summaries where there are any, else from rows."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np

from gymnast.metrics.blocks import Blocks, join, single_rows
from gymnast.metrics.column_cache import ColumnCache, signature
from gymnast.metrics.store import MetricStore
from gymnast.metrics.store_index import StoreIndex, read_index
from gymnast.metrics.summaries import BLOCK_ROWS, LEVELS, StoredRow, Summary, column_type

PAGE_ROWS = 128 * BLOCK_ROWS[0]
"""Number of rows that are read at once, if many must be read."""
CACHE = ColumnCache()
T = TypeVar("T")

EMPTY = StoreIndex(0, 0, 0, {}, [], [], [])
"""The index of a store without rows."""


class NotCachedError(Exception):
    """The store must be opened to read this."""


class BlockReader:
    """Reads a metric store at one moment."""

    def __init__(self, path: Path, index: StoreIndex, db: sqlite3.Connection | None) -> None:
        """`db`: the store in a transaction; None to read only what is in the cache and raise NotCachedError
        for everything else."""
        self.index = index
        self._path, self._db = path, db

    def blocks(self, names: Sequence[str], summaries: Sequence[Summary]) -> Blocks:
        """Returns the blocks of summaries, one after the other, then the loose rows."""
        parts: list[Blocks] = []
        for level in reversed(range(LEVELS)):
            of_level = [summary for summary in summaries if summary.level == level]
            if of_level:
                parts.append(self._columns(names, of_level, level))
        if self.index.loose is not None:
            parts.append(single_rows(self.index.loose, self.index.schemas, names))
        else:
            for page in self._pages(*self._loose_part):
                found = single_rows(page, self.index.schemas, names)
                parts.append(found.merge(range(0, len(page), BLOCK_ROWS[0])))
        return join(parts, names)

    def rows(
        self, names: Sequence[str], summaries: Sequence[Summary], having: str | None = None
    ) -> Blocks:
        """Returns the rows that consecutive summaries cover, then the loose rows, each as a block of its own;
        with `having`, only the rows with this key."""
        schemas = self.index.schemas
        chosen = [key for key, of in schemas.items() if having is None or having in of]
        pages: list[list[StoredRow]] = []
        if summaries:
            pages += self._pages(summaries[0].first, summaries[-1].last, chosen)
        if self.index.loose is not None:
            pages.append([row for row in self.index.loose if row[1] in chosen])
        else:
            pages += self._pages(*self._loose_part, chosen)
        return join((single_rows(page, schemas, names) for page in pages), names)

    def _columns(self, names: Sequence[str], summaries: Sequence[Summary], level: int) -> Blocks:
        """Returns the blocks of summaries of one level."""
        kind = column_type(level)
        columns = np.zeros((len(names), len(summaries)), kind)
        for part in ("low", "high", "mean"):
            columns[part] = np.nan
        for row, name in zip(columns, names, strict=True):
            data = self._data(name, [summary.id for summary in summaries])
            if all(data):
                row[:] = np.frombuffer(b"".join(data), kind)
            else:
                at = [i for i, found in enumerate(data) if found]
                row[at] = np.frombuffer(b"".join(data), kind)
        low, high, mean, valid, recorded = (
            columns[part].reshape(len(names), -1) for part in kind.names or ()
        )
        counts = valid.astype(np.int64), recorded.astype(np.int64)
        return Blocks(tuple(names), low, high, mean, *counts)

    def _data(self, name: str, summaries: Sequence[int]) -> list[bytes]:
        """Returns the data of one key in summaries, given by their ids; empty if no row had the key."""
        inode = self._inode
        known = CACHE.columns(self._path, inode, name)
        missing = [key for key in summaries if key not in known]
        if not missing:
            return [known[key] for key in summaries]
        ids = ", ".join(map(str, missing))
        query = f"SELECT summary, data FROM summary_columns WHERE summary IN ({ids}) AND name = ?"
        found = dict.fromkeys(missing, b"") | dict(self._database.execute(query, (name,)))
        CACHE.add_columns(self._path, inode, name, list(found.items()))
        return [known[key] if key in known else found[key] for key in summaries]

    @property
    def _loose_part(self) -> tuple[int, int]:
        """The positions of the first and the last loose row."""
        return max(self.index.covered) + 1, self.index.last

    @property
    def _inode(self) -> int:
        return self._path.stat().st_ino

    @property
    def _database(self) -> sqlite3.Connection:
        if self._db is None:
            raise NotCachedError
        return self._db

    def _pages(
        self, first: int, last: int, schemas: Sequence[int] | None = None
    ) -> Iterator[list[StoredRow]]:
        """Yields the rows from position `first` to `last`, some at a time; with `schemas`, only rows with one
        of these."""
        query = "SELECT id, schema, data FROM rows WHERE superseded = 0 AND id BETWEEN ? AND ?"
        if schemas is not None and len(schemas) < len(self.index.schemas):
            query += f" AND schema IN ({', '.join(map(str, schemas))})"
        found = self._database.execute(f"{query} ORDER BY id", (first, last))
        while page := found.fetchmany(PAGE_ROWS):
            yield page


def read_store(path: Path, read: Callable[[BlockReader], T]) -> T:
    """Returns what `read` returns for the metric store `path`, which is only opened if something that `read`
    needs is not in the cache. A missing file is an empty store."""
    before = signature(path)
    index = CACHE.index(path, before)
    if index is not None:
        try:
            return read(BlockReader(path, index, None))
        except NotCachedError:
            pass  # read again, with an index that belongs to what is read now
    with MetricStore(path) as store, store.snapshot() as db:
        if db is None:
            return read(BlockReader(path, EMPTY, None))
        index = read_index(db)
        CACHE.add_index(path, before, index)
        return read(BlockReader(path, index, db))
