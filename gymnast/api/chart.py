"""One chart of one or more runs, as a picture or as text."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from gymnast.api.curves import curves
from gymnast.errors import UsageError
from gymnast.insight.chart import ChartData, ChartSeries
from gymnast.runs import store
from gymnast.runs.run import Run
from gymnast.runs.store import RunsDir
from gymnast.settings import view_clock

POINTS = 300
"""Maximum number of points of a curve; longer ones are means with a band of the extremes."""
Format = Literal["png", "text"]


@dataclass(frozen=True)
class ChartCurve:
    """One curve of a chart."""

    panel: str
    """Title of the panel that it is drawn in."""
    label: str
    """Its name in the legend."""
    points: int
    """Number of points."""
    first: float | None
    """The first value; None if it is not finite."""
    last: float | None
    """The last value."""


@dataclass(frozen=True)
class ChartPicture:
    """A chart, drawn."""

    format: Format
    x: str
    """The clock on the x axis."""
    runs: list[str]
    """Ids of the runs."""
    curves: list[ChartCurve]
    """The curves that are drawn."""
    left_out: int
    """Number of metrics that were not drawn, as there would be too many panels."""
    text: str
    """The chart as text; empty for a picture."""
    png: str
    """The picture as a PNG file in base64; empty for text."""


def chart(
    refs: Sequence[str] = ("@last",),
    names: Sequence[str] = (),
    *,
    chart: str = "",
    format: Format = "png",
    x: str = "",
    runs_dir: RunsDir = None,
) -> ChartPicture:
    """Draws one or more runs over the clock `x`, each curve at its own x values, as a PNG in base64 or as
    text.

    `names`: the metrics, a panel each; a `*` at the end matches any suffix. `chart`: instead, the name of a
    chart of the reports, such as score (the default), entropy, kl or actions; that of a single run has its
    alerts and events. Pictures need matplotlib (the extra `report`). Raises UsageError for a metric that no
    run has, and for an unknown chart."""
    from gymnast.insight.chart_panels import DEFAULT, MAX_PANELS, named_chart

    if names and chart:
        raise UsageError("name either metrics or a chart", fix="leave one of them out")
    if not refs:
        raise UsageError("a chart needs at least one run", fix="name a run, such as @last")
    x = view_clock(x)
    runs = store.resolve_all(refs, store.runs_dir(runs_dir))
    panels = _panels(runs, names, x, runs_dir) if names else named_chart(runs, chart or DEFAULT, x)
    drawn = panels[:MAX_PANELS]
    return ChartPicture(
        format=format,
        x=x,
        runs=[run.id for run in runs],
        curves=[_curve(panel, line) for panel in drawn for line in panel.series],
        left_out=len(panels) - len(drawn),
        text=_text(drawn) if format == "text" else "",
        png=_png(drawn) if format == "png" else "",
    )


def _panels(runs: list[Run], names: Sequence[str], x: str, runs_dir: RunsDir) -> list[ChartData]:
    """Returns a panel per metric that `names` match, with a curve per run."""
    from gymnast.insight.chart_panels import label_of, metric_panel
    from gymnast.insight.chart_source import finite_or_none

    found = curves([run.id for run in runs], names, x=x, points=POINTS, runs_dir=runs_dir)
    labels = {run.id: label_of(run) for run in runs}
    panels: dict[str, list[ChartSeries]] = {}
    for line in found.series:
        mean, low, high = (
            [finite_or_none(y) for y in ys] for ys in (line.mean, line.low, line.high)
        )
        label = labels[line.run]
        exact = mean == low == high
        curve = ChartSeries(
            line.key, label, line.x, mean, *((None, None) if exact else (low, high))
        )
        panels.setdefault(line.key, []).append(curve)
    if not panels:
        raise UsageError("the runs have no rows yet", fix="wait for the first rollout")
    return [metric_panel(key, x, series) for key, series in panels.items()]


def _curve(panel: ChartData, line: ChartSeries) -> ChartCurve:
    finite = [y for y in line.y if y is not None]
    ends = (finite[0], finite[-1]) if finite else (None, None)
    return ChartCurve(panel.title, line.label, len(line.x), *ends)


def _text(panels: Sequence[ChartData]) -> str:
    from gymnast.insight.report.texts import chart_text

    return "\n\n".join(f"{panel.title}\n{chart_text(panel)}" for panel in panels)


def _png(panels: Sequence[ChartData]) -> str:
    from gymnast.insight.report.pictures import chart_png

    return base64.b64encode(chart_png(*panels)).decode("ascii")
