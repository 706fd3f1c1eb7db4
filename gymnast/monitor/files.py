"""Writes the files of the monitor: run_overview.csv, manifest.json and a picture per chart."""

from __future__ import annotations

from pathlib import Path

from gymnast.errors import RunError, UsageError
from gymnast.monitor import manifest
from gymnast.monitor.draw import Colors, monitor_chart_png
from gymnast.monitor.overview import overview_csv
from gymnast.monitor.records import MonitorReport, WrittenMonitor
from gymnast.progress import ProgressCallback, no_progress
from gymnast.runs import document

OVERVIEW_FILE = "run_overview.csv"


def write_report(
    report: MonitorReport, out: Path, progress: ProgressCallback = no_progress
) -> WrittenMonitor:
    """Writes the files of a report into the directory `out`, and deletes the pictures of an earlier report
    there that this one does not have. Raises UsageError if `out` is a file or has a manifest of something
    else, GymnastError without matplotlib, RunError if a file cannot be written."""
    earlier = _earlier_pictures(out)
    colors = Colors.of_charts(report.charts)
    files: dict[str, bytes] = {}
    # Everything is drawn before the first byte is written, so an error leaves no half of a report.
    for done, chart in enumerate(report.charts):
        progress(done, len(report.charts), chart.name)
        files[manifest.picture_file(chart)] = monitor_chart_png(chart, colors)
    files[OVERVIEW_FILE] = overview_csv(report.overview).encode()
    # The manifest comes last: it refers to the other files.
    files[manifest.FILE] = manifest.manifest_text(report).encode()
    try:
        for name, content in files.items():
            (out / name).parent.mkdir(parents=True, exist_ok=True)
            (out / name).write_bytes(content)
        for name in earlier:
            if name not in files:
                (out / name).unlink(missing_ok=True)
    except OSError as error:
        raise RunError(
            f"the files cannot be written: {error.strerror}",
            at=str(out),
            fix="name another directory with --out DIR",
        ) from error
    progress(len(report.charts), len(report.charts))
    ordered = [OVERVIEW_FILE, manifest.FILE, *(n for n in files if n.endswith(".png"))]
    return WrittenMonitor(str(out), ordered, report.overview, report.skipped)


def _earlier_pictures(out: Path) -> list[str]:
    """Returns the pictures that an earlier report in this directory has, relative to it."""
    if out.exists() and not out.is_dir():
        raise UsageError("is a file (expected a directory)", at=str(out), fix="use another --out")
    file = out / manifest.FILE
    if not file.exists():
        return []
    try:
        stored = document.loads(file.read_bytes())
        pictures = [str(chart["file"]) for chart in stored["charts"]]
    except (OSError, ValueError, KeyError, TypeError):
        raise UsageError(
            "is not a manifest of the monitor, and would be overwritten",
            at=str(file),
            fix="name another directory with --out DIR",
        ) from None
    inside = f"{manifest.PICTURES}/"
    return [name for name in pictures if name.startswith(inside) and "/" not in name[len(inside) :]]
