"""Geometry of axis-aligned boxes: agents slide along them, rays end at them, and they block sight.

A box is given by its center (`middle`) and half of its width along either axis (`half`). The results do not
depend on the batch size, not even by rounding, so a match is the same alone and in a batch.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

Array = np.ndarray

TOUCH = 1e-9
"""An agent that rounding put this deep into a box counts as touching it from outside."""
_STILL = 1e-12
"""Moves shorter than this count as no move."""
_NOT_ZERO = 1e-9
"""Replaces components of a direction that are nearly 0, to avoid dividing by 0."""


def slide(
    start: Array, move: Array, middle: Array, half: Array, limit: float
) -> tuple[Array, Array]:
    """Moves points from `start` by `move`, both [N, K, 2], without tunneling through boxes [N, B, 2].

    A point that hits a box slides along its side, and no point leaves [-limit, limit]. Returns the end
    points and which axes were blocked, both [N, K, 2].
    """
    # Clipping each axis by itself is sliding along the outer walls.
    unlimited = start + move
    end = np.clip(unlimited, -limit, limit)
    stopped = end != unlimited
    move = end - start
    # Only points whose move can reach a box need the exact computation.
    reach = np.abs(move)[:, :, None] + half[:, None]  # [N, K, B, 2]
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
    """Returns 1 / direction, finite also for components that are 0."""
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
    """Returns the length of each ray, [N, K, R], from `at` [N, K, 2] to the first box [N, B, 2] or outer
    wall, at most `longest`. `inverses` are 1 / direction of the rays, [N, K, R] for either axis.

    This is the slab method: a ray is inside a box where it is between the box's sides on both axes.
    """
    kind = inverses[0].dtype
    at, middle, half = (x.astype(kind, copy=False) for x in (at, middle, half))

    def crossed(axis: int) -> tuple[Array, Array, Array]:
        """Returns the distances along the rays at which they enter and leave the sides of each box on this
        axis, [B, N, K, R], and at which they leave the field, [N, K, R]."""
        steep, here = inverses[axis], at[:, :, axis]
        width = np.abs(steep)
        offset = (middle[:, :, axis].T[:, :, None] - here)[..., None] * steep
        reach = half[:, :, axis].T[:, :, None, None] * width
        return (
            offset - reach,
            np.add(offset, reach, out=offset),
            width * limit - here[..., None] * steep,
        )

    # Inside a box from the later entry to the earlier exit of the two axes, if that interval is not empty.
    entry, leave, outer = crossed(0)
    other = crossed(1)
    np.maximum(entry, other[0], out=entry)
    np.minimum(leave, other[1], out=leave)
    entry[(entry > leave) | (entry < 0)] = longest  # missed, or behind the start of the ray
    return np.minimum(np.minimum(entry.min(0), np.minimum(outer, other[2])), longest)


def has_line_of_sight(start: Array, line: Array, middle: Array, half: Array) -> Array:
    """True where no box [N, B, 2] blocks the line from `start` to `start + line`, both [N, ..., 2]. Shape
    [N, ...]."""
    n, *more = line.shape[:-1]
    shape = (n, -1, 1, 2)
    steep = inverse(line).reshape(shape)
    start = np.broadcast_to(start, line.shape).reshape(shape)
    offset = (middle[:, None] - start) * steep
    reach = half[:, None] * np.abs(steep)
    first, last = _latest(offset - reach), _earliest(offset + reach)  # as fractions of the line
    blocked = (first < last) & (last > 0) & (first < 1)
    return ~blocked.any(-1).reshape(n, *more)


def _along_sides(start: Array, move: Array, middle: Array, half: Array) -> tuple[Array, Array]:
    """Does what `slide` does for points [A, 2], each with its own boxes [A, B, 2]: straight to the first box,
    then along its side to the next. A point that is stopped twice is in a corner."""
    stopped = np.zeros(start.shape, bool)
    for _ in range(2):  # at most one stop per axis
        share, axis, face = _first_box(start, move, middle, half)
        start = start + move * np.minimum(share, 1.0)[:, None]
        (hit,) = np.nonzero(share <= 1.0)
        if not hit.size:
            break
        axis = axis[hit]
        start[hit, axis] = face[hit]  # exactly, without the rounding error of start + move * share
        move = move * (1.0 - np.minimum(share, 1.0))[:, None]
        move[hit, axis] = 0.0
        stopped[hit, axis] = True
    return start, stopped


def _first_box(start: Array, move: Array, middle: Array, half: Array) -> tuple[Array, Array, Array]:
    """Returns the fraction of the move after which the first box is hit (2 if none is), the axis, and the
    coordinate of the box's side on that axis, [A] each."""
    pace = np.abs(move)
    still = pace < _STILL
    pace = np.where(still, _STILL, pace)[:, None]
    sign = np.where(move < 0, -1.0, 1.0)[:, None]
    toward = sign * (middle - start[:, None])
    gap, beyond = toward - half, toward + half - TOUCH
    # A point that does not move along an axis never enters a box along it, even if it touches the box.
    least = np.where(still, TOUCH, 0.0)[:, None]
    entry = np.where(gap > -TOUCH, np.maximum(gap, least) / pace, -np.inf)
    first, last = _latest(entry), _earliest(beyond / pace)
    hit = (first >= 0) & (first <= 1) & (first < last)  # [A, B]
    share = np.where(hit, first, 2.0)
    rows, box = np.arange(len(start)), share.argmin(-1)
    axis = entry[rows, box].argmax(-1)
    face = (middle - sign * half)[rows, box, axis]
    return share[rows, box], axis, face


def _latest(values: Array) -> Array:
    """Returns `values.max(-1)` for a last axis of length 2, in a fraction of the time."""
    return np.maximum(values[..., 0], values[..., 1])


def _earliest(values: Array) -> Array:
    """Returns `values.min(-1)` in the same way."""
    return np.minimum(values[..., 0], values[..., 1])
