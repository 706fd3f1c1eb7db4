"""Draws the cross-play matrix as a heat map: one colored cell per pair, with its numbers in it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from gymnast import figures
from gymnast.league.matrix import CrossPlayCell, CrossPlayReport

if TYPE_CHECKING:
    from matplotlib.axes import Axes

CELL, MARGIN = (0.85, 0.5), (2.2, 1.6)
"""Width and height in inches."""
COLOR_MAP = "RdBu"
"""Red where the row loses, white where it is even, blue where the row wins; safe for color-blind readers."""
NO_RESULT = "#eeeeee"
"""Color of a pair without a known outcome."""


def heatmap_png(matrix: CrossPlayReport) -> bytes:
    """Returns the heat map as the bytes of a PNG."""
    # an empty matrix is drawn with one empty cell
    n_columns, n_rows = max(1, len(matrix.columns)), max(1, len(matrix.rows))
    figure = figures.new_figure(
        MARGIN[0] + CELL[0] * n_columns,
        MARGIN[1] + CELL[1] * n_rows,
        alternative="or read it as text or JSON",
    )
    axes = figure.add_subplot()
    axes.set_facecolor(NO_RESULT)
    rates = [[math.nan if c.rate is None else c.rate for c in line] for line in matrix.cells]
    if matrix.rows and matrix.columns:
        mesh = axes.pcolormesh(rates, cmap=COLOR_MAP, vmin=0, vmax=1, edgecolors="white", lw=1)
        bar = figure.colorbar(mesh, ax=axes, pad=0.02, format=lambda v, _: f"{100 * v:.0f}%")
        bar.ax.tick_params(labelsize=7)
    for row, line in enumerate(matrix.cells):
        for column, cell in enumerate(line):
            _write_cell(axes, column + 0.5, row + 0.5, cell)
    _label(axes, matrix)
    return figures.to_png(figure)


def _label(axes: Axes, matrix: CrossPlayReport) -> None:
    """Adds the title, the names of rows and columns, and the roles. Inverts the y axis, so that the first row
    is on top."""
    title = f"win rate of the {matrix.row_role}"
    axes.set_title(title, loc="left", fontsize=10, fontweight="bold", pad=8)
    columns, rows = (
        [i + 0.5 for i in range(len(names))] for names in (matrix.columns, matrix.rows)
    )
    axes.set_xticks(columns, matrix.columns, rotation=30, ha="right")
    axes.set_yticks(rows, matrix.rows)
    axes.invert_yaxis()  # the first row on top, as in the table
    axes.tick_params(labelsize=8, colors="#444444", length=0)
    axes.spines[:].set_visible(False)
    axes.set_xlabel(matrix.column_role, fontsize=8, color="#444444", labelpad=2)
    axes.set_ylabel(matrix.row_role, fontsize=8, color="#444444")


def _write_cell(axes: Axes, x: float, y: float, cell: CrossPlayCell) -> None:
    """Writes into the cell with its center at (x, y) the win rate of the row role, and below it (the y axis
    is inverted) its interval and the number of matches with a known outcome; only `-` if there is none."""
    if cell.rate is None:
        axes.text(x, y, "-", ha="center", va="center", fontsize=8, color="#777777")
        return
    # Both ends of the color map are dark.
    color = "white" if abs(cell.rate - 0.5) > 0.35 else "black"
    low, high = f"{100 * cell.low:.0f}", f"{100 * cell.high:.0f}"
    axes.text(x, y, f"{100 * cell.rate:.0f}%", ha="center", va="bottom", fontsize=9, color=color)
    small = f"{low}-{high}%, n {cell.matches}"
    axes.text(x, y + 0.05, small, ha="center", va="top", fontsize=5.5, color=color)
