"""Writing so that a crash or a full disk leaves the old content or the new, never half."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gymnast.errors import GymnastError


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """A full disk or a missing permission becomes a message about `path`, not a traceback."""
    try:
        yield
    except OSError as error:
        fix = "make room or give access; what was there before is as it was"
        raise GymnastError(f"not written: {error.strerror}", at=str(path), fix=fix) from error


def write(path: Path, content: bytes) -> None:
    """A new file that is on the disk when this returns. Not atomic: for files nobody reads yet."""
    with path.open("xb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def replace(path: Path, content: bytes) -> None:
    """The file holds the old content or the new at every moment, for readers and after a crash."""
    draft = path.with_name(f".{path.name}.{os.getpid()}-{secrets.token_hex(4)}")
    with explained(path):
        try:
            write(draft, content)
            draft.rename(path)
        except BaseException:
            draft.unlink(missing_ok=True)
            raise
        sync_directory(path.parent)


def append(path: Path, line: bytes) -> None:
    """One line at the end of a file, on the disk when this returns.

    A line that a crash has cut short is closed first, so it cannot swallow this one.
    """
    with explained(path), path.open("a+b") as file:
        if file.seek(0, os.SEEK_END):
            file.seek(-1, os.SEEK_END)
            torn = file.read(1) != b"\n"
        else:
            torn = False
        file.write((b"\n" if torn else b"") + line.rstrip(b"\n") + b"\n")
        file.flush()
        os.fsync(file.fileno())


def sync_directory(path: Path) -> None:
    """Make the names in a directory, such as a rename into it, survive a power cut."""
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
