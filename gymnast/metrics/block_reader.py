"""Reading parts of a metric store as blocks: from summaries where there are any, else from rows."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from functools import cached_property
from pathlib import Path
from typing import TypeVar

import numpy as np

from gymnast.metrics.blocks import Blocks, join, single_rows
from gymnast.metrics.column_cache import ColumnCache, Columns, file_state
from gymnast.metrics.reader_pool import ReaderPool
from gymnast.metrics.store_index import EMPTY, Part, StoreIndex, read_index
from gymnast.metrics.summaries import (
    BLOCK_ROWS,
    PARTS,
    SUMMARY_BLOCKS,
    SUMMARY_ROWS,
    StoredRow,
    decode_columns,
    no_column,
)

PAGE_ROWS = 128 * BLOCK_ROWS[0]
"""Number of rows that are read at once, if many must be read."""
CACHE = ColumnCache()
POOL = ReaderPool()
T = TypeVar("T")
Span = tuple[int, int]
"""The positions of the first and the last one of consecutive rows."""


class StoreChangedError(Exception):
    """The store was written since its index was read."""


class BlockReader:
    """Reads a metric store at one moment."""

    def __init__(
        self, path: str, inode: int, index: StoreIndex, open: Callable[[], sqlite3.Connection]
    ) -> None:
        """`open`: opens the store, in the transaction that `index` belongs to; called if something is not in
        the cache."""
        self.index = index
        self._path, self._inode, self._open = path, inode, open

    def blocks(self, names: Sequence[str], parts: Sequence[Part]) -> Blocks:
        """Returns the blocks of summaries, one after the other, then the loose rows."""
        if self.index.loose is not None:
            loose = self.index.loose.blocks(names)
        else:
            pages = self._pages(*self._loose_part)
            found = (single_rows(page, self.index.schemas, names) for page in pages)
            merged = (rows.merge(range(0, len(rows), BLOCK_ROWS[0])) for rows in found)
            loose = join(merged, names)
        if not parts:
            return loose
        blocks = sum((part.end - part.start) * SUMMARY_BLOCKS[part.level] for part in parts)
        data = np.empty((len(PARTS), len(names), blocks + len(loose)))
        for place, columns in enumerate(self._columns(names, parts)):
            np.concatenate([*columns, loose.data[:, place]], axis=1, out=data[:, place])
        return Blocks(tuple(names), data)

    def rows(self, names: Sequence[str], span: Span, having: str | None = None) -> Blocks:
        """Returns the rows of a span, then the loose rows, each as a block of its own. With `having`, rows
        without this key may be left out."""
        index = self.index
        chosen = [key for key, of in index.schemas.items() if having is None or having in of]
        pages = [*self._pages(*span, chosen)] if span[0] <= span[1] else []
        if index.loose is None:
            pages += self._pages(*self._loose_part, chosen)
        found = [single_rows(page, index.schemas, names) for page in pages]
        return join(found if index.loose is None else [*found, index.loose.blocks(names)], names)

    def span(self, parts: Sequence[Part]) -> Span:
        """Returns the span of all rows of summaries that follow each other."""
        if not parts:
            return (1, 0)
        return self.index.starts[parts[0].start], self.index.ends[parts[-1].end - 1]

    def span_within(self, parts: Sequence[Part], clock: str, low: float, high: float) -> Span:
        """Returns the span without the first and the last blocks of these summaries, as far as all of their
        rows are outside of a range. `clock`: the key of the clock."""
        first, last = self.span(parts)
        if not parts:
            return first, last
        start, end = parts[0].start, parts[-1].end - 1
        ends = [Part(parts[0].level, start, start + 1), Part(parts[-1].level, end, end + 1)]
        ((of_first, of_last),) = self._columns([clock], ends)
        if self._is_whole(start):
            first += BLOCK_ROWS[0] * _leading(of_first[1] < low)
        if self._is_whole(end):
            last -= BLOCK_ROWS[0] * _leading(of_last[0, ::-1] > high)
        return first, last

    def _is_whole(self, summary: int) -> bool:
        """Returns whether no superseded rows are between the rows of a summary."""
        index = self.index
        rows = index.ends[summary] - index.starts[summary] + 1
        return rows == SUMMARY_ROWS[index.levels[summary]]

    def _columns(self, names: Sequence[str], parts: Sequence[Part]) -> list[list[np.ndarray]]:
        """Returns, for each key, its blocks in each of the summaries."""
        ids = self.index.ids_of(parts)
        known = CACHE.columns(self._path, self._inode)
        try:
            return [[known[name][key] for key in ids] for name in names]
        except KeyError:
            pass
        missing = {name: set(ids) - known.get(name, {}).keys() for name in names}
        of_any = set[int]().union(*missing.values())
        sizes = {
            key: SUMMARY_BLOCKS[part.level]
            for part in parts
            for key in of_any.intersection(self.index.ids[part.start : part.end])
        }
        found = self._read_columns([name for name in names if missing[name]], sizes)
        CACHE.add_columns(self._path, self._inode, found)
        columns = [known.get(name, {}) | found.get(name, {}) for name in names]
        return [[of_name[key] for key in ids] for of_name in columns]

    def _read_columns(self, names: Sequence[str], sizes: Mapping[int, int]) -> Columns:
        """Reads columns of summaries. `sizes`: id of a summary -> number of its blocks."""
        query = (
            "SELECT name, summary, data FROM summary_columns"
            f" WHERE summary IN ({', '.join(map(str, sizes))})"
            f" AND name IN ({', '.join('?' * len(names))})"
        )
        stored = self._database.execute(query, tuple(names)).fetchall()
        found = {name: {key: no_column(blocks) for key, blocks in sizes.items()} for name in names}
        for blocks in set(sizes.values()):
            of_size = [(name, key, data) for name, key, data in stored if sizes[key] == blocks]
            decoded = decode_columns([data for _, _, data in of_size], blocks)
            for (name, key, _), column in zip(of_size, decoded, strict=True):
                found[name][key] = column
        return found

    @property
    def _loose_part(self) -> tuple[int, int]:
        """The positions of the first and the last loose row."""
        return max(self.index.ends, default=0) + 1, self.index.last

    @cached_property
    def _database(self) -> sqlite3.Connection:
        return self._open()

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


def _leading(values: np.ndarray) -> int:
    """Returns the number of true values before the first false one."""
    return len(values) if values.all() else int(values.argmin())


def read_store(path: Path, read: Callable[[BlockReader], T]) -> T:
    """Returns what `read` returns for the metric store `path`, which is only opened if something that `read`
    needs is not in the cache. A missing file is an empty store. Raises RunError if it cannot be read."""
    file = os.fspath(path)
    state = file_state(file)
    index = CACHE.index(file, state) if state is not None else None
    with ExitStack() as stack:

        def open_unchanged() -> sqlite3.Connection:
            db = stack.enter_context(POOL.snapshot(path, state))
            # The index belongs to the snapshot if nothing had been written when that began.
            if db is None or file_state(file) != state:
                raise StoreChangedError
            return db

        if state is not None and index is not None:
            with suppress(StoreChangedError):
                return read(BlockReader(file, state.inode, index, open_unchanged))
        db = stack.enter_context(POOL.snapshot(path, state))
        if state is None or db is None:
            return read(BlockReader(file, 0, EMPTY, open_unchanged))
        index = read_index(db)
        CACHE.add_index(file, state, index)
        return read(BlockReader(file, state.inode, index, lambda: db))
