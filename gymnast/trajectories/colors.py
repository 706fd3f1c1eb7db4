"""Colors of roles in pictures and films."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle

Color = tuple[int, int, int]

PALETTE: tuple[Color, ...] = (
    (226, 84, 70),
    (52, 142, 214),
    (64, 168, 108),
    (196, 138, 30),
    (142, 98, 206),
    (60, 168, 176),
)
"""Readable on light and on dark ground; the first two are close to the seeker and the hider of tag."""


def role_colors(roles: Sequence[str]) -> dict[str, Color]:
    """Returns role -> color, by the order of the roles."""
    return dict(zip(roles, cycle(PALETTE), strict=False))
