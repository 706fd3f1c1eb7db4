"""The text that a run or a job leaves behind, read once or as it grows."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from gymnast.jobs import record, standing

LOOK_SECONDS = 0.2


def log(path: Path, *, lines: int | None, following: bool) -> Iterator[str]:
    """The run's log.txt; before there is one, the output of its job."""
    file = log_file(path)
    at, text = _read(file, 0)
    yield text if lines is None else "".join(text.splitlines(keepends=True)[-lines or len(text) :])
    while following:
        ended = standing.is_over(path)  # before the last look
        if (newer := log_file(path)) != file:
            file, at = newer, 0
        at, text = _read(file, at)
        if text:
            yield text
        elif ended:
            return
        else:
            time.sleep(LOOK_SECONDS)


def log_file(path: Path) -> Path:
    run_log = path / "log.txt"
    job_output = record.output(record.folder_of(path.parent), path.name)
    return run_log if run_log.exists() or not job_output.exists() else job_output


def _read(file: Path, at: int) -> tuple[int, str]:
    """Whole lines from this byte on, and where they end."""
    with suppress(FileNotFoundError), file.open("rb") as opened:
        opened.seek(at)
        found = opened.read()
        whole = len(found) if not found or found.endswith(b"\n") else found.rfind(b"\n") + 1
        return at + whole, found[:whole].decode(errors="replace")
    return at, ""
