"""A cache of every run.json in a runs directory, so that listing a thousand runs opens one file.

Readers maintain it, and it may be deleted at any time. A cached row is valid while its run.json has
the same modification time, size and inode.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable
from contextlib import closing, suppress
from pathlib import Path
from typing import NamedTuple

from gymnast.errors import RunError
from gymnast.runs import document, layout
from gymnast.runs.info import RunInfo
from gymnast.runs.run import read_info

FILE = "index.db"
VERSION = 100 + layout.RUN.version
"""Schema version; the cache is rebuilt when its own layout or that of run.json changes."""

Stamp = tuple[int, int, int]


class UnreadableRun(NamedTuple):
    problem: str
    created: float
    """Modification time of its run.json, in seconds since the epoch."""


Entry = RunInfo | UnreadableRun


def read_all(runs_dir: Path) -> list[tuple[Path, Entry]]:
    """Returns the directory and run.json of every run in `runs_dir`, or why it cannot be read."""
    stamps = scan(runs_dir)
    if not stamps:
        return []
    try:
        entries = _cached(runs_dir / FILE, runs_dir, stamps)
    except sqlite3.OperationalError:  # read-only or busy: read every run.json instead
        entries = _uncached(runs_dir, stamps)
    except sqlite3.DatabaseError:  # damaged: the next reader creates a new one
        for suffix in ("", "-journal"):
            with suppress(OSError):
                os.unlink(runs_dir / f"{FILE}{suffix}")
        entries = _uncached(runs_dir, stamps)
    return [(runs_dir / name, entry) for name, entry in entries.items()]


def scan(runs_dir: Path) -> dict[str, Stamp]:
    """Returns directory name -> stamp (modification time in ns, size, inode) of run.json, for every run in
    `runs_dir`. Empty if that is no directory."""
    stamps: dict[str, Stamp] = {}
    try:
        names = os.listdir(runs_dir)
    except (FileNotFoundError, NotADirectoryError):
        return {}
    for name in names:
        if name.startswith("."):  # being deleted
            continue
        with suppress(OSError):  # not a run, or one being created
            stat = os.lstat(runs_dir / name / layout.RUN.name)  # a link is reported by `read_info`
            stamps[name] = (stat.st_mtime_ns, stat.st_size, stat.st_ino)
    return stamps


def _cached(file: Path, runs_dir: Path, stamps: dict[str, Stamp]) -> dict[str, Entry]:
    """Returns directory name -> run.json of every run in `stamps`, and updates the cache. run.json is read
    only where the cache `file` has no row with the same stamp. Raises sqlite3.Error if the cache cannot be
    read."""
    if file.is_symlink():
        raise sqlite3.DatabaseError("a link")  # removed, like a damaged cache
    with closing(sqlite3.connect(file, timeout=1.0)) as db:
        if db.execute("PRAGMA user_version").fetchone()[0] != VERSION:
            _create_table(db)
        known = {
            name: ((mtime, size, inode), text)
            for name, mtime, size, inode, text in db.execute("SELECT * FROM runs")
        }
        entries: dict[str, Entry] = {}
        fresh: list[str] = []
        for name, stamp in stamps.items():
            if name in known and known[name][0] == stamp:
                entries[name] = document.loads(known[name][1])
            else:
                entry = entries[name] = _entry(runs_dir / name, stamp)
                if not isinstance(
                    entry, UnreadableRun
                ):  # it may become readable without a new file
                    fresh.append(name)
        deleted = known.keys() - stamps.keys()
        if fresh or deleted:
            with suppress(sqlite3.OperationalError):  # read-only or busy: `entries` is right anyway
                _store(db, [(n, *stamps[n], document.dumps(entries[n])) for n in fresh], deleted)
        return entries


def _create_table(db: sqlite3.Connection) -> None:
    """Replaces the table of the cache by an empty one of the present schema version."""
    with db:
        db.execute("BEGIN IMMEDIATE")
        db.execute("DROP TABLE IF EXISTS runs")
        db.execute(
            "CREATE TABLE runs (name TEXT PRIMARY KEY, mtime INTEGER, size INTEGER, inode INTEGER,"
            " info TEXT) WITHOUT ROWID"
        )
        db.execute(f"PRAGMA user_version = {VERSION}")


def _store(
    db: sqlite3.Connection, fresh: list[tuple[str, int, int, int, str]], deleted: Iterable[str]
) -> None:
    with db:
        db.executemany("INSERT OR REPLACE INTO runs VALUES (?, ?, ?, ?, ?)", fresh)
        db.executemany("DELETE FROM runs WHERE name = ?", [(name,) for name in deleted])


def _uncached(runs_dir: Path, stamps: dict[str, Stamp]) -> dict[str, Entry]:
    return {name: _entry(runs_dir / name, stamp) for name, stamp in stamps.items()}


def _entry(path: Path, stamp: Stamp) -> Entry:
    try:
        return read_info(path)
    except RunError as error:
        return UnreadableRun(str(error), stamp[0] / 1e9)
