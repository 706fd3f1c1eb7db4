"""A cache of what charts read from metric stores, so that zooming and panning need not open them again."""

from __future__ import annotations

import os
import time
from collections import OrderedDict
from collections.abc import Mapping
from contextlib import suppress
from threading import Lock
from typing import NamedTuple

import numpy as np

from gymnast.metrics.store_index import StoreIndex

MAX_BYTES = 256 * 1024 * 1024
"""Size of the columns in the cache; those of the least recently used store are dropped first."""
MAX_INDEXES = 2048
SETTLED_SECONDS = 0.1
"""A file that was written more recently might be written again without a visible change of its time stamp."""

Columns = dict[str, dict[int, np.ndarray]]
"""Key -> summary id -> its blocks: the array of `Blocks` for one key, [parts, blocks]."""


class FileState(NamedTuple):
    """Changes whenever the content of a store changes."""

    inode: int
    signature: tuple[int, ...]
    """Sizes and time stamps of its files."""
    is_settled: bool
    """Whether the next change is certain to change the signature."""


class ColumnCache:
    """Indexes of stores that have not changed since, and columns of summaries, which never change."""

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self._lock = Lock()  # requests are answered by several threads
        self._max_bytes, self._bytes = max_bytes, 0
        self._indexes: OrderedDict[str, tuple[FileState, StoreIndex]] = OrderedDict()
        self._columns: OrderedDict[tuple[str, int], Columns] = OrderedDict()
        """File and its inode -> columns."""

    def index(self, path: str, state: FileState) -> StoreIndex | None:
        """Returns the index of a store that is still in this state; None if it is not known."""
        with self._lock:
            found = self._indexes.get(path)
            if found is None or found[0] != state:
                return None
            self._indexes.move_to_end(path)
            return found[1]

    def add_index(self, path: str, state: FileState, index: StoreIndex) -> None:
        """Stores an index that was read when the file was in this state, or later."""
        if not state.is_settled:
            return
        with self._lock:
            self._indexes[path] = (state, index)
            self._indexes.move_to_end(path)
            while len(self._indexes) > MAX_INDEXES:
                self._indexes.popitem(last=False)

    def columns(self, path: str, inode: int) -> Columns:
        """Returns the known columns of a store, which the caller does not change."""
        with self._lock:
            found = self._columns.setdefault((path, inode), {})
            self._columns.move_to_end((path, inode))
            return found

    def add_columns(self, path: str, inode: int, columns: Columns) -> None:
        """Adds columns of a store."""
        with self._lock:
            known = self._columns.setdefault((path, inode), {})
            for name, found in columns.items():
                of_name = known.setdefault(name, {})
                new = {key: column for key, column in found.items() if key not in of_name}
                of_name |= new
                self._bytes += _size(new)
            self._columns.move_to_end((path, inode))
            while self._bytes > self._max_bytes:
                _, dropped = self._columns.popitem(last=False)
                self._bytes -= sum(map(_size, dropped.values()))


def _size(columns: Mapping[int, np.ndarray]) -> int:
    return sum(column.nbytes for column in columns.values())


def file_state(path: str) -> FileState | None:
    """Returns the state of a metric store; None if it does not exist."""
    try:
        stats = [os.stat(path)]
    except OSError:
        return None
    with suppress(OSError):  # there is none unless a process writes
        stats.append(os.stat(f"{path}-wal"))
    is_settled = time.time() - max(stat.st_mtime for stat in stats) > SETTLED_SECONDS
    signature = tuple(n for stat in stats for n in (stat.st_ino, stat.st_size, stat.st_mtime_ns))
    return FileState(stats[0].st_ino, signature, is_settled)
