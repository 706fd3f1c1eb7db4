"""The log of a run, or the output of a job that has no run yet, page by page as it grows."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from gymnast.errors import UsageError
from gymnast.jobs import record, status
from gymnast.runs import files, layout

MAX_BYTES = 1 << 20
"""Maximum size of a page in bytes."""
Source = Literal["job", "run"]


@dataclass(frozen=True)
class LogPage:
    """A part of the log of a run, or of the output of its job before the run exists."""

    run: str
    """Id of the run or job."""
    lines: list[str]
    """Complete lines, without line breaks; a line longer than a page is divided. Bytes that are not UTF-8 are
    replaced."""
    cursor: str
    """Pass it as `after` to get the lines that follow."""
    has_more: bool
    """Whether there are more lines now."""
    ended: bool
    """Whether the run has ended and this is the end of its log."""


def read_log(
    path: Path, *, after: str = "", last: int | None = None, max_bytes: int = MAX_BYTES
) -> LogPage:
    """Returns the lines of a log after the cursor `after` (empty: from the start), at most `max_bytes` bytes.
    `path`: the directory of the run or job; `last`: only the last lines, instead. Raises UsageError for an
    invalid cursor."""
    ended = status.has_ended(path)  # checked before reading, so that no line is missed
    source, position = _parse_cursor(after) if after else (_source(path), 0)
    if last is not None:
        source = _source(path)
        position = _start_of_last_lines(_file(path, source), last, max_bytes)
    text, next_position, size = _read(_file(path, source), position, max_bytes, ended)
    has_more = next_position < size and bool(text)
    if source == "job" and not has_more and layout.LOG.path(path).exists():
        # the job has become a run: its log starts where the output of the job ends
        source, next_position, has_more = "run", 0, True
    return LogPage(
        run=path.name,
        lines=text.decode(errors="replace").removesuffix("\n").split("\n") if text else [],
        cursor=f"{source}:{next_position}",
        has_more=has_more,
        ended=ended and not has_more,
    )


def _source(path: Path) -> Source:
    """Returns `run` if the run's log.txt exists or its job has no output, else `job`."""
    has_log = layout.LOG.path(path).exists()
    return "run" if has_log or not _file(path, "job").exists() else "job"


def _file(path: Path, source: Source) -> Path:
    if source == "run":
        return layout.LOG.path(path)
    return record.output_file(record.jobs_dir(path.parent), path.name)


def _parse_cursor(cursor: str) -> tuple[Source, int]:
    source, _, position = cursor.partition(":")
    if source not in ("job", "run") or not position.isdecimal():
        raise UsageError(f"{cursor!r} is not a cursor", fix="pass the one of an earlier answer")
    return source, int(position)


def _read(file: Path, position: int, max_bytes: int, ended: bool) -> tuple[bytes, int, int]:
    """Returns the complete lines of a file from a position on, the position after them, and the size of the
    file; no lines if it does not exist. The last line of a run that has `ended` counts as complete, and so
    does a line that fills a page. If the file is shorter than the position, reading starts again."""
    try:
        with files.open_file(file) as opened:
            size = os.fstat(opened.fileno()).st_size
            position = position if position <= size else 0
            opened.seek(position)
            text = opened.read(max_bytes)
    except FileNotFoundError:
        return b"", position, 0
    lines = text[: text.rfind(b"\n") + 1]
    if not lines and len(text) == max_bytes:
        lines = text[: _character_start(text)]
    elif ended and position + len(text) >= size and len(text) < max_bytes:
        lines = text
    return lines, position + len(lines), size


def _character_start(text: bytes) -> int:
    """Returns where the last, perhaps incomplete, UTF-8 character of a text starts; its end if that character
    is complete or no UTF-8."""
    for back in range(1, min(4, len(text)) + 1):
        byte = text[-back]
        if byte & 0xC0 != 0x80:  # not a continuation byte
            length = 1 if byte < 0xC0 else 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            return len(text) - back if length > back and len(text) > back else len(text)
    return len(text)


def _start_of_last_lines(file: Path, count: int, max_bytes: int) -> int:
    """Returns the position at which the last `count` lines of a file start, at most `max_bytes` before its
    end; that of the end for 0 lines."""
    try:
        with files.open_file(file) as opened:
            size = os.fstat(opened.fileno()).st_size
            start = max(size - max_bytes, 0)
            opened.seek(start)
            text = opened.read(size - start)
    except FileNotFoundError:
        return 0
    at = len(text)
    for _ in range(count):
        # the line break at the very end of a line belongs to it
        at = text.rfind(b"\n", 0, max(at - 1, 0)) + 1
        if at == 0:
            break
    return start + at
