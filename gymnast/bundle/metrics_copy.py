"""Copies of a metric store as bytes, complete or thinned, while a training may be writing to it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from gymnast.metrics.database import explain_read_errors, open_reader, schema_names
from gymnast.privacy.sanitize import Sanitizer

THINNED = (4, 16, 64, 256)
"""A thinned copy keeps one of this many rows without an evaluation."""


def metrics_copies(path: Path, sanitizer: Sanitizer) -> Iterator[tuple[bytes, str]]:
    """Yields the content of a metric store, then smaller and smaller ones, each with a note about what is
    missing; nothing if it has no tables yet. Raises RunError if it cannot be read, ValueError if names of
    metrics cannot be cleaned."""
    source = open_reader(path)
    if source is None:
        return
    # An iterator that nobody reads to its end is closed by whichever thread collects garbage.
    with closing(sqlite3.connect(":memory:", check_same_thread=False)) as copy:
        with closing(source), explain_read_errors(path):
            source.backup(copy)  # one consistent state, whatever is written meanwhile
        if not _has_table(copy, "rows"):
            return
        _clean_names(copy, sanitizer)
        yield _content(copy), ""
        _drop_summaries(copy)
        with copy:
            copy.execute("DELETE FROM rows WHERE superseded != 0")
        yield _content(copy), "without superseded rows and summaries"
        for share in THINNED:
            _thin(copy, share)
            yield _content(copy), f"one of {share} rows, and all rows with an evaluation"


def _clean_names(copy: sqlite3.Connection, sanitizer: Sanitizer) -> None:
    """Cleans the names of metrics, which may contain names that an environment gave to tasks and numbers."""
    changed = False
    for key, text in copy.execute("SELECT id, names FROM schemas").fetchall():
        names = schema_names(text)
        clean = [sanitizer.text(name) for name in names]
        if clean == names:
            continue
        changed = True
        try:
            with copy:
                copy.execute("UPDATE schemas SET names = ? WHERE id = ?", (json.dumps(clean), key))
        except sqlite3.IntegrityError as error:
            raise ValueError("names of metrics differ only in private texts") from error
    if changed:  # summaries repeat the names; readers do without them
        _drop_summaries(copy)


def _drop_summaries(copy: sqlite3.Connection) -> None:
    for table in ("summary_columns", "summaries"):
        if _has_table(copy, table):
            with copy:
                copy.execute(f"DELETE FROM {table}")


def _thin(copy: sqlite3.Connection, share: int) -> None:
    """Deletes all but one of `share` rows without an evaluation; the last row stays."""
    schemas = copy.execute("SELECT id, names FROM schemas").fetchall()
    plain = [
        key for key, names in schemas if not any(n.startswith("eval") for n in schema_names(names))
    ]
    with copy:
        copy.execute(
            f"DELETE FROM rows WHERE schema IN ({','.join('?' * len(plain))}) AND id % ? != 0"
            " AND id != (SELECT max(id) FROM rows)",
            (*plain, share),
        )


def _content(copy: sqlite3.Connection) -> bytes:
    copy.execute("VACUUM")  # what was deleted is gone, and the file is as small as possible
    return copy.serialize()


def _has_table(db: sqlite3.Connection, name: str) -> bool:
    query = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?"
    return db.execute(query, (name,)).fetchone() is not None
