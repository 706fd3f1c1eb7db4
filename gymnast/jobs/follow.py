"""The log of a run or the output of a job, read once or followed as it grows."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from gymnast.jobs import record, status
from gymnast.runs import layout

POLL_SECONDS = 0.2


def read_log(path: Path, *, lines: int | None, follow: bool) -> Iterator[str]:
    """Yields the text of the run's log.txt or, before it exists, of the output of its job. `path`: the
    directory of the run; `lines`: only the last ones of the present text (None: all); `follow`: then yields
    new lines until the run ends."""
    file = log_file(path)
    at, text = _read(file, 0)
    yield text if lines is None else "".join(text.splitlines(keepends=True)[-lines or len(text) :])
    while follow:
        ended = status.has_ended(path)  # checked before the last read, so that no line is missed
        if (newer := log_file(path)) != file:  # the job has become a run
            file, at = newer, 0
        at, text = _read(file, at)
        if text:
            yield text
        elif ended:
            return
        else:
            time.sleep(POLL_SECONDS)


def log_file(path: Path) -> Path:
    """Returns the run's log.txt if it exists, else the output of its job if there is one."""
    run_log = layout.LOG.path(path)
    job_output = record.output_file(record.jobs_dir(path.parent), path.name)
    return run_log if run_log.exists() or not job_output.exists() else job_output


def _read(file: Path, at: int) -> tuple[int, str]:
    """Returns the complete lines of a file from byte `at` on, and the position after them; no text if the
    file does not exist."""
    with suppress(FileNotFoundError), file.open("rb") as opened:
        opened.seek(at)
        new = opened.read()
        complete = len(new) if not new or new.endswith(b"\n") else new.rfind(b"\n") + 1
        return at + complete, new[:complete].decode(errors="replace")
    return at, ""
