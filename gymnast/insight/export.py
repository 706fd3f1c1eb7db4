"""Export of the rows of a run: to a file, or to a tracker as if it had tracked the run from the start."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from gymnast.config.config import Config
from gymnast.config.sections.track import TRACKERS
from gymnast.errors import GymnastError, UsageError
from gymnast.metrics.alerts import Alerts
from gymnast.metrics.export import to_csv, to_parquet
from gymnast.metrics.metric import Metric
from gymnast.metrics.recorder import Row, Summary
from gymnast.metrics.specs import run_metrics
from gymnast.metrics.store import MetricStore
from gymnast.metrics.tracking import TrackedRun, open_tracker, require_packages
from gymnast.runs import durable, films, layout
from gymnast.runs.info import RunInfo
from gymnast.runs.run import Run
from gymnast.settings import view_clock
from gymnast.text.suggestions import did_you_mean

FILES: dict[str, Callable[[MetricStore, Mapping[str, Metric]], bytes]] = {
    "csv": lambda store, _: to_csv(store).encode(),
    "parquet": to_parquet,
}
FORMATS = (*FILES, *TRACKERS)


@dataclass(frozen=True)
class Export:
    """The metrics of a run, written for other programs."""

    run: str
    """Id of the run."""
    format: str
    path: str
    """The file, or the folder of a tracker."""
    rows: int
    """Number of rows."""


def export(run: Run, export_format: str, out: Path | None = None) -> Export:
    """Exports the metrics of a run.

    `out`: a file, or for trackers an empty or missing folder; by default in the run's folder.
    Raises UsageError for an unknown format, and if `out` is another file or a folder with
    content."""
    if export_format not in FORMATS:
        hint = did_you_mean(export_format, FORMATS)
        raise UsageError(f"{export_format} is not an export format ({', '.join(FORMATS)}){hint}")
    require_packages({"csv": (), "parquet": ("pyarrow",)}.get(export_format, (export_format,)))
    # Never replace a file that this command did not write, such as `--out notes.md`.
    if (
        export_format in FILES
        and out is not None
        and out.exists()
        and out.suffix != f".{export_format}"
    ):
        fix = f"name a new file, or one that ends in .{export_format}"
        raise UsageError(
            f"the file exists and is not a .{export_format} file", at=str(out), fix=fix
        )
    cfg = run.config()
    with run.metrics() as store:
        rows = list(store.rows())
        metrics = _declarations(cfg, rows)
        if export_format in FILES:
            path = out or _own_folder(run) / f"rows.{export_format}"
            durable.replace(path, FILES[export_format](store, metrics))
        else:
            # A folder that the user names must be empty; our own one may be replaced.
            path = _require_empty(out) if out else _emptied(_own_folder(run) / export_format)
            _replay(run, cfg, metrics, rows, export_format, path)
    return Export(run.id, export_format, str(path), len(rows))


def _replay(
    run: Run,
    cfg: Config,
    metrics: Mapping[str, Metric],
    rows: Sequence[Row],
    tracker_name: str,
    path: Path,
) -> None:
    """Replays the rows to a tracker. Alerts are recomputed, with the bounds that the config alone
    determines."""
    info, alerts = run.info, Alerts(metrics)
    clock = view_clock()
    list_films = partial(films.placed_films, run.path, clock)
    tracked = TrackedRun.from_run_info(info, cfg, metrics, path, list_films, clock)
    try:
        tracker, summary = open_tracker(tracker_name, tracked), None
        try:
            for row in rows:
                tracker.write(row, alerts.check_row(row))
            summary = _summary(info, run.status)
        finally:  # without a summary the tracker marks the run as failed
            tracker.close(summary)
    except Exception as problem:
        raise GymnastError(f"export to {tracker_name} failed: {problem}", at=str(path)) from problem


def _declarations(cfg: Config, rows: Sequence[Row]) -> dict[str, Metric]:
    """Returns the declarations of all metrics in the rows; an empty one for metrics that this version
    lacks."""
    names = dict.fromkeys(key.rpartition(":")[2] for row in rows for key in row)
    return {**{name: Metric(name, "") for name in names}, **run_metrics(cfg)}


def _summary(info: RunInfo, status: str) -> Summary | None:
    """Returns the summary of a run; None if it failed."""
    if status in ("failed", "lost"):
        return None
    return Summary(
        id=info["id"],
        solved=info["solved"],
        reason=info["reason"],
        score=info["score"],
        threshold=info["threshold"],
        env_steps=int(info["clocks"].get("env_steps", 0)),
        best=info["checkpoints"]["best"],
    )


def _own_folder(run: Run) -> Path:
    folder = layout.EXPORTS.path(run.path)
    with durable.explain_os_errors(folder):
        folder.mkdir(exist_ok=True)
    return folder


def _emptied(folder: Path) -> Path:
    """Empties the folder: files of an earlier export would be counted twice."""
    with durable.explain_os_errors(folder):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
    return folder


def _require_empty(folder: Path) -> Path:
    """Creates the folder if it is missing and returns it; raises UsageError if it has content."""
    with durable.explain_os_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise UsageError(
                "the folder is not empty", at=str(folder), fix="name a new folder with --out"
            )
    return folder
