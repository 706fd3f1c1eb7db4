"""Atomic file writes: after a crash or on a full disk, a file has its old or its new content, never half."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gymnast.errors import GymnastError


@contextmanager
def explain_os_errors(path: Path) -> Iterator[None]:
    """Turns OSError (full disk, missing permission) into a GymnastError that names `path`."""
    try:
        yield
    except OSError as error:
        fix = "free disk space or fix the permissions; existing files are unchanged"
        raise GymnastError(f"not written: {error.strerror}", at=str(path), fix=fix) from error


def write(path: Path, content: bytes) -> None:
    """Creates a file and flushes it to disk. Not atomic: only for files that nobody reads yet."""
    with path.open("xb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def replace(path: Path, content: bytes) -> None:
    """Replaces a file atomically: readers, also after a crash, see the old or the new content."""
    draft = path.with_name(f".{path.name}.{os.getpid()}-{secrets.token_hex(4)}")
    with explain_os_errors(path):
        try:
            write(draft, content)
            draft.rename(path)
        except BaseException:
            draft.unlink(missing_ok=True)
            raise
        sync_directory(path.parent)


def append(path: Path, line: bytes) -> None:
    """Appends one line to a file; the line is on disk when this returns.

    If a crash has cut the last line short, a newline ends it first, so that the two are not merged.
    """
    with explain_os_errors(path), path.open("a+b") as file:
        if file.seek(0, os.SEEK_END):
            file.seek(-1, os.SEEK_END)
            is_cut_short = file.read(1) != b"\n"
        else:
            is_cut_short = False
        file.write((b"\n" if is_cut_short else b"") + line.rstrip(b"\n") + b"\n")
        file.flush()
        os.fsync(file.fileno())


def sync_directory(path: Path) -> None:
    """Flushes the entries of a directory to disk, so that a rename into it survives a power failure."""
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
