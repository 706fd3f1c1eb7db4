"""Observations: rays, the agent's own motion, the nearest visible opponent, and where one was last seen.

An observation contains nothing else about the other side, so an opponent out of sight is hidden.
"""

from __future__ import annotations

import numpy as np

from gymnast.envs.matches.tag.geometry import has_line_of_sight, inverse, ray_lengths
from gymnast.envs.matches.tag.motion import FACING, MAX_SPEED
from gymnast.envs.matches.tag.rules import (
    COOLDOWN,
    DIAGONAL,
    FIELD_OF_VIEW,
    HALF_FIELD,
    HEADINGS,
    N_RAYS,
    SIGHT,
)
from gymnast.envs.matches.tag.state import NEVER, State
from gymnast.spaces.spaces import BoxObs

Array = np.ndarray

RAY_ANGLES = np.linspace(FIELD_OF_VIEW / 2, -FIELD_OF_VIEW / 2, N_RAYS)
"""Angle of each ray relative to the heading, from left (positive) to right."""
_COMPONENTS: dict[str, tuple[float, float]] = {
    **{f"ray {np.rad2deg(angle):+.0f}": (0.0, 1.0) for angle in RAY_ANGLES},
    "speed ahead": (-1.0, 1.0),
    "speed aside": (-1.0, 1.0),
    "dash ready": (0.0, 1.0),
    "heading cos": (-1.0, 1.0),
    "heading sin": (-1.0, 1.0),
    "x": (-1.0, 1.0),
    "y": (-1.0, 1.0),
    "time left": (0.0, 1.0),
    "is seeker": (0.0, 1.0),
    "seen": (0.0, 1.0),
    "seen ahead": (-1.0, 1.0),
    "seen aside": (-1.0, 1.0),
    "seen speed ahead": (-1.0, 1.0),
    "seen speed aside": (-1.0, 1.0),
    "last ahead": (-1.0, 1.0),
    "last aside": (-1.0, 1.0),
    "last fresh": (0.0, 1.0),
}
NAMES = tuple(_COMPONENTS)
"""Names of the observation's components. `ahead` and `aside` (to the left) are relative to the observing
agent's heading. `seen ...` is the nearest visible opponent: its position divided by SIGHT, its velocity
relative to the agent divided by 2 * MAX_SPEED, all 0 if none is visible. `last ...` is where an opponent was
last seen, divided by DIAGONAL; `last fresh` is 1 at the time of the sighting, falls linearly to 0 over the
time limit, and is 0 before the first sighting. The agent's own speeds are divided by MAX_SPEED."""
COMPONENT_INDEX = {name: i for i, name in enumerate(NAMES)}
SPACE = BoxObs(
    (len(NAMES),),
    tuple(low for low, _ in _COMPONENTS.values()),
    tuple(high for _, high in _COMPONENTS.values()),
)
_COS_HALF_VIEW = np.cos(FIELD_OF_VIEW / 2)
_DIRECTION = np.arange(HEADINGS)[:, None] * (2 * np.pi / HEADINGS) + RAY_ANGLES
_INVERSES = tuple(inverse(f(_DIRECTION)).astype(np.float32) for f in (np.cos, np.sin))
"""1 / direction of each ray at each heading, [HEADINGS, R] for the x and the y axis."""


def seeker_hider_vectors(position: Array, seekers: int) -> tuple[Array, Array]:
    """Returns the vectors from each seeker to each hider, [N, S, H, 2], and their lengths, [N, S, H]."""
    line = position[:, None, seekers:] - position[:, :seekers, None]
    return line, np.sqrt(line[..., 0] ** 2 + line[..., 1] ** 2)


class Vision:
    """Decides who sees whom, and writes observations."""

    def __init__(self, seekers: int, hiders: int, time_limit: int) -> None:
        self._seekers, self._time_limit = seekers, time_limit
        self._is_seeker = np.arange(seekers + hiders) < seekers

    def update(self, state: State, line: Array, distance: Array) -> Array:
        """Updates in `state` who sees whom. `line` [N, S, H, 2] and `distance` [N, S, H] are those of
        `seeker_hider_vectors`. Returns which seeker sees which hider, [N, S, H]."""
        s = self._seekers
        facing = FACING[state.heading]  # [N, K, 2]
        # Sight lines are symmetric, so distance and walls are computed once per pair, [N, S, H].
        playing = state.in_play[:, :s, None] & state.in_play[:, None, s:]
        between = np.where(playing, distance, DIAGONAL)
        state.nearest = np.concatenate([between.min(2), between.min(1)], axis=1)
        near = playing & (distance <= SIGHT)
        if near.any():
            near &= has_line_of_sight(state.position[:, :s, None], line, state.middle, state.half)
        # In view: the angle to the heading is at most half the field of view, |line| cos(angle) >= edge. From
        # a hider, the line points the other way.
        edge = _COS_HALF_VIEW * distance
        by_seeker = near & (_along(line, facing[:, :s, None]) >= edge)
        by_hider = near & (_along(line, facing[:, None, s:]) <= -edge)
        state.seen_now = np.concatenate([by_seeker.any(2), by_hider.any(1)], axis=1)
        nearest_hider = np.where(by_seeker, distance, np.inf).argmin(2) + s
        nearest_seeker = np.where(by_hider, distance, np.inf).argmin(1)
        self._remember(state, np.concatenate([nearest_hider, nearest_seeker], axis=1))
        return by_seeker

    def _remember(self, state: State, opponent: Array) -> None:
        """Updates the last sightings; `opponent` is the nearest visible one, [N, K], and only meaningful
        where `state.seen_now`."""
        seen, rows = state.seen_now, np.arange(len(opponent))[:, None]
        state.seen_who = np.where(seen, opponent, state.seen_who)
        state.seen_at = np.where(seen[..., None], state.position[rows, opponent], state.seen_at)
        when = np.where(seen, state.clock[:, None], state.seen_when)
        # The sighting of an opponent that is out of play would mislead; it is forgotten.
        state.seen_when = np.where(state.in_play[rows, state.seen_who], when, NEVER)

    def write_obs(self, state: State, obs: Array) -> None:
        """Writes the observation of each agent into `obs`, [N, K, components]."""
        position, velocity, facing = state.position, state.velocity, FACING[state.heading]
        inverses = tuple(axis[state.heading] for axis in _INVERSES)
        rays = ray_lengths(position, inverses, state.middle, state.half, HALF_FIELD, SIGHT)
        obs[..., :N_RAYS] = rays * (1.0 / SIGHT)
        time_left = 1.0 - state.clock / self._time_limit
        # The order of the components is that of _COMPONENTS: rays, the agent itself, its opponent.
        own = N_RAYS
        obs[..., own] = _along(velocity, facing) / MAX_SPEED
        obs[..., own + 1] = _across(velocity, facing) / MAX_SPEED
        obs[..., own + 2] = 1.0 - state.cooldown / COOLDOWN
        obs[..., own + 3 : own + 5] = facing
        obs[..., own + 5 : own + 7] = position / HALF_FIELD
        obs[..., own + 7] = time_left[:, None]
        obs[..., own + 8] = self._is_seeker
        self._write_opponent(state, obs[..., own + 9 :], facing)
        # A handicap above 1 may exceed MAX_SPEED.
        np.clip(obs[..., own : own + 2], -1.0, 1.0, out=obs[..., own : own + 2])

    def _write_opponent(self, state: State, obs: Array, facing: Array) -> None:
        """Writes the components `seen` to `last fresh` into `obs`, [N, K, 8]. `facing`: unit vectors of the
        headings, [N, K, 2]."""
        rows, seen = np.arange(len(obs))[:, None], state.seen_now
        offset = state.seen_at - state.position
        ahead, aside = _along(offset, facing), _across(offset, facing)
        speed = state.velocity[rows, state.seen_who] - state.velocity
        # Each scale is 0 where there is no opponent to report, which masks the components.
        speed_scale = seen / (2 * MAX_SPEED)
        known = state.seen_when != NEVER
        last_scale = known / DIAGONAL
        obs[..., 0] = seen
        obs[..., 1] = ahead * (seen / SIGHT)
        obs[..., 2] = aside * (seen / SIGHT)
        obs[..., 3] = _along(speed, facing) * speed_scale
        obs[..., 4] = _across(speed, facing) * speed_scale
        np.clip(obs[..., 1:5], -1.0, 1.0, out=obs[..., 1:5])
        obs[..., 5] = ahead * last_scale
        obs[..., 6] = aside * last_scale
        age = (state.clock[:, None] - state.seen_when) / self._time_limit
        obs[..., 7] = known * (1.0 - age)


def _along(vector: Array, facing: Array) -> Array:
    """Returns the component of vectors [..., 2] in the direction of the heading `facing`, [...]."""
    # A written-out dot product: einsum and matmul may add in another order for other batch sizes.
    return vector[..., 0] * facing[..., 0] + vector[..., 1] * facing[..., 1]


def _across(vector: Array, facing: Array) -> Array:
    """Returns the component of vectors [..., 2] to the left of the heading `facing`, [...]."""
    return vector[..., 1] * facing[..., 0] - vector[..., 0] * facing[..., 1]
