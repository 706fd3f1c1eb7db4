"""Bodies that slide along boxes, rays that end at them, and sight that they block.

Boxes are axis-aligned: a middle and half a width along either axis. Nothing here rounds differently
for one match than for many, so a match is the same wherever it is played.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

Array = np.ndarray

TOUCH = 1e-9
"""Bodies this deep in a box, by rounding, count as touching it from outside."""
_STILL = 1e-12
"""Moves shorter than this are none."""
_NOT_ZERO = 1e-9
"""In place of a direction's zero, by which nothing can be divided."""


def slide(
    start: Array, move: Array, middle: Array, half: Array, limit: float
) -> tuple[Array, Array]:
    """Where points end that go from `start` by `move` [N, K, 2], however far, and which axes were
    stopped [N, K, 2]. What hits a box [N, B, 2] goes on along its side; none leaves -limit..limit."""
    wanted = start + move
    end = np.clip(wanted, -limit, limit)
    stopped = end != wanted
    move = end - start
    reach = np.abs(move)[:, :, None] + half[:, None]
    close = np.abs(middle[:, None] - start[:, :, None]) <= reach
    near = (close[..., 0] & close[..., 1]).any(-1)
    match, agent = np.nonzero(near)
    if match.size:
        boxes = middle[match], half[match]
        at, hit = _along_sides(start[match, agent], move[match, agent], *boxes)
        end[match, agent] = np.clip(at, -limit, limit)
        stopped[match, agent] |= hit
    return end, stopped


def inverse(direction: Array) -> Array:
    """1 / direction, of rays and lines of sight."""
    least = np.where(direction < 0, -_NOT_ZERO, _NOT_ZERO)
    return 1.0 / np.where(np.abs(direction) < _NOT_ZERO, least, direction)


def ray_lengths(
    at: Array,
    inverses: Sequence[Array],
    middle: Array,
    half: Array,
    limit: float,
    longest: float,
) -> Array:
    """How far each ray [N, K, R] from `at` [N, K, 2], of unit length, gets before a box [N, B, 2] or
    the outer walls; at most `longest`."""
    kind = inverses[0].dtype
    at, middle, half = (x.astype(kind, copy=False) for x in (at, middle, half))

    def crossed(axis: int) -> tuple[Array, Array, Array]:
        """How far along the rays it is into and out of each box [B, N, K, R], and out of the field."""
        steep, here = inverses[axis], at[:, :, axis]
        width = np.abs(steep)
        offset = (middle[:, :, axis].T[:, :, None] - here)[..., None] * steep
        reach = half[:, :, axis].T[:, :, None, None] * width
        return (
            offset - reach,
            np.add(offset, reach, out=offset),
            width * limit - here[..., None] * steep,
        )

    entry, leave, outer = crossed(0)
    other = crossed(1)
    np.maximum(entry, other[0], out=entry)
    np.minimum(leave, other[1], out=leave)
    entry[(entry > leave) | (entry < 0)] = longest
    return np.minimum(np.minimum(entry.min(0), np.minimum(outer, other[2])), longest)


def in_sight(start: Array, line: Array, middle: Array, half: Array) -> Array:
    """Whether no box [N, B, 2] lies on the line from `start` [N, ..., 2] to `start + line`, [N, ...]."""
    n, *more = line.shape[:-1]
    shape = (n, -1, 1, 2)
    steep = inverse(line).reshape(shape)
    start = np.broadcast_to(start, line.shape).reshape(shape)
    offset = (middle[:, None] - start) * steep
    reach = half[:, None] * np.abs(steep)
    first, last = _latest(offset - reach), _earliest(offset + reach)
    blocked = (first < last) & (last > 0) & (first < 1)
    return ~blocked.any(-1).reshape(n, *more)


def _along_sides(start: Array, move: Array, middle: Array, half: Array) -> tuple[Array, Array]:
    """`slide` for points [A, 2] with boxes of their own [A, B, 2]: straight to the first box, then
    along its side to the next; what is stopped twice has nowhere left to go."""
    stopped = np.zeros(start.shape, bool)
    for _ in range(2):
        share, axis, face = _first_box(start, move, middle, half)
        start = start + move * np.minimum(share, 1.0)[:, None]
        (hit,) = np.nonzero(share <= 1.0)
        if not hit.size:
            break
        axis = axis[hit]
        start[hit, axis] = face[hit]
        move = move * (1.0 - np.minimum(share, 1.0))[:, None]
        move[hit, axis] = 0.0
        stopped[hit, axis] = True
    return start, stopped


def _first_box(start: Array, move: Array, middle: Array, half: Array) -> tuple[Array, Array, Array]:
    """The share of the move [A] until a box is hit (2 where none is), along which axis, and where that
    side of the box is."""
    pace = np.abs(move)
    still = pace < _STILL
    pace = np.where(still, _STILL, pace)[:, None]
    sign = np.where(move < 0, -1.0, 1.0)[:, None]
    toward = sign * (middle - start[:, None])
    gap, beyond = toward - half, toward + half - TOUCH
    # who does not move along an axis never gets to the box along it, even if they touch it
    least = np.where(still, TOUCH, 0.0)[:, None]
    entry = np.where(gap > -TOUCH, np.maximum(gap, least) / pace, -np.inf)
    first, last = _latest(entry), _earliest(beyond / pace)
    hit = (first >= 0) & (first <= 1) & (first < last)
    share = np.where(hit, first, 2.0)
    rows, box = np.arange(len(start)), share.argmin(-1)
    axis = entry[rows, box].argmax(-1)
    face = (middle - sign * half)[rows, box, axis]
    return share[rows, box], axis, face


def _latest(of: Array) -> Array:
    """`of.max(-1)` of two axes, in a fraction of the time; `_earliest` the other way."""
    return np.maximum(of[..., 0], of[..., 1])


def _earliest(of: Array) -> Array:
    return np.minimum(of[..., 0], of[..., 1])
