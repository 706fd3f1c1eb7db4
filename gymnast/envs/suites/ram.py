"""Where the objects of Atari games are, read from the 128 bytes of the console's memory.

Places are the middles of objects as drawn, in pixels of the screen of 210 x 160, from its upper left
corner. What the bytes mean was found by comparing them with frames, which a test does again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

Array = np.ndarray
Place = tuple[float, ...] | None
"""Along the axes of an object; None: it is not there."""


@dataclass(frozen=True)
class Axis:
    name: str
    low: float
    """Least place of the object's middle."""
    high: float
    speed: float
    """Most pixels that it moves in a step of 4 frames, either way."""


@dataclass(frozen=True)
class Moving:
    name: str
    axes: tuple[Axis, ...]
    comes_and_goes: bool = False


@dataclass(frozen=True)
class Number:
    name: str
    low: float
    high: float


@dataclass(frozen=True)
class Layout:
    moving: tuple[Moving, ...]
    places: Callable[[Array], tuple[Place, ...]]
    """Of each of those."""
    numbers: tuple[Number, ...]
    """What else is worth knowing."""
    told: Callable[[Array], tuple[float, ...]]
    """Each of those; beyond its bounds it is cut off."""


NEAR = 24.0
"""Pixels from a paddle within which it matters where the ball is: a paddle and a half."""


# ---- Pong ------------------------------------------------------------------------------------

_TOP, _BOTTOM = 34, 194
"""Rows between which Pong is played."""


def _pong(ram: Array) -> tuple[Place, ...]:
    x, y, ours, theirs = ram[49].item(), ram[54].item(), ram[51].item(), ram[50].item()
    ball = (x - 48.0, y - 12.0) if y > 44 and x > 48 else None
    return ball, (ours - 5.5,), (theirs - 7.0,) if theirs > 33 else None


def _pong_numbers(ram: Array) -> tuple[float, ...]:
    ball, player, _ = _pong(ram)
    return (0.0,) if ball is None or player is None else (ball[1] - player[0],)


PONG = Layout(
    moving=(
        Moving("ball", (Axis("x", 0, 160, 16), Axis("y", _TOP - 2, _BOTTOM + 2, 16)), True),
        Moving("player", (Axis("y", _TOP - 2, _BOTTOM + 6, 24),)),
        Moving("enemy", (Axis("y", _TOP - 8, _BOTTOM + 6, 16),), True),
    ),
    places=_pong,
    numbers=(Number("ball y from player", -NEAR, NEAR),),
    told=_pong_numbers,
)


# ---- Breakout --------------------------------------------------------------------------------

ROWS, COLUMNS = 6, 18
_COLUMN_BITS = (
    (30, 6),
    *((24, bit) for bit in (6, 4, 2, 0)),
    *((18, bit) for bit in (0, 2, 4, 6)),
    *((12, bit) for bit in (4, 6)),
    *((6, bit) for bit in (6, 4, 2, 0)),
    *((0, bit) for bit in (0, 2, 4)),
)
"""Where each column of bricks begins: the byte of its lowest brick, which the higher ones follow, and
a bit in it. The picture is drawn from six registers, three of which are read from right to left."""
_BYTES = np.array([[byte + ROWS - 1 - row for byte, _ in _COLUMN_BITS] for row in range(ROWS)])
_BITS = np.array([1 << bit for _, bit in _COLUMN_BITS])


def bricks(ram: Array) -> Array:
    """[6, 18] booleans, the highest row first."""
    return (ram[_BYTES] & _BITS) != 0


def _breakout(ram: Array) -> tuple[Place, ...]:
    x, y, paddle = ram[99].item(), ram[101].item(), ram[72].item()
    ball = (x - 48.0, y + 11.0) if 0 < y < 200 and x > 48 else None
    return ball, (paddle - 39.0,)


def _breakout_numbers(ram: Array) -> tuple[float, ...]:
    ball, paddle = _breakout(ram)
    away = 0.0 if ball is None or paddle is None else ball[0] - paddle[0]
    by_column = bricks(ram).sum(0)
    return away, float(ram[57]), float(by_column.sum()), *map(float, by_column)


BREAKOUT = Layout(
    moving=(
        Moving("ball", (Axis("x", 6, 154, 16), Axis("y", 30, 210, 16)), True),
        Moving("paddle", (Axis("x", 8, 160, 24),)),
    ),
    places=_breakout,
    numbers=(
        Number("ball x from paddle", -NEAR, NEAR),
        Number("lives", 0, 5),
        Number("bricks", 0, ROWS * COLUMNS),
        *(Number(f"bricks in column {column + 1}", 0, ROWS) for column in range(COLUMNS)),
    ),
    told=_breakout_numbers,
)

LAYOUTS = {"pong": PONG, "breakout": BREAKOUT}
"""Game, as ALE names it -> what is known of its memory."""
