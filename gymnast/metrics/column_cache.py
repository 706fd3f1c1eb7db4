"""A cache of what charts read from metric stores, so that zooming and panning need not open them again."""

from __future__ import annotations

import os
import time
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Lock

from gymnast.metrics.store_index import StoreIndex

MAX_BYTES = 256 * 1024 * 1024
"""Size of the columns in the cache; the least recently used ones are dropped first."""
MAX_INDEXES = 2048
SETTLED_SECONDS = 0.1
"""A file that was written more recently might be written again without a visible change of its time stamp."""

Signature = tuple[int, ...]
"""Changes whenever the content of a store changes."""


class ColumnCache:
    """Indexes of stores that have not changed since, and columns of summaries, which never change."""

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self._lock = Lock()  # requests are answered by several threads
        self._max_bytes, self._bytes = max_bytes, 0
        self._indexes: OrderedDict[Path, tuple[Signature, StoreIndex]] = OrderedDict()
        self._columns: OrderedDict[tuple[Path, int, str], dict[int, bytes]] = OrderedDict()
        """File, its inode and key -> summary id -> data."""

    def index(self, path: Path, signature: Signature | None) -> StoreIndex | None:
        """Returns the index of a store that still has this signature; None if it is not known."""
        with self._lock:
            found = self._indexes.get(path)
            if found is None or found[0] != signature:
                return None
            self._indexes.move_to_end(path)
            return found[1]

    def add_index(self, path: Path, signature: Signature | None, index: StoreIndex) -> None:
        """Stores an index that was read after `signature`."""
        if signature is None:
            return
        with self._lock:
            self._indexes[path] = (signature, index)
            self._indexes.move_to_end(path)
            while len(self._indexes) > MAX_INDEXES:
                self._indexes.popitem(last=False)

    def columns(self, path: Path, inode: int, name: str) -> Mapping[int, bytes]:
        """Returns the known columns of a key: summary id -> data."""
        with self._lock:
            found = self._columns.get((path, inode, name))
            if found is None:
                return {}
            self._columns.move_to_end((path, inode, name))
            return found

    def add_columns(
        self, path: Path, inode: int, name: str, columns: Sequence[tuple[int, bytes]]
    ) -> None:
        """Adds columns of a key, given as summary id and data."""
        with self._lock:
            key = (path, inode, name)
            # A new dictionary: another thread may be reading the old one.
            self._columns[key] = self._columns.get(key, {}) | dict(columns)
            self._columns.move_to_end(key)
            self._bytes += sum(len(data) for _, data in columns)
            while self._bytes > self._max_bytes:
                _, dropped = self._columns.popitem(last=False)
                self._bytes -= sum(map(len, dropped.values()))


def signature(path: Path) -> Signature | None:
    """Returns the signature of a metric store; None if it was written too recently to rely on it, or does
    not exist."""
    try:
        stats = [os.stat(path)]
    except OSError:
        return None
    with suppress(OSError):  # there is none unless a process writes
        stats.append(os.stat(f"{path}-wal"))
    if time.time() - max(stat.st_mtime for stat in stats) < SETTLED_SECONDS:
        return None
    return tuple(n for stat in stats for n in (stat.st_ino, stat.st_size, stat.st_mtime_ns))
