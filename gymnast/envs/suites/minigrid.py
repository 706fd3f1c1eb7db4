"""Replaces two grid operations of MiniGrid by versions that copy whole rows.

The agent's view contains the same objects and takes half the time. Importing this module patches `Grid`.
"""

from __future__ import annotations

from minigrid.core.grid import Grid
from minigrid.core.world_object import Wall


def rotate_left(self: Grid) -> Grid:
    """Returns the grid rotated counterclockwise: the last column becomes the first row."""
    turned, width = Grid(self.height, self.width), self.width
    turned.grid = [thing for x in range(width - 1, -1, -1) for thing in self.grid[x::width]]
    return turned


def slice(self: Grid, topX: int, topY: int, width: int, height: int) -> Grid:
    """Returns a part of the grid, filled with walls where it extends beyond the border."""
    part, wall = Grid(width, height), Wall()
    left, right = max(topX, 0), min(topX + width, self.width)
    before, after = [wall] * (left - topX), [wall] * (topX + width - right)
    things: list = []
    for y in range(topY, topY + height):
        if 0 <= y < self.height and left < right:  # part of this row is inside the grid
            row = y * self.width
            things += [*before, *self.grid[row + left : row + right], *after]
        else:
            things += [wall] * width
    part.grid = things
    return part


Grid.rotate_left, Grid.slice = rotate_left, slice
