"""Opening a metric store: its tables, and how sqlite works on network and read-only file systems."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import quote

from gymnast.errors import RunError
from gymnast.metrics.format import READ_VERSIONS, VERSION

LOCK_TIMEOUT_SECONDS = 10.0
"""How long to wait for a lock of another process."""
MAX_VALUE = 64 << 20
"""Maximum size of a value in a metric store that is read, in bytes: those of gymnast have kilobytes."""

_TABLES = f"""
BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS meta (version INTEGER NOT NULL);
INSERT INTO meta SELECT {VERSION} WHERE NOT EXISTS (SELECT 1 FROM meta);
CREATE TABLE IF NOT EXISTS schemas (id INTEGER PRIMARY KEY, names TEXT NOT NULL UNIQUE);
CREATE TABLE IF NOT EXISTS rows (
    id INTEGER PRIMARY KEY,
    attempt INTEGER NOT NULL,
    rollouts INTEGER NOT NULL,
    superseded INTEGER NOT NULL DEFAULT 0,
    schema INTEGER NOT NULL REFERENCES schemas (id),
    data BLOB NOT NULL
);
CREATE INDEX IF NOT EXISTS rows_by_schema ON rows (schema) WHERE superseded = 0;
CREATE TABLE IF NOT EXISTS summaries (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    level INTEGER NOT NULL,
    first INTEGER NOT NULL,
    last INTEGER NOT NULL,
    clocks BLOB NOT NULL
);
CREATE TABLE IF NOT EXISTS summary_columns (
    summary INTEGER NOT NULL REFERENCES summaries (id),
    name TEXT NOT NULL,
    data BLOB NOT NULL,
    PRIMARY KEY (summary, name)
) WITHOUT ROWID;
UPDATE meta SET version = {VERSION};
COMMIT;
"""
NETWORK_VARIABLE = "GYMNAST_NETWORK_FILES"
"""Environment variable that says whether runs are on a network file system: `on` or `off`."""
MOUNTS = "/proc/mounts"
"""The list of mounted file systems."""
_NETWORK_FILE_SYSTEMS = (
    "nfs", "cifs", "smb", "afs", "ceph", "lustre", "gpfs", "beegfs", "glusterfs", "wekafs", "panfs",
    "pvfs2", "virtiofs", "9p", "fuse.sshfs", "fuse.glusterfs", "fuse.ceph", "fuse.juicefs", "fuse.s3fs",
)  # fmt: skip
"""Starts of the types of network file systems."""


def open_writer(path: Path) -> sqlite3.Connection:
    """Opens a metric store for appending; creates its folder, the file and its tables if necessary. Raises
    RunError if that fails."""
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        db = sqlite3.connect(path, timeout=LOCK_TIMEOUT_SECONDS, check_same_thread=False)
        # WAL: readers and the writer do not block each other. It needs shared memory, which network
        # file systems do not provide.
        journal = "DELETE" if is_on_network(path) else "WAL"
        db.execute(f"PRAGMA journal_mode = {journal}")
        # With WAL, NORMAL loses at most the last commits at a power failure; the file stays intact.
        db.execute("PRAGMA synchronous = NORMAL")
        (tables,) = db.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if not tables or _is_older(db):
            db.executescript(_TABLES)
    except sqlite3.Error as error:
        raise RunError(f"cannot write the metric store: {error}", at=str(path)) from error
    return db


def open_reader(path: Path) -> sqlite3.Connection | None:
    """Opens a metric store read-only; returns None if the file does not exist. Raises RunError if it cannot
    be opened or is no sqlite file."""
    file = os.path.abspath(path)
    # The second mode is for read-only file systems, where nobody can be writing.
    for mode in ("mode=ro", "mode=ro&immutable=1"):
        try:
            return _connect_reader(f"file:{quote(file)}?{mode}")
        except sqlite3.OperationalError as error:
            if "unable to open" not in str(error):
                raise RunError(f"cannot read the metric store: {error}", at=str(path)) from error
        except sqlite3.DatabaseError as error:
            raise RunError(f"this is not a metric store: {error}", at=str(path)) from error
        if not os.path.exists(file):
            return None
        if os.path.exists(f"{file}-wal"):
            break
    raise RunError("cannot open the metric store", at=str(path))


def _connect_reader(address: str) -> sqlite3.Connection:
    """Connects to a file and reads from it, because only that shows whether it can be read."""
    db = sqlite3.connect(address, uri=True, timeout=LOCK_TIMEOUT_SECONDS, check_same_thread=False)
    db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_VALUE)
    try:
        views = db.execute("SELECT count(*) FROM sqlite_master WHERE type = 'view'").fetchone()[0]
        if views:  # one could make up endless rows while it is read
            raise sqlite3.DatabaseError("it has views")
    except sqlite3.Error:
        db.close()
        raise
    return db


@contextmanager
def explain_read_errors(path: Path) -> Iterator[None]:
    """Raises RunError if sqlite cannot read the metric store `path`, such as a damaged file."""
    try:
        yield
    except sqlite3.Error as error:
        raise RunError(f"cannot read the metric store: {error}", at=str(path)) from error


def schema_names(text: str) -> list[str]:
    """Returns the names of the values of rows with a schema. `text`: its column `names`. Raises RunError if
    it is damaged."""
    try:
        names = json.loads(text)
    except (ValueError, TypeError, RecursionError):
        names = None
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):  # pyright: ignore[reportUnknownVariableType]
        raise RunError("cannot read the metric store: the names of its metrics are damaged")
    return names  # pyright: ignore[reportUnknownVariableType]


def check_version(db: sqlite3.Connection, path: Path) -> bool:
    """Returns whether the file `path` has its tables. If not, because another process is just creating them,
    `db` is closed: there are no rows yet. Raises RunError, after closing it, if the file is no metric store
    or has a format version that cannot be read."""
    try:
        stored = db.execute("SELECT version FROM meta").fetchone()
    except sqlite3.DatabaseError as error:
        db.close()
        if not isinstance(error, sqlite3.OperationalError):
            raise RunError(f"this is not a metric store: {error}", at=str(path)) from error
        if "no such table" not in str(error):
            raise RunError(f"cannot read the metric store: {error}", at=str(path)) from error
        return False
    if stored is None or stored[0] not in READ_VERSIONS:
        db.close()
        versions = " and ".join(map(str, READ_VERSIONS))
        raise RunError(
            f"metric store of format version {stored and stored[0]}; this gymnast reads versions "
            f"{versions}, and the names of metrics may differ",
            at=str(path),
            fix="use the gymnast version that wrote it",
        )
    return True


def _is_older(db: sqlite3.Connection) -> bool:
    """Returns whether this is a metric store of an older version that can be read."""
    try:
        version = db.execute("SELECT version FROM meta").fetchone()
    except sqlite3.OperationalError:  # no such table: opening it as a store reports that
        return False
    return version is not None and version[0] in READ_VERSIONS and version[0] != VERSION


def is_on_network(path: Path) -> bool:
    """Returns whether a file is on a network file system, where sqlite's WAL mode does not work. The variable
    GYMNAST_NETWORK_FILES (`on`, `off`) decides; without it, False where there is no /proc/mounts."""
    if (chosen := os.environ.get(NETWORK_VARIABLE)) in ("on", "off"):
        return chosen == "on"
    with suppress(OSError), open(MOUNTS, encoding="utf-8") as mounts:
        # The innermost mount that contains the file decides; of two with the same path, the later one.
        best, kind = -1, ""
        for line in mounts:
            _, mount, system, *_ = line.split()
            inside = path.resolve().is_relative_to(mount.replace("\\040", " "))
            if inside and len(mount) >= best:
                best, kind = len(mount), system
        return kind.startswith(_NETWORK_FILE_SYSTEMS)
    return False
