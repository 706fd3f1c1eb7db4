"""Reads object positions of Atari games from the 128 bytes of console RAM.

Positions are the centers of the drawn objects, in pixels of the 210 x 160 screen from its upper left
corner. The meaning of the bytes was found by comparing them with frames; a test repeats the comparison.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

Array = np.ndarray
Position = tuple[float, ...] | None
"""Position of an object along its axes; None if it is not on the screen."""


@dataclass(frozen=True)
class Axis:
    """One coordinate of an object, with its range."""

    name: str
    low: float
    """Lowest position of the object's center, in pixels."""
    high: float
    speed: float
    """Maximum absolute velocity, in pixels per step of 4 frames."""


@dataclass(frozen=True)
class MovingObject:
    """A moving object."""

    name: str
    axes: tuple[Axis, ...]
    can_disappear: bool = False
    """Whether it can be absent; if so, the observation says whether it is there."""


@dataclass(frozen=True)
class Feature:
    """A further feature and its range."""

    name: str
    low: float
    high: float


@dataclass(frozen=True)
class RamLayout:
    """Describes how to read the memory of one game."""

    objects: tuple[MovingObject, ...]
    read_positions: Callable[[Array], tuple[Position, ...]]
    """Reads the position of each moving object."""
    features: tuple[Feature, ...]
    """Further features."""
    read_features: Callable[[Array], tuple[float, ...]]
    """Reads each of these features; the caller clips them to their range."""


NEAR = 24.0
"""Range of the offset between ball and paddle, in pixels: one and a half paddles. It is clipped beyond."""


# ---- Pong ------------------------------------------------------------------------------------

_TOP, _BOTTOM = 34, 194
"""First and last pixel row of Pong's court."""


def _pong_positions(ram: Array) -> tuple[Position, ...]:
    """Returns the positions of the ball (x, y), the player's paddle (y) and the enemy's paddle (y)."""
    x, y, ours, theirs = ram[49].item(), ram[54].item(), ram[51].item(), ram[50].item()
    ball = (x - 48.0, y - 12.0) if y > 44 and x > 48 else None
    return ball, (ours - 5.5,), (theirs - 7.0,) if theirs > 33 else None


def _pong_features(ram: Array) -> tuple[float, ...]:
    """Returns the vertical offset of the ball from the player's paddle, 0 without a ball."""
    ball, player, _ = _pong_positions(ram)
    return (0.0,) if ball is None or player is None else (ball[1] - player[0],)


PONG = RamLayout(
    objects=(
        MovingObject("ball", (Axis("x", 0, 160, 16), Axis("y", _TOP - 2, _BOTTOM + 2, 16)), True),
        MovingObject("player", (Axis("y", _TOP - 2, _BOTTOM + 6, 24),)),
        MovingObject("enemy", (Axis("y", _TOP - 8, _BOTTOM + 6, 16),), True),
    ),
    read_positions=_pong_positions,
    features=(Feature("ball y from player", -NEAR, NEAR),),
    read_features=_pong_features,
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
"""Byte of the lowest brick of each column (the bricks above follow it) and the column's bit in it. The
order is odd because the picture is drawn from six registers, three of which are read from right to left."""
# [rows, columns] and [columns]: where to find each brick
_BYTES = np.array([[byte + ROWS - 1 - row for byte, _ in _COLUMN_BITS] for row in range(ROWS)])
_BITS = np.array([1 << bit for _, bit in _COLUMN_BITS])


def bricks(ram: Array) -> Array:
    """Returns which bricks are left, bool [6, 18], top row first."""
    return (ram[_BYTES] & _BITS) != 0


def _breakout_positions(ram: Array) -> tuple[Position, ...]:
    """Returns the positions of the ball (x, y) and of the paddle (x)."""
    x, y, paddle = ram[99].item(), ram[101].item(), ram[72].item()
    ball = (x - 48.0, y + 11.0) if 0 < y < 200 and x > 48 else None
    return ball, (paddle - 39.0,)


def _breakout_features(ram: Array) -> tuple[float, ...]:
    """Returns the offset of the ball from the paddle, the lives, and the bricks left: all, per column."""
    ball, paddle = _breakout_positions(ram)
    offset = 0.0 if ball is None or paddle is None else ball[0] - paddle[0]
    by_column = bricks(ram).sum(0)
    return offset, float(ram[57]), float(by_column.sum()), *map(float, by_column)


BREAKOUT = RamLayout(
    objects=(
        MovingObject("ball", (Axis("x", 6, 154, 16), Axis("y", 30, 210, 16)), True),
        MovingObject("paddle", (Axis("x", 8, 160, 24),)),
    ),
    read_positions=_breakout_positions,
    features=(
        Feature("ball x from paddle", -NEAR, NEAR),
        Feature("lives", 0, 5),
        Feature("bricks", 0, ROWS * COLUMNS),
        *(Feature(f"bricks in column {column + 1}", 0, ROWS) for column in range(COLUMNS)),
    ),
    read_features=_breakout_features,
)

LAYOUTS = {"pong": PONG, "breakout": BREAKOUT}
"""ALE's name of a game -> layout of its memory."""
