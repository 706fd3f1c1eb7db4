"""The monitor: an overview and charts of runs by approach, as records and as files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from gymnast.data_dir import data_dir
from gymnast.monitor.records import MonitorReport, WrittenMonitor
from gymnast.progress import ProgressCallback, no_progress
from gymnast.runs import store
from gymnast.runs.store import RunsDir

OUT = "monitor"
"""The directory of the files, in the data directory."""


def monitor(
    approaches: Sequence[str] = (),
    refs: Sequence[str] = (),
    *,
    all_runs: bool = False,
    env: str = "",
    smooth: int = 10,
    skip_broken: bool = False,
    files: Sequence[str] = (),
    column_map: str | None = None,
    runs_dir: RunsDir = None,
) -> MonitorReport:
    """Returns the overview and the charts of runs, by approach: a run's tag, else its variant.

    `approaches`: runs with one of these tags or variants; `refs`: runs and groups of seeds, in addition;
    `all_runs`: every run; `env`: only runs of this environment. Without these, the runs of the newest run's
    environment. `files`: CSV files and JSON lines of other programs, read through `column_map`. `smooth`:
    number of rows of the moving average in the charts. A run that lacks a required column raises RunError;
    with `skip_broken` it is left out, and listed in `skipped`."""
    from gymnast.monitor.monitor import MonitorRequest
    from gymnast.monitor.monitor import monitor as monitor_runs
    from gymnast.monitor.selection import Selection

    return monitor_runs(
        MonitorRequest(
            runs_dir=store.runs_dir(runs_dir),
            selection=Selection(tuple(approaches), tuple(refs), all_runs, env),
            files=tuple(files),
            column_map=column_map,
            smooth=smooth,
            skip_broken=skip_broken,
        )
    )


def monitor_csv(
    approaches: Sequence[str] = (),
    refs: Sequence[str] = (),
    *,
    all_runs: bool = False,
    env: str = "",
    skip_broken: bool = False,
    files: Sequence[str] = (),
    column_map: str | None = None,
    runs_dir: RunsDir = None,
) -> str:
    """Returns the overview of `monitor` as CSV, at full precision: the content of run_overview.csv."""
    from gymnast.monitor.overview import overview_csv

    report = monitor(
        approaches,
        refs,
        all_runs=all_runs,
        env=env,
        skip_broken=skip_broken,
        files=files,
        column_map=column_map,
        runs_dir=runs_dir,
    )
    return overview_csv(report.overview)


def write_monitor(
    approaches: Sequence[str] = (),
    refs: Sequence[str] = (),
    *,
    all_runs: bool = False,
    env: str = "",
    smooth: int = 10,
    skip_broken: bool = False,
    files: Sequence[str] = (),
    column_map: str | None = None,
    out: str | Path | None = None,
    data: str | Path | None = None,
    runs_dir: RunsDir = None,
) -> WrittenMonitor:
    """Writes what `monitor` returns: run_overview.csv, manifest.json and a picture per chart, into `out`, by
    default `monitor` in the data directory (`data`, else GYMNAST_DATA, else `data` next to the runs
    directory)."""
    report = monitor(
        approaches,
        refs,
        all_runs=all_runs,
        env=env,
        smooth=smooth,
        skip_broken=skip_broken,
        files=files,
        column_map=column_map,
        runs_dir=runs_dir,
    )
    return write_files(report, out, data, runs_dir)


def write_files(
    report: MonitorReport,
    out: str | Path | None,
    data: str | Path | None,
    runs_dir: RunsDir,
    progress: ProgressCallback = no_progress,
) -> WrittenMonitor:
    """Writes the files of a report, as `write_monitor` does. `progress` is called for every picture."""
    from gymnast.monitor.files import write_report

    default = data_dir(data, store.runs_dir(runs_dir)) / OUT
    return write_report(report, default if out is None else Path(out).expanduser(), progress)
