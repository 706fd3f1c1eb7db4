"""The monitor: reads the selected runs, checks their columns, then computes the overview and the charts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from gymnast.errors import RunError, UsageError
from gymnast.foreign.column_map import read_column_map
from gymnast.monitor.chart_data import monitor_charts
from gymnast.monitor.foreign import read_foreign_runs, require_distinct_runs
from gymnast.monitor.monitored_run import MonitoredRun
from gymnast.monitor.overview import overview_row
from gymnast.monitor.records import MonitorReport, SkippedRun
from gymnast.monitor.schema import check_columns
from gymnast.monitor.selection import Selection, select_runs
from gymnast.monitor.stored_run import approach_of, read_stored_run
from gymnast.runs.summary import RunSummary
from gymnast.settings import view_clock
from gymnast.text.formatting import count_noun


@dataclass(frozen=True)
class MonitorRequest:
    """The runs and files to monitor, and how."""

    runs_dir: Path
    selection: Selection
    files: tuple[str, ...] = ()
    """Foreign CSV files and JSON lines; if there are any, runs of the directory must be selected
    explicitly."""
    column_map: str | None = None
    """The column map of these files."""
    smooth: int = 10
    """Number of rows of the moving average in charts."""
    skip_broken: bool = False
    """Whether runs with broken columns are left out instead of raising an error."""


def monitor(request: MonitorRequest) -> MonitorReport:
    """Returns the overview and the charts of the requested runs. Every run is checked before anything is
    computed. Raises RunError for a run with broken columns, unless these are skipped, and if none is left;
    UsageError for files without a column map."""
    runs: list[MonitoredRun] = []
    skipped: list[SkippedRun] = []
    broken: list[tuple[str, RunError]] = []
    for name, read in _readers(request):
        try:
            runs += read()
        except RunError as error:
            broken.append((name, error))
            skipped.append(SkippedRun(name, error.at, error.message, error.fix))
    if broken and not (request.skip_broken and runs):
        raise _one_error(broken)
    require_distinct_runs(runs)
    clock = _common_clock(runs)
    runs = [replace(run, clock=clock) for run in runs]
    runs.sort(key=lambda run: (run.env, run.approach, run.seed is None, run.seed or 0, run.run))
    return MonitorReport(
        overview=[overview_row(run) for run in runs],
        charts=monitor_charts(runs, request.smooth),
        skipped=skipped,
        approaches=list(dict.fromkeys(run.approach for run in runs)),
        smooth=request.smooth,
    )


def _common_clock(runs: Sequence[MonitoredRun]) -> str:
    """Returns the clock of the charts: that of every view, or env steps if a run does not record it."""
    clock = view_clock()
    column = f"clock/{clock}"
    recorded = all(run.has(column) and np.isfinite(run.column(column)).all() for run in runs)
    return clock if recorded else "env_steps"


Reader = Callable[[], Sequence[MonitoredRun]]


def _readers(request: MonitorRequest) -> Iterator[tuple[str, Reader]]:
    """Yields the name of each run or file, with a function that reads and checks it."""
    selection, runs_dir = request.selection, request.runs_dir
    if request.column_map is not None and not request.files:
        raise UsageError("a column map needs the files that it is for", fix="--map MAP FILE...")
    if request.files and request.column_map is None:
        raise UsageError(
            f"{request.files[0]} needs a column map",
            fix="name one with --map FILE (docs/monitor.md)",
        )
    if not request.files or not selection.is_empty:
        for summary in select_runs(selection, runs_dir):
            approach = approach_of(summary, selection.approaches)
            yield summary.id, lambda s=summary, a=approach: [_read_checked(s, runs_dir, a)]
    if request.column_map is not None:
        column_map, map_file = read_column_map(request.column_map), request.column_map
        for file in request.files:
            yield file, lambda f=file: read_foreign_runs(f, column_map, map_file)


def _read_checked(summary: RunSummary, runs_dir: Path, approach: str) -> MonitoredRun:
    run = read_stored_run(summary, runs_dir, approach)
    check_columns(run)
    return run


def _one_error(broken: Sequence[tuple[str, RunError]]) -> RunError:
    """Returns the error of the first broken run, which names the others too."""
    (_, first), *others = broken
    more = ""
    if others:
        more = f"\n{count_noun(len(others), 'other run')} cannot be monitored either: "
        more += ", ".join(name for name, _ in others)
    fix = "; or ".join(filter(None, [first.fix, "leave out what is broken: --skip-broken"]))
    return RunError(f"{first.message}{more}", at=first.at, fix=fix)
