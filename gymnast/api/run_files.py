"""Text files of a run directory."""

from __future__ import annotations

import os
from dataclasses import dataclass

from gymnast.errors import RunError, UsageError
from gymnast.runs import files, layout, store
from gymnast.runs.store import RunsDir
from gymnast.text.suggestions import did_you_mean

MAX_BYTES = 1_000_000
FILES = {
    **{file.name: file.name for file in (layout.RUN, layout.CONFIG, layout.PROVENANCE)},
    **{file.name: file.name for file in (layout.EVENTS, layout.LOG)},
    "report.md": f"{layout.REPORT.name}report.md",
}
"""Name -> path in the run directory, of the files that are text."""


@dataclass(frozen=True)
class RunText:
    """A text file of a run."""

    run: str
    """Id of the run."""
    name: str
    """The file."""
    text: str
    """Its content, or the part of it that was asked for. Bytes that are not UTF-8 are replaced."""
    bytes: int
    """Size of the whole file."""
    left_out: int
    """Number of bytes that are not in `text`."""


def run_file(
    ref: str = "@last",
    file: str = layout.CONFIG.name,
    *,
    max_bytes: int = MAX_BYTES,
    end: bool = False,
    runs_dir: RunsDir = None,
) -> RunText:
    """Returns a text file of a run as it is on disk: run.json, config.yaml, provenance.json, events.jsonl,
    log.txt, or the report (report.md) if it was written. `max_bytes`: at most that many; `end`: of a longer
    file, whole lines of its end instead of its start."""
    if file not in FILES:
        problem = f"{file!r} is not a text file of a run{did_you_mean(file, FILES)}"
        raise UsageError(problem, fix=f"use one of: {', '.join(FILES)}")
    run, _ = store.resolve_readable(ref, store.runs_dir(runs_dir))
    try:
        with files.open_file(run.path / FILES[file], below=run.path) as opened:
            size = opened.seek(0, os.SEEK_END)
            limit = max(max_bytes, 1)
            opened.seek(max(size - limit, 0) if end else 0)
            content = opened.read(limit)
    except OSError:
        how = "gymnast report writes it" if file == "report.md" else ""
        raise RunError(f"run {run.id} has no {file}", at=str(run.path), fix=how) from None
    if len(content) < size:
        content = _whole_lines(content, end)
    text = content.decode(errors="replace")
    return RunText(run.id, file, text, size, size - len(content))


def _whole_lines(content: bytes, end: bool) -> bytes:
    """Returns a part of a file without the line that was cut at its start or, unless `end`, at its end."""
    if end:
        return content.partition(b"\n")[2] or content
    return content[: content.rfind(b"\n") + 1] or content
