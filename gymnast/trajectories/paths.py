"""Pictures of the paths of agents: walls, starts, ends and tags. Colors grow stronger as time passes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from gymnast import figures
from gymnast.errors import GymnastError
from gymnast.runs import durable
from gymnast.text.formatting import count, number
from gymnast.trajectories.colors import Color, role_colors
from gymnast.trajectories.trajectory import AgentPath, Trajectory, extent

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MAX_PANELS = 24
"""Number of trajectories in one picture."""
_COLUMNS = 6
_PANEL, _LARGE = 2.6, 6.5
"""Longer side of a panel in inches: of several, and of a single one."""
_TITLE = 0.45
"""Height of the title of a panel and of the legend, in inches."""
_PALEST = 0.25
"""Strength of the color in the first step; the last one has all of it."""


def draw_paths(trajectories: Sequence[Trajectory], out: Path, title: str) -> None:
    """Writes a PNG with a panel per trajectory, of which there may be MAX_PANELS. Raises GymnastError for
    trajectories without positions, and without matplotlib."""
    for one in trajectories:
        if not one.has_positions:
            raise no_positions(one)
    columns = min(len(trajectories), _COLUMNS)
    rows = -(-len(trajectories) // columns)
    (left, right), (low, high) = extent(trajectories)
    is_large = len(trajectories) == 1
    width, height = _panel_size((high - low) / (right - left), _LARGE if is_large else _PANEL)
    heights = [height + _TITLE] * rows + [_TITLE]  # the last row is the legend
    figure = figures.new_figure(max(columns * width, _LARGE), sum(heights) + _TITLE)
    grid = figure.add_gridspec(rows + 1, columns, height_ratios=heights)
    for i, one in enumerate(trajectories):
        panel = figure.add_subplot(grid[i // columns, i % columns])
        _draw_panel(panel, one, ((left, right), (low, high)), large=is_large)
    figure.suptitle(title, fontsize=11)
    _draw_legend(figure.add_subplot(grid[rows, :]), trajectories)
    with durable.explain_os_errors(out):
        out.parent.mkdir(parents=True, exist_ok=True)
    durable.replace(out, figures.to_png(figure))


def _panel_size(aspect: float, side: float) -> tuple[float, float]:
    """Returns width and height of a panel with this longer side. `aspect`: height / width of the field."""
    # A title needs some width, and a very flat field some height.
    return max(side / max(aspect, 1.0), 0.7 * side), max(side * min(aspect, 1.0), 0.3 * side)


def no_positions(one: Trajectory) -> GymnastError:
    """Returns the error for a trajectory whose paths cannot be drawn."""
    if one.is_match:
        fix = "an environment reports positions with `arena` and `placement`: docs/trajectories.md"
    else:
        fix = "declare facts.position or facts.grid in the preset: docs/trajectories.md"
    return GymnastError(f"{one.env} has no positions, so there are no paths to draw", fix=fix)


def _draw_panel(
    panel: Axes,
    one: Trajectory,
    ranges: tuple[tuple[float, float], tuple[float, float]],
    *,
    large: bool,
) -> None:
    from matplotlib.patches import Rectangle

    panel.set_xlim(*ranges[0])
    panel.set_ylim(*ranges[1])
    panel.set_aspect("equal")
    panel.set_xticks([])
    panel.set_yticks([])
    panel.set_facecolor("#f7f8fa")
    for spine in panel.spines.values():
        spine.set_color("#8c93a0")
    for left, low, right, high in one.arena.walls if one.arena is not None else ():
        wall = Rectangle((left, low), right - left, high - low, facecolor="#c3c8d2", zorder=1)
        panel.add_patch(wall)
    colors = role_colors(one.roles)
    size = 2.2 if large else 1.0
    for agent in one.agents:
        if agent.position:
            _draw_path(panel, agent, colors[agent.role], size)
    for tag in one.tags:
        panel.plot(
            *tag.position,
            marker="X",
            color="black",
            markersize=7 * size,
            zorder=5,
            markeredgecolor="white",
        )
    font = 10 if large else 7
    panel.set_title(_panel_title(one), fontsize=font, pad=3)


def _draw_path(panel: Axes, agent: AgentPath, color: Color, size: float) -> None:
    """Draws the steps of an agent from pale to strong, a ring at the start and a disk with the heading at the
    end."""
    from matplotlib.collections import LineCollection

    assert agent.position is not None
    points = np.array(agent.position)[: agent.steps + 1]
    rgb = np.array(color) / 255
    segments = np.stack([points[:-1], points[1:]], axis=1)
    # Mixed with white instead of transparent: where segments join, transparent ones would overlap.
    strength = np.linspace(_PALEST, 1.0, len(segments))[:, None]
    shades = strength * rgb + (1 - strength)
    line = LineCollection(list(segments), colors=shades, linewidths=1.6 * size, zorder=2)
    line.set_capstyle("round")
    panel.add_collection(line)
    panel.plot(
        *points[0],
        marker="o",
        markersize=5 * size,
        markerfacecolor="white",
        markeredgecolor=rgb,
        zorder=3,
    )
    panel.plot(*points[-1], marker="o", markersize=5 * size, color=rgb, zorder=4)
    if agent.heading is not None:
        angle = agent.heading[agent.steps]
        length = 0.045 * float(np.diff(panel.get_xlim())[0])
        tip = points[-1] + length * np.array([np.cos(angle), np.sin(angle)])
        panel.plot(*np.stack([points[-1], tip]).T, color=rgb, linewidth=1.8 * size, zorder=4)


def _panel_title(one: Trajectory) -> str:
    """Returns number, players and result of a trajectory in two lines."""
    if one.is_match:
        who = ", ".join(f"{role}: {player}" for role, player in one.cast.items())
        return f"{who}\n#{one.number}, {one.result()}, {one.length} steps"
    total = number(float(np.sum(one.agents[0].reward)))
    return f"#{one.number}, return {total}\n{one.result()}, {one.length} steps"


def _draw_legend(panel: Axes, trajectories: Sequence[Trajectory]) -> None:
    """Draws what the colors and marks mean, instead of a panel."""
    from matplotlib.lines import Line2D

    marks = [
        Line2D([], [], color=_hex(color), linewidth=2, label=role)
        for role, color in role_colors(trajectories[0].roles).items()
    ]
    ring = {"marker": "o", "linestyle": "", "markeredgecolor": "#555", "markersize": 5}
    marks.append(Line2D([], [], markerfacecolor="white", label="start", **ring))
    marks.append(Line2D([], [], markerfacecolor="#555", label="end", **ring))
    if any(one.tags for one in trajectories):
        marks.append(Line2D([], [], marker="X", color="black", linestyle="", label="tag"))
    panel.legend(handles=marks, loc="center", ncols=len(marks), frameon=False, fontsize=8)
    panel.set_axis_off()


def _hex(color: Color) -> str:
    return "#" + bytes(color).hex()


def picture_title(first: Trajectory) -> str:
    """Returns the title of a picture: environment, run, kind and version."""
    return f"{first.env}, run {first.run}: {first.kind} after {count(first.version)} env steps"
