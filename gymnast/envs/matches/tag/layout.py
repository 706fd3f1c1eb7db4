"""Start positions of walls and agents: a function of the match's seed alone.

The field is a grid of cells. Some contain a box with a free lane around it, so every point can be reached
from every other. Agents start in cells without a box, hiders at least two cells away from the seekers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gymnast.envs.matches.tag.rules import HALF_FIELD, HEADINGS, RADIUS
from gymnast.seeds import stream

Array = np.ndarray

CELLS = 4
"""Number of cells along a side of the field."""
N_BOXES = 6
"""Few enough that from any cell, at least one free cell is two or more cells away."""
_CELL = 2 * HALF_FIELD / CELLS
_LANE = 2 * RADIUS
"""Free space on each side of a box within its cell: between two boxes, two agents can pass each other."""
_MIN_HALF, _MAX_HALF = 0.7, _CELL / 2 - _LANE
"""Range of half the width of a box."""
_SPREAD = 1.5
"""Maximum distance of an agent's start from the center of its cell, along either axis."""
_COLUMN, _ROW = np.arange(CELLS**2) % CELLS, np.arange(CELLS**2) // CELLS
_MIDDLE = np.stack([_COLUMN, _ROW], -1) * _CELL + _CELL / 2 - HALF_FIELD
"""Center of each cell, [cells, 2]."""
_APART = np.maximum(
    np.abs(_COLUMN[:, None] - _COLUMN), np.abs(_ROW[:, None] - _ROW)
)  # [cells, cells]


@dataclass(frozen=True)
class Layout:
    """The walls and agents of M matches at their start."""

    middle: Array
    """Centers of the boxes, [M, B, 2]."""
    half: Array
    """Half of their widths, [M, B, 2]."""
    position: Array
    """Centers of the agents, seekers first, [M, K, 2]."""
    heading: Array
    """Index of the direction each agent faces, [M, K]."""


def sample_layouts(seeds: Sequence[int], seekers: int, hiders: int) -> Layout:
    """Samples the layout of M matches, each from its own seed."""
    # 1. All random numbers of a match in one draw per seed, [M, draws]; the rest is one batch.
    agents = seekers + hiders
    sizes = (CELLS**2, 4 * N_BOXES, hiders, 3 * agents)
    chance = np.stack([stream(seed, "tag").random(sum(sizes)) for seed in seeds])
    order, boxes, refuges, bodies = np.split(chance, np.cumsum(sizes)[:-1], axis=1)

    # 2. Boxes: sorting random numbers shuffles the cells, of which the first get a box of random size, placed
    # such that its lane stays free.
    cells = order.argsort(axis=1, kind="stable")
    walled, free = cells[:, :N_BOXES], cells[:, N_BOXES:]
    boxes = boxes.reshape(-1, N_BOXES, 4)
    half = _MIN_HALF + boxes[..., :2] * (_MAX_HALF - _MIN_HALF)
    middle = _MIDDLE[walled] + (2 * boxes[..., 2:] - 1) * (_MAX_HALF - half)

    # 3. Cells of the agents: all seekers start in one, each hider in one that is far away from it.
    home = free[:, 0]
    far = _APART[home[:, None], free] >= 2  # [M, free cells]
    rank = refuges * far.sum(1, keepdims=True)
    # Each hider gets the cell with this rank (rounded down) among the cells that are far enough away.
    chosen = (far.cumsum(1)[:, None] > np.floor(rank)[..., None]).argmax(-1)
    refuge = np.take_along_axis(free, chosen, axis=1)
    cell = np.concatenate([np.repeat(home[:, None], seekers, 1), refuge], axis=1)

    # 4. Position within the cell, and heading.
    bodies = bodies.reshape(-1, agents, 3)
    position = _MIDDLE[cell] + (2 * bodies[..., :2] - 1) * _SPREAD
    return Layout(middle, half, position, (bodies[..., 2] * HEADINGS).astype(np.int64))
