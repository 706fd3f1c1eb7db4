"""Charts as text: a plot for curves of one unit, one sparkline per series for shares and mixed units."""

from __future__ import annotations

import math

from gymnast.insight.chart import ChartData, ChartSeries
from gymnast.text.chart import line_chart, short_number, sparkline
from gymnast.text.formatting import count_noun, table

WIDTH, HEIGHT = 64, 9


def chart_text(chart: ChartData) -> str:
    """Returns a chart as text, with its marks listed below."""
    as_rows = chart.kind != "line" or chart.scale_each
    return "\n".join([_rows(chart) if as_rows else _curves(chart), *_marks(chart)])


def _curves(chart: ChartData) -> str:
    series = {line.label: (line.x, _values(line)) for line in chart.series}
    label = chart.x if chart.unit in ("", "share") else f"{chart.unit} over {chart.x}"
    return line_chart(series, width=WIDTH, height=HEIGHT, x_label=label)


def _rows(chart: ChartData) -> str:
    """Returns a line per series: label, sparkline, first and last value."""

    def text(value: float) -> str:
        return f"{value:.0%}" if chart.kind != "line" else short_number(value)

    lines = [
        (line.label, sparkline(_values(line), 40), text(ys[0]), text(ys[-1]))
        for line in chart.series
        if (ys := [y for y in line.y if y is not None])
    ]
    return table(("", f"over {chart.x}", "first", "last"), lines, right="first last")


def _marks(chart: ChartData) -> list[str]:
    """Returns a line for each horizontal line, for the ticks, for each alert and for each event
    after the start."""
    lines = [f"- - {line.label}" for line in chart.lines]
    if chart.ticks:
        lines.append(f"{chart.ticks.label}: {count_noun(len(chart.ticks.x), 'time')}")
    lines += [
        f"▲ {alert.id} from {short_number(alert.x)} to {short_number(alert.until)} {chart.x}"
        for alert in chart.alerts
    ]
    lines += [f"| {event.text} at {short_number(event.x)}" for event in chart.events if event.x]
    return lines


def _values(line: ChartSeries) -> list[float]:
    return [math.nan if y is None else y for y in line.y]
