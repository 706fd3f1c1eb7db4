"""Connections to metric stores that stay open for a while, so that a zoom into many runs need not open all of
them again."""

from __future__ import annotations

import resource
import sqlite3
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock, Timer

from gymnast.metrics.column_cache import FileState
from gymnast.metrics.database import check_version, explain_read_errors, open_reader

MAX_IDLE = 256
"""Maximum number of connections that stay open; the least recently used ones are closed first."""
SHARE_OF_FILES = 0.25
"""They use at most this share of the files that the process may open."""
IDLE_SECONDS = 60.0
"""All idle connections are closed this often, so that the disk space of deleted runs is freed."""


class ReaderPool:
    """Opens metric stores read-only, and keeps the connections to stores without a writer.

    A connection to a store that is being written is never kept: the trainer could not leave WAL mode at the
    end of the run. An idle connection to any other store holds no lock."""

    def __init__(self, max_idle: int = MAX_IDLE) -> None:
        files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        is_limited = files != resource.RLIM_INFINITY
        self._max_idle = min(max_idle, int(SHARE_OF_FILES * files)) if is_limited else max_idle
        self._lock = Lock()  # requests are answered by several threads
        self._idle: OrderedDict[Path, tuple[FileState, sqlite3.Connection]] = OrderedDict()
        self._timer: Timer | None = None

    def __len__(self) -> int:
        return len(self._idle)

    @contextmanager
    def snapshot(self, path: Path, state: FileState | None) -> Iterator[sqlite3.Connection | None]:
        """Yields a store in a transaction: what is read inside belongs together, whatever is written
        meanwhile. None if the file does not exist or has no tables yet. `state`: that of the file before. A
        connection is for one thread at a time. Raises RunError if the store cannot be read."""
        db = self._take(path, state) or open_reader(path)
        if db is None:
            yield None
            return
        is_kept = False
        try:
            with explain_read_errors(path):
                db.execute("BEGIN")
                has_tables = check_version(db, path)
                yield db if has_tables else None
                if has_tables and state is not None and state.is_settled:
                    db.rollback()
                    (journal,) = db.execute("PRAGMA journal_mode").fetchone()
                    is_kept = journal != "wal"
        finally:
            if state is not None and is_kept:
                self._keep(path, state, db)
            else:
                db.close()

    def close(self) -> None:
        """Closes all idle connections."""
        with self._lock:
            self._timer = None
            idle, self._idle = self._idle, OrderedDict()
        for _, db in idle.values():
            db.close()

    def _take(self, path: Path, state: FileState | None) -> sqlite3.Connection | None:
        """Returns a kept connection, unless the file has changed since: it may be in WAL mode now."""
        with self._lock:
            kept = self._idle.pop(path, None)
        if kept is None:
            return None
        if kept[0] == state:
            return kept[1]
        kept[1].close()
        return None

    def _keep(self, path: Path, state: FileState, db: sqlite3.Connection) -> None:
        with self._lock:
            closed = [self._idle.pop(path)] if path in self._idle else []
            self._idle[path] = (state, db)
            while len(self._idle) > self._max_idle:
                closed.append(self._idle.popitem(last=False)[1])
            if self._timer is None:
                self._timer = Timer(IDLE_SECONDS, self.close)
                self._timer.daemon = True
                self._timer.start()
        for _, other in closed:
            other.close()
