"""Curves as text: a sparkline for a table cell, a chart of several series for a page.

Missing values (NaN, infinity) are a gap in a sparkline and omitted from a chart, never drawn as zero.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise

BLOCKS = "▁▂▃▄▅▆▇█"
MARKS = "●○◆◇▲△■□"
"""Symbols of the series of a chart, in order; they repeat after eight series."""

Series = tuple[Sequence[float], Sequence[float]]
"""x values and y values of equal length; each series has its own x values."""


def sparkline(values: Sequence[float], width: int = 20) -> str:
    """Returns a row of bars, from the lowest bar for the smallest value to the highest for the largest.

    More than `width` values are averaged into `width` bars; fewer give one bar each. A value that is not
    finite is a space.
    """
    cells = _pooled(values, width)
    finite = [v for v in cells if math.isfinite(v)]
    if not finite:
        return " " * len(cells)
    low, span = min(finite) / 2, max(finite) / 2 - min(finite) / 2  # halves: the span may overflow
    return "".join(_bar(v / 2, low, span) if math.isfinite(v) else " " for v in cells)


def line_chart(
    series: Mapping[str, Series], *, width: int = 72, height: int = 16, x_label: str = ""
) -> str:
    """Draws all series (name -> x and y values) on common axes, each at its own x values, with a legend
    below.

    `width` and `height` are the size of the plotting area, in characters. Without any finite point, the
    result is a note that there is nothing to draw.
    """
    points = {name: _points(*xy) for name, xy in series.items()}
    all_points = [point for line in points.values() for point in line]
    if not all_points:
        return "(nothing to draw yet)"
    x_low, x_high = min(x for x, _ in all_points), max(x for x, _ in all_points)
    y_low, y_high = min(y for _, y in all_points), max(y for _, y in all_points)
    grid = [[" "] * width for _ in range(height)]
    for mark, line in zip(_marks(len(points)), points.values(), strict=True):
        cells = [
            (_cell_index(x, x_low, x_high, width), _cell_index(y, y_low, y_high, height))
            for x, y in line
        ]
        for column, row in _joined(cells):
            grid[height - 1 - row][column] = mark
    # Row 0 of the grid is the top of the chart. The y axis is added first: its width sets the margin.
    lines = _framed(grid, y_low, y_high)
    left = len(lines[0]) - width
    lines.append(" " * (left - 1) + "└" + "─" * width)
    lines.append(" " * left + _ends(short_number(x_low), x_label, short_number(x_high), width))
    legend = (f"{mark} {name}" for mark, name in zip(_marks(len(points)), points, strict=True))
    return "\n".join([*(line.rstrip() for line in lines), " " * left + "   ".join(legend)])


def short_number(value: float) -> str:
    """Formats a number for an axis: 3 significant digits, with k, M and G."""
    for unit, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= unit * 0.9995:  # 999.6 would be printed as 1e+03
            return f"{value / unit:.3g}{letter}"
    return f"{value:.3g}"


def _pooled(values: Sequence[float], width: int) -> list[float]:
    """Returns the means of `width` consecutive parts of about equal length; the values themselves if they are
    not more."""
    n = len(values)
    if n <= width:
        return list(values)
    edges = [i * n // width for i in range(width + 1)]
    return [_mean(values[a:b]) for a, b in pairwise(edges)]


def _mean(values: Sequence[float]) -> float:
    finite = [v for v in values if math.isfinite(v)]
    return sum(finite) / len(finite) if finite else math.nan


def _bar(value: float, low: float, span: float) -> str:
    if span == 0:
        return BLOCKS[0]
    return BLOCKS[min(int((value - low) / span * len(BLOCKS)), len(BLOCKS) - 1)]


def _points(xs: Sequence[float], ys: Sequence[float]) -> list[tuple[float, float]]:
    pairs = zip(xs, ys, strict=True)
    return sorted((x, y) for x, y in pairs if math.isfinite(x) and math.isfinite(y))


def _cell_index(value: float, low: float, high: float, cells: int) -> int:
    """Returns the cell, 0 to cells - 1, of a value on an axis from `low` to `high`; 0 if the axis has no
    length."""
    span = high / 2 - low / 2  # halves: the span may overflow
    return round((value / 2 - low / 2) / span * (cells - 1)) if span > 0 else 0


def _joined(cells: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Returns the cells and those on the straight lines between consecutive cells."""
    joined = list(cells[:1])
    for (x0, y0), (x1, y1) in pairwise(cells):
        n = max(abs(x1 - x0), abs(y1 - y0), 1)
        joined += [
            (round(x0 + (x1 - x0) * i / n), round(y0 + (y1 - y0) * i / n)) for i in range(1, n + 1)
        ]
    return joined


def _marks(n: int) -> list[str]:
    return [MARKS[i % len(MARKS)] for i in range(n)]


def _framed(grid: list[list[str]], low: float, high: float) -> list[str]:
    """Returns the lines of the grid with the y axis on their left, labeled at the top, at the bottom and, if
    there is space, in the middle. `low` and `high`: the values at the bottom and at the top."""
    height = len(grid)
    labels = {0: short_number(high), height - 1: short_number(low)}
    if high > low and height >= 5:
        labels[height // 2] = short_number(high - (high - low) * (height // 2) / (height - 1))
    margin = max(len(text) for text in labels.values())
    return [
        f"{labels.get(i, ''):>{margin}} {'┤' if i in labels else '│'}{''.join(row)}"
        for i, row in enumerate(grid)
    ]


def _ends(left: str, middle: str, right: str, width: int) -> str:
    """Returns the text below the x axis: both ends with `middle` between them if it fits into `width`."""
    room = width - len(left) - len(right)
    return f"{left}{middle:^{room}}{right}" if room > len(middle) + 1 else f"{left} .. {right}"
