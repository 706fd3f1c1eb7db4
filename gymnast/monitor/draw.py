"""Draws the charts of the monitor as PNG with matplotlib, which the extra `report` installs.

A chart about a run has a color per role; a comparison has a color per approach and a panel per role. Roles
and approaches keep their colors in all pictures of a report.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from textwrap import fill
from typing import TYPE_CHECKING

import numpy as np

from gymnast import figures
from gymnast.insight.report.pictures import GREY, tick_label
from gymnast.monitor.monitored_run import UNKNOWN
from gymnast.monitor.records import MonitorChart, MonitorSeries
from gymnast.text.chart import short_number
from gymnast.text.formatting import count_noun

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PANEL_WIDTH, PANEL_HEIGHT = 6.6, 3.1
"""Size of a chart with one panel in inches."""
NARROW = 0.8
"""Width of a panel among several, relative to PANEL_WIDTH."""
MAX_COLUMNS = 3
"""Maximum number of panels side by side."""
TITLE_LETTERS, NOTE_LETTERS = 11, 18
"""Number of letters of the title and of the note that fit into an inch."""
ROLE_COLORS = ("#d55e00", "#0072b2", "#7f7f7f", "#8c6bb1")
APPROACH_COLORS = ("#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8c6bb1", "#882255", "#999933")
OUTCOME_COLORS = ("#d55e00", "#56b4e9", "#f0e442", "#009e73", "#cc79a7")
"""Palettes that color-blind people can distinguish too (after Okabe and Ito, and Tol). Roles and approaches
have none in common as far as possible, so that they are not taken for each other."""
UNKNOWN_COLOR = "#bbbbbb"
"""Color of unknown outcomes."""
FEW_POINTS = 40
"""Largest number of points that are marked with dots."""
LINE_STYLES = ("-", "--", ":")
"""After all colors were used once, the lines change to the next style."""


@dataclass(frozen=True)
class Colors:
    """The roles and approaches of all charts of a report, whose positions determine their colors."""

    roles: tuple[str, ...]
    approaches: tuple[str, ...]

    @staticmethod
    def of_charts(charts: Iterable[MonitorChart]) -> Colors:
        """Returns the roles and approaches of the charts, in the order in which they appear."""
        lines = [line for chart in charts for line in chart.series]
        return Colors(
            tuple(dict.fromkeys(line.role for line in lines if line.role)),
            tuple(dict.fromkeys(line.approach for line in lines)),
        )

    def of_line(self, line: MonitorSeries, chart: MonitorChart) -> tuple[str, str]:
        """Returns the color and the line style of a series."""
        by_role = chart.about == "run" and bool(line.role)
        place = self.roles.index(line.role) if by_role else self.approaches.index(line.approach)
        palette = ROLE_COLORS if by_role else APPROACH_COLORS
        rounds, index = divmod(place, len(palette))
        return palette[index], LINE_STYLES[rounds % len(LINE_STYLES)]


def monitor_chart_png(chart: MonitorChart, colors: Colors | None = None) -> bytes:
    """Returns a chart as PNG. `colors`: those of all charts of a report; by default those of this chart.
    Raises GymnastError without matplotlib."""
    colors = colors or Colors.of_charts([chart])
    panels = _panels(chart)
    n_columns = min(len(panels), MAX_COLUMNS)
    n_rows = -(-len(panels) // n_columns)
    width = PANEL_WIDTH * (1 if n_columns == 1 else NARROW * n_columns)
    figure = figures.new_figure(
        width, PANEL_HEIGHT * n_rows, alternative="or read the charts as JSON"
    )
    for index, (name, series) in enumerate(panels.items()):
        axes = figure.add_subplot(n_rows, n_columns, index + 1)
        _draw_panel(axes, chart, series, colors, name if len(panels) > 1 else "")
    x_low, x_high = np.transpose([axes.get_xlim() for axes in figure.axes])
    for axes in figure.axes:  # the same range, so that panels can be compared
        axes.set_xlim(x_low.min(), x_high.max())
    title = fill(f"{chart.title} · {_subject(chart)}", int(TITLE_LETTERS * width))
    figure.suptitle(title, x=0.012, ha="left", fontsize=10, fontweight="bold")
    if chart.note:
        note = fill(chart.note, int(NOTE_LETTERS * width))
        figure.supxlabel(note, x=0.012, ha="left", fontsize=7.5, color=GREY)
    return figures.to_png(figure)


def _panels(chart: MonitorChart) -> dict[str, list[MonitorSeries]]:
    """Returns the name of each panel -> its series. Comparisons have a panel per role, shares one per
    approach, histograms one per role."""
    panels: dict[str, list[MonitorSeries]] = {}
    for line in chart.series:
        if chart.kind == "stacked shares":
            name = line.approach
        elif chart.kind == "histogram" or chart.about == "approach":
            name = line.role
        else:
            name = ""
        panels.setdefault(name, []).append(line)
    return panels


def _subject(chart: MonitorChart) -> str:
    """Returns what a chart is about: a run, or the number of runs of each approach."""
    if chart.about == "run":
        return f"{chart.series[0].approach}, run {chart.run}"
    if chart.kind == "histogram":
        return count_noun(len(chart.runs), "run")
    counts = {max(line.n, default=0) for line in chart.series}
    if counts == {1}:
        return "one run per approach"
    fewest, most = min(counts), max(counts)
    return f"mean over {most if fewest == most else f'{fewest} to {most}'} runs per approach"


def _draw_panel(
    axes: Axes, chart: MonitorChart, series: Sequence[MonitorSeries], colors: Colors, name: str
) -> None:
    """Draws one panel with its axes and legend. `name`: its title."""
    from matplotlib.ticker import FuncFormatter

    # The legend is between the title and the axes; a blank title keeps the room for it.
    axes.set_title(name or " ", loc="left", fontsize=9, pad=17 if name else 3)
    axes.tick_params(labelsize=8, colors="#444444")
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_xlabel(chart.x_label, fontsize=8, color="#444444", labelpad=2)
    axes.grid(axis="y", color="#eeeeee", linewidth=0.8)
    axes.set_axisbelow(True)
    if chart.kind == "stacked shares":
        _draw_stack(axes, series)
    elif chart.kind == "histogram":
        _draw_histogram(axes, chart, series, colors)
    else:
        _draw_lines(axes, chart, series, colors)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: short_number(value)))
    scale, sign = (100, "%") if chart.unit == "share" else (1, "")
    axes.yaxis.set_major_formatter(
        FuncFormatter(lambda value, _: f"{tick_label(value * scale)}{sign}")
    )
    if chart.unit and chart.unit != "share":
        axes.set_ylabel(chart.unit, fontsize=8, color="#444444")
    legend = axes.legend(
        loc="lower left",
        bbox_to_anchor=(-0.02, 0.99),
        ncols=6,
        fontsize=7.5,
        frameon=False,
        handlelength=1.4,
        columnspacing=1.0,
        borderpad=0.2,
    )
    legend.set_in_layout(False)  # a legend above the axes must not shrink them


def _draw_lines(
    axes: Axes, chart: MonitorChart, series: Sequence[MonitorSeries], colors: Colors
) -> None:
    """Draws the series with their bands. Gaps stay open; a point between two gaps is a dot."""
    for line in series:
        color, style = colors.of_line(line, chart)
        y = np.asarray(line.y)
        known = ~np.isnan(y)
        alone = known & ~np.r_[False, known[:-1]] & ~np.r_[known[1:], False]
        dots = known if len(y) <= FEW_POINTS else alone
        axes.plot(
            line.x,
            y,
            color=color,
            linestyle=style,
            linewidth=1.4,
            marker="o" if dots.any() else "",
            markersize=2.5,
            markevery=np.flatnonzero(dots).tolist(),
            label=line.label,
        )
        if line.low:
            axes.fill_between(line.x, line.low, line.high, color=color, alpha=0.16, linewidth=0)
    if chart.unit == "share":
        _show_share_range(axes, series)


def _show_share_range(axes: Axes, series: Sequence[MonitorSeries]) -> None:
    """Starts the y axis at 0, and ends it at 1 if shares come close: pictures of win rates can then be
    compared."""
    values = np.concatenate([[*line.y, *line.high] for line in series])
    high = float(np.nanmax(values, initial=0.0))
    axes.set_ylim(-0.02 if high > 0.5 else 0.0, 1.02 if high > 0.5 else None)


def _draw_stack(axes: Axes, series: Sequence[MonitorSeries]) -> None:
    """Draws the shares of all outcomes, stacked on each other; unknown outcomes are gray."""
    x = np.asarray(series[0].x)
    below = np.zeros(len(x))
    known = iter(OUTCOME_COLORS * len(series))
    for line in series:
        color = UNKNOWN_COLOR if line.label == UNKNOWN else next(known)
        above = below + np.asarray(line.y)
        axes.fill_between(x, below, above, color=color, alpha=0.85, linewidth=0, label=line.label)
        below = above
    axes.set_ylim(0, 1)
    axes.margins(x=0)


def _draw_histogram(
    axes: Axes, chart: MonitorChart, series: Sequence[MonitorSeries], colors: Colors
) -> None:
    """Draws the histograms over each other as outlines; the earlier part of a run is dashed."""
    for index, line in enumerate(series):
        color, style = colors.of_line(line, chart)
        is_earlier = chart.about == "run" and index < len(series) - 1
        axes.stairs(
            line.y,
            line.x,
            color=GREY if is_earlier else color,
            linestyle="--" if is_earlier else style,
            linewidth=1.4,
            label=line.label,
        )
        if not is_earlier:
            axes.stairs(line.y, line.x, color=color, fill=True, alpha=0.14)
    axes.set_ylim(bottom=0)
