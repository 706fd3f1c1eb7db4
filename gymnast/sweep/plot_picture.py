"""Draws the plots of a study as PNG with matplotlib, which the extra `report` installs."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import fill
from typing import TYPE_CHECKING

from gymnast import figures
from gymnast.insight.report.pictures import COLORS, GREY, tick_label
from gymnast.sweep.plot_data import PlottedParameter, PlottedTrial, StudyPlots
from gymnast.text.chart import short_number

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.gridspec import SubplotSpec

WIDTH, HEIGHT = 6.6, 2.7
"""Size of one plot in inches."""
SLICES_PER_ROW = 3
BEST, BASELINE, EARLY, FAILED = COLORS[1], "#000000", "#bbbbbb", "#444444"
"""Colors of the best trial, of the baseline, and of trials that were stopped early or failed."""
_LABELS = {"waiting": "stopped at a rung"}
MAX_TICKS = 6
"""Number of choices that are written along an axis."""


def study_png(title: str, plots: StudyPlots) -> bytes:
    """Returns one picture with all plots of a study, as PNG."""
    rows = -(-len(plots.parameters) // SLICES_PER_ROW)
    heights = [0.01, 1.0, 1.25, *[0.9] * rows]
    figure = figures.new_figure(2 * WIDTH, HEIGHT * sum(heights), alternative="or use --json")
    grid = figure.add_gridspec(len(heights), 6, height_ratios=heights)
    head = figure.add_subplot(grid[0, :])
    head.set_axis_off()
    head.set_title(title, loc="left", fontsize=11, fontweight="bold")
    _history(_axes(figure, grid[1, :3], "History"), plots)
    _curves(_axes(figure, grid[1, 3:], "Learning curves"), plots)
    _parallel(_axes(figure, grid[2, :4], "Parallel coordinates"), plots)
    _importance(_axes(figure, grid[2, 4:], "Importance"), plots)
    for index, parameter in enumerate(plots.parameters):
        row, column = divmod(index, SLICES_PER_ROW)
        axes = _axes(figure, grid[3 + row, 2 * column : 2 * column + 2], parameter.name)
        _slice(axes, plots, index)
    return figures.to_png(figure)


def _axes(figure: Figure, place: SubplotSpec, title: str) -> Axes:
    axes = figure.add_subplot(place)
    axes.set_title(title, loc="left", fontsize=9, fontweight="bold")
    axes.tick_params(labelsize=7.5, colors="#444444")
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", color="#eeeeee", linewidth=0.8)
    axes.set_axisbelow(True)
    return axes


def _history(axes: Axes, plots: StudyPlots) -> None:
    """Draws the value of every trial, and the best so far as a line."""
    _points(axes, plots, [float(one.number) for one in plots.trials])
    failed = [one.number for one in plots.trials if one.state == "failed"]
    if failed:
        across = axes.get_xaxis_transform()  # x in data, y from 0 (bottom) to 1 (top)
        bottom = [0.02] * len(failed)
        axes.plot(failed, bottom, "x", color=FAILED, ms=4, transform=across, label="failed")
    known = [(one.number, one.best) for one in plots.trials if one.best is not None]
    axes.step(
        *_columns(known), where="post", color=BEST, linewidth=1.4, label="best so far", zorder=1
    )
    axes.set_xlabel("trial", fontsize=8, color="#444444")
    axes.set_ylabel(plots.objective, fontsize=8)
    # to the right of the title, where it hides no trial
    legend = axes.legend(
        fontsize=7,
        frameon=False,
        loc="lower right",
        bbox_to_anchor=(1.01, 0.98),
        ncols=6,
        columnspacing=0.9,
        handletextpad=0.2,
    )
    legend.set_in_layout(False)


def _points(
    axes: Axes, plots: StudyPlots, xs: Sequence[float | None], *, label: bool = True
) -> None:
    """Draws a point per trial: filled if it is complete, hollow if it was stopped early."""
    groups = {
        "complete": (COLORS[0], True),
        "waiting": (EARLY, False),
        "baseline": (BASELINE, True),
        "best": (BEST, True),
    }
    for name, (color, filled) in groups.items():
        found = [
            (x, one.value)
            for x, one in zip(xs, plots.trials, strict=True)
            if x is not None and one.value is not None and _group(one, plots.best) == name
        ]
        if found:
            axes.scatter(
                *_columns(found),
                s=30 if name in ("best", "baseline") else 14,
                marker="D" if name == "baseline" else "o",
                facecolors=color if filled else "none",
                edgecolors=color,
                linewidths=0.9,
                label=_LABELS.get(name, name) if label else None,
                zorder=3 if name in ("best", "baseline") else 2,
            )


def _group(trial: PlottedTrial, best: int | None) -> str:
    if trial.is_baseline:
        return "baseline"
    return "best" if trial.number == best else trial.state


def _columns(points: Sequence[tuple[float, float | None]]) -> tuple[list[float], list[float]]:
    """Returns the x and the y values of points."""
    return [x for x, _ in points], [y for _, y in points if y is not None]


def _curves(axes: Axes, plots: StudyPlots) -> None:
    """Draws the curves of the best trial and of the baseline, with their bands."""
    from matplotlib.ticker import FuncFormatter

    for one in plots.curves:
        color = BASELINE if one.is_baseline else BEST
        kind = "fresh seed" if one.is_confirmed else "seed"
        label = f"{one.label}, {one.seeds} {kind}{'' if one.seeds == 1 else 's'}"
        axes.plot(one.curve.x, one.curve.y, color=color, linewidth=1.4, label=label)
        band = [
            (x, low, high)
            for x, low, high in zip(one.curve.x, one.curve.low, one.curve.high, strict=True)
            if low is not None and high is not None
        ]
        if band:
            xs, lows, highs = zip(*band, strict=True)
            axes.fill_between(xs, lows, highs, color=color, alpha=0.18, linewidth=0)
    axes.set_xlabel("env steps", fontsize=8, color="#444444")
    axes.set_ylabel("return of evaluations", fontsize=8)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: short_number(value)))
    if plots.curves:
        axes.legend(fontsize=7, frameon=False, loc="best")
    else:
        _say(axes, "no trial is complete")


def _parallel(axes: Axes, plots: StudyPlots) -> None:
    """Draws a line per trial through its place on each axis; brighter lines are better."""
    from matplotlib import colormaps
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    shown = [one for one in plots.trials if one.value is not None and not one.is_baseline]
    axes.grid(visible=False)
    axes.spines[["left", "bottom"]].set_visible(False)
    axes.set_yticks([])
    axes.set_ylim(-0.06, 1.06)
    axes.set_xlim(-0.3, max(len(plots.parameters) - 0.4, 0.6))
    axes.set_xticks(range(len(plots.parameters)), [one.name for one in plots.parameters])
    axes.tick_params(axis="x", labelsize=7, length=0)
    if len(plots.parameters) > 4:
        for label in axes.get_xticklabels():
            label.set(rotation=12, ha="right")
    complete = [one.value for one in shown if one.state == "complete" and one.value is not None]
    if not complete:
        _say(axes, "no trial is complete")
        return
    colors = colormaps["viridis"]
    scale = Normalize(min(complete), max(complete))
    for one in sorted(shown, key=lambda one: (one.state == "complete", one.value or 0.0)):
        ys = [float("nan") if y is None else y for y in one.positions]
        is_complete = one.state == "complete"
        color = colors(scale(one.value or 0.0)) if is_complete else EARLY
        axes.plot(ys, color=color, linewidth=1.3 if is_complete else 0.6, marker="o", markersize=2)
    for x, parameter in enumerate(plots.parameters):
        axes.axvline(x, color=GREY, linewidth=0.8, zorder=0)
        for place, text in _ticks(parameter):
            axes.annotate(
                text,
                (x, place),
                xytext=(3, 0),
                textcoords="offset points",
                fontsize=6.5,
                va="center",
            )
    bar = axes.figure.colorbar(ScalarMappable(scale, colors), ax=axes, pad=0.01, fraction=0.03)
    bar.ax.tick_params(labelsize=7)


def _ticks(parameter: PlottedParameter) -> list[tuple[float, str]]:
    """Returns the texts along an axis with their places; only some of many."""
    every = -(-len(parameter.ticks) // MAX_TICKS)
    pairs = list(zip(parameter.positions, parameter.ticks, strict=True))
    return [(place, text if len(text) < 18 else f"{text[:16]}…") for place, text in pairs[::every]]


def _slice(axes: Axes, plots: StudyPlots, index: int) -> None:
    """Draws the value of every trial over one parameter."""
    parameter = plots.parameters[index]
    _points(axes, plots, [one.positions[index] for one in plots.trials], label=False)
    places = _ticks(parameter)
    axes.set_xticks([place for place, _ in places], [text for _, text in places])
    axes.set_xlim(-0.06, 1.06)
    if index % SLICES_PER_ROW == 0:
        axes.set_ylabel(plots.objective, fontsize=8)


def _importance(axes: Axes, plots: StudyPlots) -> None:
    """Draws a bar per parameter with its interval, the most important one at the top."""
    axes.grid(visible=False)
    if plots.importance is None:
        _say(axes, fill(plots.note, 40))
        axes.set_xticks([])
        axes.set_yticks([])
        return
    ordered = plots.importance.parameters[::-1]
    names = [one.name for one in ordered]
    values = [one.importance for one in ordered]
    below = [max(one.importance - one.low, 0.0) for one in ordered]
    above = [max(one.high - one.importance, 0.0) for one in ordered]
    axes.barh(names, values, color=COLORS[0], height=0.6, alpha=0.85)
    axes.errorbar(
        values, names, xerr=[below, above], fmt="none", ecolor="#333333", elinewidth=1, capsize=2
    )
    axes.tick_params(axis="y", labelsize=7, length=0)
    axes.set_xlim(0, max(1.0, *(one.high for one in ordered)))
    axes.xaxis.set_major_formatter(lambda value, _: tick_label(value))
    if plots.importance.caution:
        axes.set_xlabel(fill(plots.importance.caution, 60), fontsize=7, color=GREY)


def _say(axes: Axes, text: str) -> None:
    axes.text(0.5, 0.5, text, transform=axes.transAxes, ha="center", color=GREY, fontsize=8)
