"""manifest.json: every chart of a monitor with its picture and everything that it was drawn from.

The content depends on the runs and the options only: it has no dates, no durations and no absolute paths, so
that it can be compared with a stored one.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass

from gymnast.monitor.records import (
    Band,
    ChartKind,
    ChartSubject,
    MonitorChart,
    MonitorReport,
    SourceColumn,
)
from gymnast.records import to_json

VERSION = 1
"""Version of the format."""
FILE = "manifest.json"
PICTURES = "charts"
"""The directory of the pictures, next to the manifest."""


@dataclass(frozen=True)
class ManifestSeries:
    """One series of a chart."""

    label: str
    role: str
    """The role that it is about; empty if it is about none, or about a single agent."""
    approach: str
    band: Band
    """The kind of band around it; empty without a band."""


@dataclass(frozen=True)
class ManifestSource:
    """A file that a chart was drawn from."""

    file: str
    """The file, relative to the runs directory or as the user typed it."""
    columns: list[str]
    """The columns of it that are drawn."""


@dataclass(frozen=True)
class ManifestChart:
    """One chart, without its points."""

    name: str
    title: str
    file: str
    """The picture, relative to the manifest."""
    about: ChartSubject
    kind: ChartKind
    x: str
    """Label of the x axis."""
    unit: str
    """Unit of the y axis; empty if it has none."""
    smooth: int
    """Number of rows that each point is the moving average of; 1 without smoothing."""
    approaches: list[str]
    runs: list[str]
    """Ids of the runs that it was drawn from."""
    series: list[ManifestSeries]
    sources: list[ManifestSource]
    note: str


@dataclass(frozen=True)
class Manifest:
    """All charts of a monitor."""

    version: int
    """Version of the format."""
    approaches: list[str]
    """All approaches, in the order of the overview."""
    runs: list[str]
    """Ids of all runs, in the order of the overview."""
    skipped: list[str]
    """Ids of the runs that were left out because their columns are broken."""
    smooth: int
    """Number of rows of the moving average that was asked for."""
    charts: list[ManifestChart]


def manifest(report: MonitorReport) -> Manifest:
    """Returns the manifest of a report."""
    return Manifest(
        version=VERSION,
        approaches=report.approaches,
        runs=[row.run for row in report.overview],
        skipped=[run.run for run in report.skipped],
        smooth=report.smooth,
        charts=[_entry(chart) for chart in report.charts],
    )


def manifest_text(report: MonitorReport) -> str:
    """Returns the content of manifest.json; the same report always has the same text."""
    return json.dumps(to_json(manifest(report)), indent=1, ensure_ascii=False) + "\n"


def picture_file(chart: MonitorChart) -> str:
    """Returns the file of the picture of a chart, relative to the manifest."""
    return f"{PICTURES}/{chart.name}.png"


def _entry(chart: MonitorChart) -> ManifestChart:
    return ManifestChart(
        name=chart.name,
        title=chart.title,
        file=picture_file(chart),
        about=chart.about,
        kind=chart.kind,
        x=chart.x_label,
        unit=chart.unit,
        smooth=chart.smooth,
        approaches=list(dict.fromkeys(line.approach for line in chart.series)),
        runs=chart.runs,
        series=[
            ManifestSeries(line.label, line.role, line.approach, line.band) for line in chart.series
        ],
        sources=_by_file(chart.sources),
        note=chart.note,
    )


def _by_file(sources: Iterable[SourceColumn]) -> list[ManifestSource]:
    columns: dict[str, list[str]] = {}
    for source in sources:
        columns.setdefault(source.file, []).append(source.column)
    return [ManifestSource(file, names) for file, names in columns.items()]
