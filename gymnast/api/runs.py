"""Runs: listing them, and everything about one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from gymnast.errors import UsageError
from gymnast.jobs.remote.refresh import refresh
from gymnast.runs import store
from gymnast.runs.details import RunDetails, describe_run
from gymnast.runs.events import RunEvent
from gymnast.runs.store import RunsDir
from gymnast.runs.summary import RunSummary


@dataclass(frozen=True)
class RunPage:
    """A part of the list of runs."""

    runs: list[RunSummary]
    """Newest first."""
    total: int
    """Number of runs that match the filter."""
    directory: str
    """The runs directory."""
    cursor: str | None
    """Pass it as `after` to get the runs that follow; None if there are none."""


@dataclass(frozen=True)
class EventPage:
    """A part of the events of a run."""

    run: str
    """Id of the run."""
    events: list[RunEvent]
    """The events, in order."""
    cursor: int
    """Number of the last event: pass it as `after` to get the events that follow."""
    total: int
    """Number of events. If it is smaller than before, a resume has discarded some: read all again."""


def runs(
    filter: str = "",
    *,
    after: str | None = None,
    limit: int | None = None,
    sizes: bool = False,
    runs_dir: RunsDir = None,
) -> RunPage:
    """Lists the runs that match the filter, newest first. A run that cannot be read has a `problem`.

    `filter`: words, all of which must match: FIELD=VALUE (id, name, preset, env, variant, algo, status, seed,
    group, tag, solved), FIELD>NUMBER, also with >=, < and <= (score, best_score, area, progress, env_steps,
    seconds, alerts, seed), or text to search for; empty means all runs. `after`: the `cursor` of an earlier
    answer; `limit`: at most that many. `sizes` adds the disk space of each run, which looks at every file."""
    directory = store.runs_dir(runs_dir)
    matching = store.list_runs(directory, filter)
    if after is not None:
        position = _position(after)
        following = [run for run in matching if (run.created, run.id) < position]
    else:
        following = matching
    page = following if limit is None else following[:limit]
    cursor = f"{page[-1].created!r}/{page[-1].id}" if page and len(page) < len(following) else None
    if sizes:
        from gymnast.runs.removal import run_size

        page = [replace(run, bytes=run_size(Path(run.path))) for run in page]
    return RunPage(page, len(matching), str(directory), cursor)


def show(
    ref: str = "@last", *, verify: bool = False, sizes: bool = False, runs_dir: RunsDir = None
) -> RunDetails:
    """Returns everything known about one run: its status, score, clocks, config, events, evaluations,
    checkpoints and videos. `ref` may name a checkpoint, as in `@last:best`, which is then described too.

    `verify` compares the files of the checkpoints with their hashes, which reads them; `sizes` adds the disk
    space of the run, which looks at every file. If the run trains on another host that does not share the
    runs directory, its small files are copied from there first."""
    run, which = store.resolve_readable(ref, store.runs_dir(runs_dir))
    if run.bundle is None:
        refresh(run.path.parent, [run.id], files=True)
    return describe_run(run, which, verify=verify, sizes=sizes)


def events(
    ref: str = "@last", *, after: int = 0, limit: int | None = None, runs_dir: RunsDir = None
) -> EventPage:
    """Returns the events of a run, in order. `after`: the `cursor` of an earlier answer; `limit`: at most
    that many."""
    run, _ = store.resolve_readable(ref, store.runs_dir(runs_dir))
    valid = run.events()
    page = valid[after : None if limit is None else after + limit]
    return EventPage(
        run.id, [RunEvent.from_info(event) for event in page], after + len(page), len(valid)
    )


def _position(cursor: str) -> tuple[float, str]:
    """Returns the creation time and id of the run that a cursor of `runs` names."""
    created, separator, run_id = cursor.partition("/")
    try:
        if not separator:
            raise ValueError
        return float(created), run_id
    except ValueError:
        raise UsageError(
            f"{cursor!r} is not a cursor", fix="pass the one of an earlier answer"
        ) from None
