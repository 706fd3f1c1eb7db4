"""Charts of one or more runs side by side: a chart of the reports by its name, or a panel per metric."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gymnast.errors import UsageError
from gymnast.insight.chart import ChartData, ChartSeries
from gymnast.insight.chart_data import charts_of_run, line_chart
from gymnast.insight.chart_source import finite_or_none
from gymnast.insight.charts import CHARTS, chart_family
from gymnast.metrics.metric import ANY, Limits
from gymnast.metrics.specs import METRICS, split_key
from gymnast.runs.run import Run
from gymnast.text.suggestions import did_you_mean

DEFAULT = "score"
"""The chart that is drawn unless another or a metric is named."""
MAX_PANELS = 6
"""Maximum number of panels of one picture."""


def named_chart(runs: Sequence[Run], name: str, x: str) -> list[ChartData]:
    """Returns the chart of this name with the curves of all runs, each at its own x values; shares are a
    panel per run, as they cannot be drawn over each other. Raises UsageError if there is no such chart, or
    if no run has data for it."""
    known = [chart.name for chart in CHARTS]
    if name not in known:
        problem = f"there is no chart {name!r}{did_you_mean(name, known)}"
        raise UsageError(problem, fix=f"use {', '.join(known)}, or name a metric")
    found = [(run, chart) for run in runs for chart in charts_of_run(run, x) if chart.name == name]
    if not found:
        raise UsageError(f"no run has recorded what the chart {name!r} shows")
    if len(found) == 1:
        return [found[0][1]]
    if any(chart.kind != "line" or chart.scale_each for _, chart in found):
        return [
            replace(chart, title=f"{chart.title}: {label_of(run)}")
            for run, chart in found[:MAX_PANELS]
        ]
    first = found[0][1]
    series = [
        replace(line, label=f"{label_of(run)} {line.label}")
        for run, chart in found
        for line in chart.series
    ]
    # Alerts and events belong to one run and would be read as those of all.
    return [replace(first, series=series, alerts=[], events=[], ticks=None)]


def metric_panel(key: str, x: str, series: list[ChartSeries]) -> ChartData:
    """Returns a panel with one metric of one or more runs, with its unit and healthy range."""
    metric = METRICS.get(split_key(key)[1])
    panel = line_chart(key, chart_family(key), key, x, series)
    if metric is None:
        return panel
    healthy = metric.healthy_for(Limits())
    low, high = (finite_or_none(end) for end in healthy)
    return replace(panel, unit=metric.unit, healthy=None if healthy == ANY else (low, high))


def label_of(run: Run) -> str:
    """Returns the name of a run in a legend."""
    return run.info.get("name") or run.id
