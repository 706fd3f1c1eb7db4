"""Steering shared by the scripted players: from observations to the turn and thrust toward a target.

Angles are measured from the heading, positive to the left. Positions are relative to the agent: `ahead`
along its heading, `aside` to its left.
"""

from __future__ import annotations

import numpy as np

from gymnast.envs.matches.tag.motion import MAX_SPEED
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
from gymnast.envs.matches.tag.sight import COMPONENT_INDEX, RAY_ANGLES

Array = np.ndarray

_TICK = 2 * np.pi / HEADINGS
"""Angle of one turn."""
_BERTH = 1.2 * RADIUS
"""Clearance between an agent's center and a wall."""
_ROOM = 2.5
"""A direction that is free for this distance counts as completely free."""
_RING = 0.5 * HALF_FIELD
"""Radius of the circle around the center of the field on which players patrol while they search."""
_BETWEEN = (RAY_ANGLES - RAY_ANGLES[:, None]).astype(np.float32)
"""Angle from each ray to each other one, [N_RAYS, N_RAYS]."""
_SIN_BETWEEN, _COS_BETWEEN = np.sin(_BETWEEN), np.cos(_BETWEEN)

_LOOK_AHEAD = 5.0
"""Planning distance of an escape; 60 % of it toward the back, where the agent sees nothing."""
_BEHIND = np.deg2rad([-180.0, -130.0, 130.0])
"""Directions of an escape outside of the field of view."""
_ESCAPES = np.concatenate([RAY_ANGLES, _BEHIND])
_PURSUIT = 0.3
"""Assumed closing speed of an opponent that is out of sight."""
_FRESH = 10
"""Steps after which an opponent that is out of sight is assumed to be right behind."""
_TURNING, _EDGE, _EDGE_BEGINS = 0.8, 1.5, 7.0
"""Costs of an escape, in units: per radian of turning, and per unit that it ends beyond `_EDGE_BEGINS`."""


class SeenOpponent:
    """The visible opponent relative to the agent, in units and units per step."""

    def __init__(self, obs: Array) -> None:
        self.is_visible = obs[:, COMPONENT_INDEX["seen"]] > 0.5
        self.ahead, self.aside = (obs[:, COMPONENT_INDEX[f"seen {way}"]] * SIGHT for way in _AXES)
        self.speed_ahead, self.speed_aside = (
            obs[:, COMPONENT_INDEX[f"seen speed {way}"]] * 2 * MAX_SPEED for way in _AXES
        )
        self.distance = np.hypot(self.ahead, self.aside)


class LastSighting:
    """The position at which the agent last saw an opponent, relative to the agent. `age` is in steps and
    assumes the default time limit."""

    def __init__(self, obs: Array) -> None:
        fresh = obs[:, COMPONENT_INDEX["last fresh"]]
        self.known, self.age = fresh > 0, (1.0 - fresh) * TIME_LIMIT
        self.ahead, self.aside = (
            obs[:, COMPONENT_INDEX[f"last {way}"]] * DIAGONAL for way in _AXES
        )
        self.distance = np.hypot(self.ahead, self.aside)
        self.angle = np.arctan2(self.aside, self.ahead)


_AXES = ("ahead", "aside")


def steer_toward(angle: Array) -> Array:
    """Returns actions [k, 3] that turn toward an angle [k], with forward thrust if it is less than 1.2 rad
    off, and without a dash."""
    turn = np.where(angle > _TICK / 2, LEFT, np.where(angle < -_TICK / 2, RIGHT, STRAIGHT))
    thrust = np.where(np.abs(angle) < 1.2, FORWARD, COAST)
    return np.stack([turn, thrust, np.zeros_like(turn)], -1)


def avoid_walls(obs: Array, angle: Array, max_distance: Array | float = np.inf) -> Array:
    """Returns the free direction nearest to an angle, [k]. `max_distance`: distance of the target; walls
    behind it do not matter."""
    free = np.minimum(_free_distances(obs), np.broadcast_to(max_distance, len(obs))[:, None])
    # Being free counts more than pointing the right way. Rays exist only within the field of view: for an
    # angle beyond it, the agent has to turn first.
    score = np.cos(RAY_ANGLES - angle[:, None]) + 2.0 * np.minimum(free, _ROOM) / _ROOM
    return np.where(np.abs(angle) > RAY_ANGLES[0], angle, RAY_ANGLES[score.argmax(1)])


def patrol_direction(obs: Array) -> Array:
    """Returns the direction [k] to the next point of a patrol around the center of the field."""
    x, y, cos, sin = _own(obs)
    further = np.arctan2(y, x) + 0.8  # counterclockwise around the center
    dx, dy = _RING * np.cos(further) - x, _RING * np.sin(further) - y
    return np.arctan2(dy * cos - dx * sin, dx * cos + dy * sin)[:, 0]


def escape_direction(obs: Array, last: LastSighting) -> Array:
    """Returns the direction [k] that leads furthest from the opponent seen last, which may have come nearer
    since, while avoiding corners and sharp turns."""
    # 1. Where each candidate direction leads, relative to the agent, [k, escapes].
    free = np.minimum(_free_distances(obs), _LOOK_AHEAD)
    unseen = np.full((len(obs), len(_BEHIND)), 0.6 * _LOOK_AHEAD)
    free = np.concatenate([free, unseen], axis=1)
    ahead, aside = free * np.cos(_ESCAPES), free * np.sin(_ESCAPES)
    # 2. Where the opponent may be by now: nearer than when it was seen, and after a while right behind.
    near = np.maximum(np.minimum(last.distance, 2.0), last.distance - _PURSUIT * last.age)
    follows = last.age > _FRESH
    their_ahead = np.where(follows, -near, near * np.cos(last.angle))
    their_aside = np.where(follows, 0.0, near * np.sin(last.angle))
    apart = np.hypot(ahead - their_ahead[:, None], aside - their_aside[:, None])
    # 3. Far from the opponent is good; corners and sharp turns cost.
    x, y, cos, sin = _own(obs)
    to_x, to_y = np.abs(x + ahead * cos - aside * sin), np.abs(y + ahead * sin + aside * cos)
    edge = np.maximum(to_x, to_y) + 0.5 * np.minimum(to_x, to_y)
    cost = _TURNING * np.abs(_ESCAPES) + _EDGE * np.maximum(edge - _EDGE_BEGINS, 0.0)
    return _ESCAPES[(apart - cost).argmax(1)]


def _free_distances(obs: Array) -> Array:
    """Returns how far the agent can move along each ray, [k, N_RAYS]. It has a width, so the end points of
    neighboring rays that lie close to a ray block it as well."""
    rays = obs[:, None, :N_RAYS] * SIGHT
    across, along = rays * _SIN_BETWEEN, rays * _COS_BETWEEN
    return np.where((np.abs(across) < _BERTH) & (along > 0), along, SIGHT).min(-1)


def _own(obs: Array) -> tuple[Array, ...]:
    """Returns the agent's own x, y, cos and sin of its heading, [k, 1] each."""
    x, y, cos, sin = (
        obs[:, COMPONENT_INDEX[name], None] for name in ("x", "y", "heading cos", "heading sin")
    )
    return x * HALF_FIELD, y * HALF_FIELD, cos, sin
