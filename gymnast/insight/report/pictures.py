"""Draws charts as PNG with matplotlib, which the extra `report` installs."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from itertools import pairwise
from typing import TYPE_CHECKING

from gymnast import figures
from gymnast.insight.chart import ChartData, ChartSeries, Span
from gymnast.text.chart import short_number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDTH, HEIGHT = 6.6, 2.7
"""Size of one chart in inches."""
COLORS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#8c6bb1", "#7f7f7f")
"""A palette that color-blind people can distinguish too. (Okabe and Ito)"""
LEVELS = {"error": "#c0392b", "warning": "#d98200"}
HEALTHY, GREY = "#2e8b57", "#777777"


def chart_png(*charts: ChartData, titles: Sequence[str] = ()) -> bytes:
    """Returns one PNG; several charts are drawn side by side. `titles`: a title per chart, by
    default its own."""
    width = WIDTH * max(1, 0.75 * len(charts))
    figure = figures.new_figure(width, HEIGHT, alternative=_ALTERNATIVE)
    for index, chart in enumerate(charts):
        axes = figure.add_subplot(1, len(charts), index + 1)
        _draw(axes, chart, titles[index] if titles else chart.title)
    return figures.to_png(figure)


def has_matplotlib() -> bool:
    return find_spec("matplotlib") is not None


def require_matplotlib() -> None:
    """Raises an error that names the extra to install, before anything is written."""
    figures.new_figure(alternative=_ALTERNATIVE)


_ALTERNATIVE = "or use `gymnast report --md`, whose charts are then text"


def _draw(axes: Axes, chart: ChartData, title: str) -> None:
    """Draws a chart with its axes, marks and legend into matplotlib's `axes`; a heat map has
    neither marks nor a legend."""
    from matplotlib.ticker import FuncFormatter

    axes.set_title(title, loc="left", fontsize=10, fontweight="bold", pad=20)
    axes.tick_params(labelsize=8, colors="#444444")
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_xlabel(chart.x.replace("_", " "), fontsize=8, color="#444444", labelpad=2)
    {"line": _lines, "stacked": _stack, "heat": _heat}[chart.kind](axes, chart)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: short_number(value)))
    if chart.kind == "heat":
        return
    scale, sign = (100, "%") if chart.unit == "share" else (1, "")
    axes.yaxis.set_major_formatter(
        FuncFormatter(lambda value, _: f"{tick_label(value * scale)}{sign}")
    )
    _mark(axes, chart)
    many = len(chart.series) > 6
    legend = axes.legend(
        loc="upper left" if many else "lower left",
        bbox_to_anchor=(1.0, 1.0) if many else (-0.02, 0.99),
        ncols=1 if many else 6,
        fontsize=7.5,
        frameon=False,
        handlelength=1.2,
        columnspacing=1.0,
        borderpad=0.2,
    )
    # A legend above the axes must not shrink them: all charts of a report have the same plot area.
    legend.set_in_layout(many)


def _lines(axes: Axes, chart: ChartData) -> None:
    """Draws the series as lines with their bands, horizontal lines, and the healthy range; `range`
    is always in view."""
    from matplotlib.ticker import NullFormatter

    for index, line in enumerate(chart.series):
        color, scale = COLORS[index % len(COLORS)], _scale(chart, line)
        ys = [_scaled(y, scale) for y in line.y]
        largest = f" (largest {scale:.3g})" if chart.scale_each else ""
        few = len(ys) <= 40
        axes.plot(
            line.x,
            ys,
            color=color,
            linewidth=1.4,
            marker="o" if few else "",
            markersize=2.5,
            label=line.label + largest,
        )
        if line.low is not None and line.high is not None:
            low, high = ([_scaled(y, scale) for y in band] for band in (line.low, line.high))
            axes.fill_between(line.x, low, high, color=color, alpha=0.18, linewidth=0)
    if chart.log:
        axes.set_yscale("log")
        axes.yaxis.set_minor_formatter(NullFormatter())
    elif chart.unit:
        axes.set_ylabel("" if chart.unit == "share" else chart.unit, fontsize=8)
    axes.grid(axis="y", color="#eeeeee", linewidth=0.8)
    axes.set_axisbelow(True)
    for line in chart.lines:
        axes.axhline(line.y, color=GREY, linewidth=1, linestyle=(0, (4, 3)), label=line.label)
    if chart.range:
        low, high = chart.range
        axes.update_datalim([(0, end) for end in (low, high) if end is not None], updatex=False)
        axes.autoscale_view()
    if chart.healthy and not chart.scale_each:
        _healthy(axes, chart.healthy)


def _healthy(axes: Axes, span: Span) -> None:
    """Shades the healthy range within the current view, without changing the view."""
    bottom, top = axes.get_ylim()
    low, high = (bottom if span[0] is None else span[0]), (top if span[1] is None else span[1])
    axes.axhspan(max(low, bottom), min(high, top), color=HEALTHY, alpha=0.07, linewidth=0)
    for end in span:
        if end is not None and bottom < end < top:
            axes.axhline(end, color=HEALTHY, linewidth=0.8, linestyle=":")
    axes.set_ylim(bottom, top)


def _stack(axes: Axes, chart: ChartData) -> None:
    """Draws the series, which are shares of 1, stacked on each other."""
    series = chart.series
    axes.stackplot(
        series[0].x,
        [[_scaled(y, 1.0) for y in line.y] for line in series],
        labels=[line.label for line in series],
        colors=[COLORS[i % len(COLORS)] for i in range(len(series))],
        alpha=0.85,
        linewidth=0,
    )
    axes.set_ylim(0, 1)
    axes.margins(x=0)


def _heat(axes: Axes, chart: ChartData) -> None:
    """Draws the series, which are shares of 1, as rows of a heat map with a color bar. If there
    are many, only every n-th one is labeled."""
    xs, labels = chart.series[0].x, [line.label for line in chart.series]
    # pcolormesh takes the edges of its cells: the middle between neighboring rows.
    edges = [xs[0], *((a + b) / 2 for a, b in pairwise(xs)), xs[-1]]
    shares = [[_scaled(y, 1.0) for y in line.y] for line in chart.series]
    mesh = axes.pcolormesh(edges, range(len(labels) + 1), shares, cmap="viridis", vmin=0)
    every = max(1, len(labels) // 12)
    axes.set_yticks([i + 0.5 for i in range(0, len(labels), every)], labels[::every], fontsize=6)
    bar = axes.figure.colorbar(mesh, ax=axes, pad=0.01, format=lambda v, _: f"{100 * v:.0f}%")
    bar.ax.tick_params(labelsize=7)


def _mark(axes: Axes, chart: ChartData) -> None:
    """Draws ticks at the bottom, alerts as spans from their start, events as vertical lines."""
    across = axes.get_xaxis_transform()  # x in data, y from 0 (bottom) to 1 (top) of the axes
    left, right = axes.get_xlim()
    if chart.ticks:
        at = chart.ticks.x
        axes.vlines(at, 0, 0.05, colors="#c0392b", linewidth=0.8, transform=across)
        axes.plot([], [], "|", color="#c0392b", label=f"{chart.ticks.label} ({len(at)}x)")
    for event in chart.events:
        if event.x > 0:  # at 0 nothing has changed yet
            axes.axvline(event.x, color="#5b4b8a", linewidth=1, linestyle="--")
    for index, alert in enumerate(chart.alerts):
        color = LEVELS[alert.level]
        axes.axvspan(alert.x, max(alert.until, alert.x), color=color, alpha=0.08, lw=0)
        axes.axvline(alert.x, color=color, linewidth=1)
        late = alert.x > (left + right) / 2  # then write to the left, where there is room
        label = axes.annotate(
            f"▲ {alert.id}",
            (alert.x, 0.97 - 0.09 * index),
            xycoords=across,
            xytext=(-3 if late else 3, 0),
            textcoords="offset points",
            ha="right" if late else "left",
            va="top",
            fontsize=7.5,
            color=color,
            bbox={"facecolor": "white", "alpha": 0.75, "pad": 0.6, "linewidth": 0},
        )
        label.set_in_layout(False)
    axes.set_xlim(left, right)  # marks must not widen the view


def tick_label(value: float) -> str:
    """Formats a tick label with enough digits to distinguish it from its neighbors."""
    return short_number(value) if abs(value) >= 1000 else f"{value:.6g}"


def _scale(chart: ChartData, line: ChartSeries) -> float:
    """Returns the divisor of the values of a series: its largest absolute value, or 1."""
    magnitudes = [abs(y) for y in line.y if y is not None]
    return (max(magnitudes, default=0.0) or 1.0) if chart.scale_each else 1.0


def _scaled(y: float | None, scale: float) -> float:
    return float("nan") if y is None else y / scale  # matplotlib leaves a gap at NaN
