"""Where walls and bodies are when a match begins: a function of its seed alone.

The field is a grid of cells. Some hold a box, which leaves a lane around it, so every place can be
reached from every other; bodies begin in cells without one, hiders two cells or more from the seekers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gymnast.envs.matches.tag.rules import HALF_FIELD, HEADINGS, RADIUS
from gymnast.seeds import stream

Array = np.ndarray

CELLS = 4
"""Along a side of the field."""
N_BOXES = 6
"""Few enough that some free cell is two or more away from any other."""
_CELL = 2 * HALF_FIELD / CELLS
_LANE = 2 * RADIUS
"""Free on each side of a box, within its cell: two neighbours leave room for two bodies."""
_THINNEST, _THICKEST = 0.7, _CELL / 2 - _LANE
"""Half the width of a box."""
_SPREAD = 1.5
"""How far from the middle of its cell a body may begin, along either axis."""
_COLUMN, _ROW = np.arange(CELLS**2) % CELLS, np.arange(CELLS**2) // CELLS
_MIDDLE = np.stack([_COLUMN, _ROW], -1) * _CELL + _CELL / 2 - HALF_FIELD
"""Of each cell, [cells, 2]."""
_APART = np.maximum(
    np.abs(_COLUMN[:, None] - _COLUMN), np.abs(_ROW[:, None] - _ROW)
)  # [cells, cells]


@dataclass(frozen=True)
class Layout:
    middle: Array
    """Of boxes, [M, B, 2]."""
    half: Array
    """Half their widths, [M, B, 2]."""
    position: Array
    """Of agents, seekers first, [M, K, 2]."""
    heading: Array
    """[M, K]"""


def drawn(seeds: Sequence[int], seekers: int, hiders: int) -> Layout:
    agents = seekers + hiders
    sizes = (CELLS**2, 4 * N_BOXES, hiders, 3 * agents)
    chance = np.stack([stream(seed, "tag").random(sum(sizes)) for seed in seeds])
    order, boxes, refuges, bodies = np.split(chance, np.cumsum(sizes)[:-1], axis=1)

    cells = order.argsort(axis=1, kind="stable")
    walled, free = cells[:, :N_BOXES], cells[:, N_BOXES:]
    boxes = boxes.reshape(-1, N_BOXES, 4)
    half = _THINNEST + boxes[..., :2] * (_THICKEST - _THINNEST)
    middle = _MIDDLE[walled] + (2 * boxes[..., 2:] - 1) * (_THICKEST - half)

    home = free[:, 0]
    far = _APART[home[:, None], free] >= 2  # [M, free cells]
    rank = refuges * far.sum(1, keepdims=True)
    # the cell whose number among those far away is `rank`, rounded down
    chosen = (far.cumsum(1)[:, None] > np.floor(rank)[..., None]).argmax(-1)
    refuge = np.take_along_axis(free, chosen, axis=1)
    cell = np.concatenate([np.repeat(home[:, None], seekers, 1), refuge], axis=1)

    bodies = bodies.reshape(-1, agents, 3)
    position = _MIDDLE[cell] + (2 * bodies[..., :2] - 1) * _SPREAD
    return Layout(middle, half, position, (bodies[..., 2] * HEADINGS).astype(np.int64))
