"""From what a body sees to the turn and thrust that bring it somewhere: what scripted players share.

Angles are left of the heading; places are ahead and aside (to the left) of the body.
"""

from __future__ import annotations

import numpy as np

from gymnast.envs.matches.tag.motion import FASTEST
from gymnast.envs.matches.tag.rules import (
    COAST,
    DIAGONAL,
    FORWARD,
    HALF_FIELD,
    HEADINGS,
    LEFT,
    N_RAYS,
    RADIUS,
    RIGHT,
    SIGHT,
    STRAIGHT,
    TIME_LIMIT,
)
from gymnast.envs.matches.tag.sight import PLACE, RAY_ANGLES

Array = np.ndarray

_TICK = 2 * np.pi / HEADINGS
_BERTH = 1.2 * RADIUS
"""What a body leaves between its middle and a wall."""
_ROOM = 2.5
"""A way that is free this far is free."""
_RING = 0.5 * HALF_FIELD
"""Whoever looks for somebody walks around the middle at about this distance."""
_BETWEEN = (RAY_ANGLES - RAY_ANGLES[:, None]).astype(np.float32)
_SIN_BETWEEN, _COS_BETWEEN = np.sin(_BETWEEN), np.cos(_BETWEEN)

_LOOK_AHEAD = 5.0
"""How far whoever flees thinks ahead, and a bit less behind, where it sees nothing."""
_BEHIND = np.deg2rad([-180.0, -130.0, 130.0])
_WAYS_OUT = np.concatenate([RAY_ANGLES, _BEHIND])
_PURSUIT = 0.3
"""How fast whoever was seen is thought to come nearer."""
_FRESH = 10
"""Steps after which whoever was seen is thought to be right behind."""
_TURNING, _EDGE, _EDGE_BEGINS = 0.8, 1.5, 7.0
"""What a radian of turning costs, and a length nearer to the edge than the last, in lengths."""


class Seen:
    """Whom it sees, in lengths and lengths per step, relative to itself."""

    def __init__(self, obs: Array) -> None:
        self.now = obs[:, PLACE["seen"]] > 0.5
        self.ahead, self.aside = (obs[:, PLACE[f"seen {way}"]] * SIGHT for way in _WAYS)
        self.speed_ahead, self.speed_aside = (
            obs[:, PLACE[f"seen speed {way}"]] * 2 * FASTEST for way in _WAYS
        )
        self.distance = np.hypot(self.ahead, self.aside)


class Last:
    """Where it saw somebody last; `age` in steps, as if of the usual time limit."""

    def __init__(self, obs: Array) -> None:
        fresh = obs[:, PLACE["last fresh"]]
        self.known, self.age = fresh > 0, (1.0 - fresh) * TIME_LIMIT
        self.ahead, self.aside = (obs[:, PLACE[f"last {way}"]] * DIAGONAL for way in _WAYS)
        self.distance = np.hypot(self.ahead, self.aside)
        self.angle = np.arctan2(self.aside, self.ahead)


_WAYS = ("ahead", "aside")


def toward(angle: Array) -> Array:
    """Turn to an angle, and go ahead where it is not far off: actions [k, 3] without a dash."""
    turn = np.where(angle > _TICK / 2, LEFT, np.where(angle < -_TICK / 2, RIGHT, STRAIGHT))
    thrust = np.where(np.abs(angle) < 1.2, FORWARD, COAST)
    return np.stack([turn, thrust, np.zeros_like(turn)], -1)


def past_walls(obs: Array, angle: Array, within: Array | float = np.inf) -> Array:
    """The free way nearest to an angle; walls further than what is aimed at (`within`) are no
    matter."""
    free = np.minimum(_free_ways(obs), np.broadcast_to(within, len(obs))[:, None])
    score = np.cos(RAY_ANGLES - angle[:, None]) + 2.0 * np.minimum(free, _ROOM) / _ROOM
    return np.where(np.abs(angle) > RAY_ANGLES[0], angle, RAY_ANGLES[score.argmax(1)])


def around_the_middle(obs: Array) -> Array:
    """To a point further along the ring."""
    x, y, cos, sin = _own(obs)
    further = np.arctan2(y, x) + 0.8
    dx, dy = _RING * np.cos(further) - x, _RING * np.sin(further) - y
    return np.arctan2(dy * cos - dx * sin, dx * cos + dy * sin)[:, 0]


def way_out(obs: Array, last: Last) -> Array:
    """The way that leads furthest from whoever was seen and may have come nearer since, and not into
    a corner."""
    free = np.minimum(_free_ways(obs), _LOOK_AHEAD)
    unseen = np.full((len(obs), len(_BEHIND)), 0.6 * _LOOK_AHEAD)
    free = np.concatenate([free, unseen], axis=1)
    ahead, aside = free * np.cos(_WAYS_OUT), free * np.sin(_WAYS_OUT)
    near = np.maximum(np.minimum(last.distance, 2.0), last.distance - _PURSUIT * last.age)
    follows = last.age > _FRESH
    their_ahead = np.where(follows, -near, near * np.cos(last.angle))
    their_aside = np.where(follows, 0.0, near * np.sin(last.angle))
    apart = np.hypot(ahead - their_ahead[:, None], aside - their_aside[:, None])
    x, y, cos, sin = _own(obs)
    to_x, to_y = np.abs(x + ahead * cos - aside * sin), np.abs(y + ahead * sin + aside * cos)
    edge = np.maximum(to_x, to_y) + 0.5 * np.minimum(to_x, to_y)
    cost = _TURNING * np.abs(_WAYS_OUT) + _EDGE * np.maximum(edge - _EDGE_BEGINS, 0.0)
    return _WAYS_OUT[(apart - cost).argmax(1)]


def _free_ways(obs: Array) -> Array:
    """How far a body, which is no point, gets along each ray: where others end near it, no further."""
    rays = obs[:, None, :N_RAYS] * SIGHT
    beside, along = rays * _SIN_BETWEEN, rays * _COS_BETWEEN
    return np.where((np.abs(beside) < _BERTH) & (along > 0), along, SIGHT).min(-1)


def _own(obs: Array) -> tuple[Array, ...]:
    """Place and heading, [k, 1] each."""
    x, y, cos, sin = (
        obs[:, PLACE[name], None] for name in ("x", "y", "heading cos", "heading sin")
    )
    return x * HALF_FIELD, y * HALF_FIELD, cos, sin
