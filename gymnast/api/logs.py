"""The logs of runs and jobs."""

from __future__ import annotations

from pathlib import Path

from gymnast.jobs import status
from gymnast.jobs.follow import MAX_BYTES, LogPage, read_log
from gymnast.jobs.remote.refresh import refresh
from gymnast.runs import store
from gymnast.runs.store import RunsDir
from gymnast.runs.unpack import is_bundle_name


def logs(
    ref: str = "@last",
    *,
    after: str = "",
    last: int | None = None,
    max_bytes: int = MAX_BYTES,
    runs_dir: RunsDir = None,
) -> LogPage:
    """Returns a part of the log of a run, or of the output of a job that has no run yet.

    `after`: the `cursor` of an earlier answer; empty means from the start. `last`: only that many of the
    latest lines, instead. At most `max_bytes` bytes are returned at once."""
    directory = store.runs_dir(runs_dir)
    if is_bundle_name(ref):
        path = store.resolve_readable(ref, directory)[0].path
    else:
        path = Path(status.find(ref, directory).path)
        refresh(path.parent, [path.name], files=True)
    return read_log(path, after=after, last=last, max_bytes=min(max(max_bytes, 4), MAX_BYTES))
