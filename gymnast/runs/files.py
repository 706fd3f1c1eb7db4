"""Opens the files of a run for reading.

A run may come from somebody else, so nothing in it is trusted: a link could lead out of the run, a name in
one of its documents could be the path of another file, a pipe would block the reader, and a file that takes a
few kilobytes on disk can have terabytes. Every reader of a run's files calls `open_file` or `read`.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO

from gymnast.errors import RunError
from gymnast.text import formatting

MAX_DOCUMENT = 64 << 20
"""Maximum size of a JSON document of a run, in bytes."""
MAX_CONFIG = 1 << 20
"""Maximum size of a config."""
MAX_EVENTS = 256 << 20
"""Maximum size of events.jsonl."""
MAX_ARRAYS = 16 << 30
"""Maximum size of a file with arrays: a replay memory of images takes several gigabytes."""


def refuse_link(path: Path) -> Path:
    """Returns a path in a run; raises RunError if it is a link."""
    if path.is_symlink():
        raise _is_link(path)
    return path


def inside(folder: Path, path: Path) -> Path:
    """Returns a path below a folder of a run. Raises RunError if it leaves the folder, or if it or a folder
    on the way is a link."""
    try:
        names = path.relative_to(folder).parts
    except ValueError:
        names = ()
    if not names or ".." in names:
        fix = "ask for a new copy of the run"
        raise RunError("is not a file of the run that names it", at=str(path), fix=fix)
    for name in names:
        folder = refuse_link(folder / name)
    return path


def open_file(path: Path, *, below: Path | None = None) -> BinaryIO:
    """Opens a file of a run. `below`: the folder of the run that it must be in, by default its parent. Raises
    RunError if it leaves this folder, is a link or no plain file, and OSError if it cannot be opened."""
    inside(path.parent if below is None else below, path)
    try:
        # O_NONBLOCK: opening a pipe that nobody writes to would wait forever.
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise _is_link(path) from None
        raise
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise RunError("is not a plain file", at=str(path), fix="remove it, if you trust the run")
    return os.fdopen(handle, "rb")


def read(path: Path, *, below: Path | None = None, limit: int = MAX_DOCUMENT) -> bytes:
    """Returns the content of a file of a run. Raises RunError as `open_file`, and if it has more than `limit`
    bytes."""
    with open_file(path, below=below) as file:
        size = os.fstat(file.fileno()).st_size
        content = file.read(limit + 1) if size <= limit else b""
    if max(size, len(content)) > limit:
        problem = (
            f"has {formatting.size(size)}, more than the {formatting.size(limit)} that are read"
        )
        raise RunError(problem, at=str(path))
    return content


def _is_link(path: Path) -> RunError:
    fix = "replace it by the file itself, if you trust it"
    return RunError("is a link, which a run must not contain", at=str(path), fix=fix)
