"""Locates objects on a frame [210, 160, 3] of Pong or Breakout by their colors alone.

It does not use the console's memory, so that it is an independent reference for object features.
"""

from __future__ import annotations

import numpy as np

Array = np.ndarray
Box = tuple[int, int, int, int]
"""Left, top, right, bottom; the last pixels inside."""


def pong(frame: Array) -> dict[str, tuple[float, ...]]:
    """Returns the centers of the visible objects: ball (x, y), player (y), enemy (y)."""
    field = frame[34:194]
    found: dict[str, tuple[float, ...]] = {}
    ball = _box(_has_color(field, (236, 236, 236)), 34)
    if ball is not None:
        found["ball"] = (_center(ball[0], ball[2]), _center_of_size(ball[1], ball[3], 4, 34, 193))
    for name, color in (("player", (92, 186, 92)), ("enemy", (213, 130, 74))):
        paddle = _box(_has_color(field, color), 34)
        if paddle is not None:
            found[name] = (_center_of_size(paddle[1], paddle[3], 16, 34, 193),)
    return found


def breakout(frame: Array) -> dict[str, tuple[float, ...]]:
    """Returns the centers of ball (x, y) and paddle (x). A ball among bricks of its color is not found, nor
    one that touches the paddle, which has the same color."""
    red = _has_color(frame, (200, 72, 72))
    red[:, :8] = red[:, 152:] = False
    found: dict[str, tuple[float, ...]] = {}
    air = red.copy()
    air[:63] = air[185:] = False
    ball = _box(air, 0)
    if ball is not None and ball[2] - ball[0] < 2 and ball[3] - ball[1] < 4:
        found["ball"] = (
            _center_of_size(ball[0], ball[2], 2, 8, 151),
            _center_of_size(ball[1], ball[3], 4, 63, 184),
        )
    below = red.copy()
    below[:189] = below[193:] = False
    paddle = _box(below, 0)
    if paddle is not None:
        found["paddle"] = (_center_of_size(paddle[0], paddle[2], 16, 8, 151),)
    return found


def bricks(frame: Array) -> Array:
    """Returns which bricks are left, bool [6, 18], top row first."""
    return frame[60 : 60 + 6 * 6 : 6, 12 : 12 + 18 * 8 : 8].any(-1)


def _has_color(image: Array, color: tuple[int, int, int]) -> Array:
    return (image == color).all(-1)


def _box(mask: Array, top: int) -> Box | None:
    rows, columns = np.flatnonzero(mask.any(1)), np.flatnonzero(mask.any(0))
    if not len(rows):
        return None
    return int(columns[0]), int(rows[0]) + top, int(columns[-1]), int(rows[-1]) + top


def _center(first: int, last: int) -> float:
    return (first + last + 1) / 2


def _center_of_size(first: int, last: int, size: int, low: int, high: int) -> float:
    """Returns the center of an object of this size, part of which may be beyond an edge."""
    if first == low and last - first + 1 < size:
        return last + 1 - size / 2
    if last == high and last - first + 1 < size:
        return first + size / 2
    return _center(first, last)
