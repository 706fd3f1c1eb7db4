"""Where things are on a frame [210, 160, 3] of Pong or Breakout, by their colours alone.

Knows nothing of the console's memory: it is what object features are held against.
"""

from __future__ import annotations

import numpy as np

Array = np.ndarray
Box = tuple[int, int, int, int]
"""Left, top, right, bottom; the last pixels inside."""


def pong(frame: Array) -> dict[str, tuple[float, ...]]:
    """Middles of what is there: ball (x, y), player (y), enemy (y)."""
    field = frame[34:194]
    found: dict[str, tuple[float, ...]] = {}
    ball = _box(_coloured(field, (236, 236, 236)), 34)
    if ball is not None:
        found["ball"] = (_middle(ball[0], ball[2]), _whole(ball[1], ball[3], 4, 34, 193))
    for name, colour in (("player", (92, 186, 92)), ("enemy", (213, 130, 74))):
        paddle = _box(_coloured(field, colour), 34)
        if paddle is not None:
            found[name] = (_whole(paddle[1], paddle[3], 16, 34, 193),)
    return found


def breakout(frame: Array) -> dict[str, tuple[float, ...]]:
    """Ball (x, y), paddle (x). A ball among bricks of its colour is not seen, nor one that touches
    the paddle, which has its colour too."""
    red = _coloured(frame, (200, 72, 72))
    red[:, :8] = red[:, 152:] = False
    found: dict[str, tuple[float, ...]] = {}
    air = red.copy()
    air[:63] = air[185:] = False
    ball = _box(air, 0)
    if ball is not None and ball[2] - ball[0] < 2 and ball[3] - ball[1] < 4:
        found["ball"] = (_whole(ball[0], ball[2], 2, 8, 151), _whole(ball[1], ball[3], 4, 63, 184))
    below = red.copy()
    below[:189] = below[193:] = False
    paddle = _box(below, 0)
    if paddle is not None:
        found["paddle"] = (_whole(paddle[0], paddle[2], 16, 8, 151),)
    return found


def bricks(frame: Array) -> Array:
    """[6, 18] booleans, the highest row first."""
    return frame[60 : 60 + 6 * 6 : 6, 12 : 12 + 18 * 8 : 8].any(-1)


def _coloured(picture: Array, colour: tuple[int, int, int]) -> Array:
    return (picture == colour).all(-1)


def _box(mask: Array, top: int) -> Box | None:
    rows, columns = np.flatnonzero(mask.any(1)), np.flatnonzero(mask.any(0))
    if not len(rows):
        return None
    return int(columns[0]), int(rows[0]) + top, int(columns[-1]), int(rows[-1]) + top


def _middle(first: int, last: int) -> float:
    return (first + last + 1) / 2


def _whole(first: int, last: int, size: int, low: int, high: int) -> float:
    """The middle of a thing of this size, of which a part may be beyond an edge."""
    if first == low and last - first + 1 < size:
        return last + 1 - size / 2
    if last == high and last - first + 1 < size:
        return first + size / 2
    return _middle(first, last)
