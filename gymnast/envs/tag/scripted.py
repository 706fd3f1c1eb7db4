"""Opponents that play by rules, from what they see and one number of chance in each step.

Random ones draw any action. Weak ones know only what they see and now and then do anything. Medium
ones also go by where they saw somebody last. Strong ones aim where the other will be, dash, and look
for what they do not see.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from gymnast.envs.matches import Scripted
from gymnast.envs.tag.motion import FASTEST
from gymnast.envs.tag.rules import (
    COAST,
    DASHES,
    DIAGONAL,
    FORWARD,
    HALF_FIELD,
    HEADINGS,
    HIDER,
    LEFT,
    N_RAYS,
    RIGHT,
    SEEKER,
    SIGHT,
    STRAIGHT,
    THRUSTS,
    TIME_LIMIT,
    TURNS,
)
from gymnast.envs.tag.sight import PLACE, RAY_ANGLES

Array = np.ndarray

_TICK = 2 * np.pi / HEADINGS
_RING = 0.5 * HALF_FIELD
"""Whoever looks for somebody walks around the middle at about this distance."""


def anything(obs: Array, noise: Array) -> Array:
    """Any action, each as likely."""
    number = np.minimum(
        (noise * TURNS * THRUSTS * DASHES).astype(int), TURNS * THRUSTS * DASHES - 1
    )
    return np.stack(np.unravel_index(number, (TURNS, THRUSTS, DASHES)), -1)


@dataclass(frozen=True)
class Seeker:
    mistakes: float
    """Share of steps in which it does anything."""
    memory: int
    """Steps for which it goes where it saw somebody last."""
    lead: float
    """How many steps ahead of whom it sees it aims, per length of distance."""
    dash: float
    """It dashes at whom it sees within this distance; 0 for never."""
    rounds: bool
    """Walks around the field while it knows nothing, instead of straight on."""

    def __call__(self, obs: Array, noise: Array) -> Array:
        seen, last = _Seen(obs), _Last(obs)
        lead = self.lead * seen.distance
        chase = np.arctan2(
            seen.aside + lead * seen.speed_aside, seen.ahead + lead * seen.speed_ahead
        )
        follow = last.known & (last.age <= self.memory) & (last.distance > 1.0)
        wander = _around_the_middle(obs) if self.rounds else np.zeros(len(obs))
        angle = np.where(seen.now, chase, np.where(follow, last.angle, wander))
        within = np.where(seen.now, seen.distance, np.inf)
        action = _go(obs, angle, within)
        action[:, 2] = seen.now & (seen.distance < self.dash) & (np.abs(angle) < 0.3)
        return _with_mistakes(action, noise, self.mistakes)


@dataclass(frozen=True)
class Hider:
    mistakes: float
    memory: int
    """Steps for which it flees from where it saw somebody last."""
    room: float
    """How much it prefers open ways to those straight away from the other."""
    dash: float
    """It dashes away from whom it saw within this distance; 0 for never."""

    def __call__(self, obs: Array, noise: Array) -> Array:
        last = _Last(obs)
        flee = last.known & (last.age <= self.memory)
        away = np.arctan2(-last.aside, -last.ahead)
        action = _go(obs, away, np.inf, self.room)
        action[:, 2] = (last.distance < self.dash) & (np.abs(away) < 0.5)
        action[~flee] = (LEFT, COAST, 0)  # stand and look around
        return _with_mistakes(action, noise, self.mistakes)


SCRIPTED: Mapping[str, Mapping[str, Scripted]] = {
    SEEKER: {
        "random": anything,
        "weak": Seeker(mistakes=0.4, memory=0, lead=0.0, dash=0.0, rounds=False),
        "medium": Seeker(mistakes=0.1, memory=30, lead=0.0, dash=0.0, rounds=True),
        "strong": Seeker(mistakes=0.0, memory=60, lead=1.0, dash=3.0, rounds=True),
    },
    HIDER: {
        "random": anything,
        "weak": Hider(mistakes=0.4, memory=5, room=0.2, dash=0.0),
        "medium": Hider(mistakes=0.1, memory=15, room=0.5, dash=0.0),
        "strong": Hider(mistakes=0.0, memory=25, room=0.8, dash=4.0),
    },
}


class _Seen:
    """Whom it sees, in lengths and lengths per step."""

    def __init__(self, obs: Array) -> None:
        self.now = obs[:, PLACE["seen"]] > 0.5
        self.ahead, self.aside = (obs[:, PLACE[f"seen {way}"]] * SIGHT for way in _WAYS)
        self.speed_ahead, self.speed_aside = (
            obs[:, PLACE[f"seen speed {way}"]] * 2 * FASTEST for way in _WAYS
        )
        self.distance = np.hypot(self.ahead, self.aside)


class _Last:
    """Where it saw somebody last; `age` in steps, as if of the usual time limit."""

    def __init__(self, obs: Array) -> None:
        fresh = obs[:, PLACE["last fresh"]]
        self.known, self.age = fresh > 0, (1.0 - fresh) * TIME_LIMIT
        self.ahead, self.aside = (obs[:, PLACE[f"last {way}"]] * DIAGONAL for way in _WAYS)
        self.distance = np.hypot(self.ahead, self.aside)
        self.angle = np.arctan2(self.aside, self.ahead)


_WAYS = ("ahead", "aside")


def _go(obs: Array, angle: Array, within: Array | float, room: float = 0.3) -> Array:
    """Toward an angle left of the heading, past walls nearer than what is aimed at (`within`)."""
    rays = obs[:, :N_RAYS] * SIGHT
    padded = np.pad(rays, ((0, 0), (1, 1)), mode="edge")
    width = np.minimum(np.minimum(padded[:, :-2], padded[:, 2:]), rays)  # a body is no point
    way = np.cos(RAY_ANGLES - angle[:, None])
    free = np.minimum(width, np.broadcast_to(within, len(obs))[:, None])
    score = way + room * np.minimum(free, 4.0) / 4.0 - 2.0 * (free < 1.0) * (width < 1.0)
    chosen = RAY_ANGLES[score.argmax(1)]
    behind = np.abs(angle) > RAY_ANGLES[0]
    chosen = np.where(behind, angle, chosen)
    turn = np.where(chosen > _TICK / 2, LEFT, np.where(chosen < -_TICK / 2, RIGHT, STRAIGHT))
    thrust = np.where(np.abs(chosen) < 1.2, FORWARD, COAST)
    return np.stack([turn, thrust, np.zeros_like(turn)], -1)


def _around_the_middle(obs: Array) -> Array:
    """Angle to a point further along the ring."""
    x, y = (obs[:, PLACE[axis]] * HALF_FIELD for axis in "xy")
    cos, sin = obs[:, PLACE["heading cos"]], obs[:, PLACE["heading sin"]]
    further = np.arctan2(y, x) + 0.8
    dx, dy = _RING * np.cos(further) - x, _RING * np.sin(further) - y
    return np.arctan2(dy * cos - dx * sin, dx * cos + dy * sin)


def _with_mistakes(action: Array, noise: Array, share: float) -> Array:
    if not share:
        return action
    wrong = noise < share
    return np.where(wrong[:, None], anything(action, noise / share), action)
