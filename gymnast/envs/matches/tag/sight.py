"""What an agent knows: rays, its own motion, the nearest opponent it sees, and where it saw one last.

Nothing else of the other side gets in, so whoever is out of sight can hide.
"""

from __future__ import annotations

import numpy as np

from gymnast.envs.matches.tag.geometry import in_sight, inverse, ray_lengths
from gymnast.envs.matches.tag.motion import FACING, FASTEST
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
"""From the left to the right of the heading."""
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
"""Of each component. Ahead and aside (to the left) are by the body that looks; lengths are shares of
SIGHT for who is seen, of DIAGONAL for where somebody was seen last, speeds of FASTEST, the speed of
who is seen is relative and a share of twice that. `last fresh` is 1 in the moment of seeing, falls
evenly to 0 over the longest match, and is 0 where nobody was seen yet."""
PLACE = {name: i for i, name in enumerate(NAMES)}
SPACE = BoxObs(
    (len(NAMES),),
    tuple(low for low, _ in _COMPONENTS.values()),
    tuple(high for _, high in _COMPONENTS.values()),
)
_EDGE = np.cos(FIELD_OF_VIEW / 2)
_DIRECTION = np.arange(HEADINGS)[:, None] * (2 * np.pi / HEADINGS) + RAY_ANGLES
_INVERSES = tuple(inverse(f(_DIRECTION)).astype(np.float32) for f in (np.cos, np.sin))
"""Of each ray at each heading, by axis: [HEADINGS, R]."""


def between_sides(position: Array, seekers: int) -> tuple[Array, Array]:
    """From each seeker to each hider: the line [N, S, H, 2] and how long it is."""
    line = position[:, None, seekers:] - position[:, :seekers, None]
    return line, np.sqrt(line[..., 0] ** 2 + line[..., 1] ** 2)


class Vision:
    def __init__(self, seekers: int, hiders: int, time_limit: int) -> None:
        self._seekers, self._time_limit = seekers, time_limit
        self._is_seeker = np.arange(seekers + hiders) < seekers

    def look(self, state: State, line: Array, distance: Array) -> Array:
        """Who sees whom now: rewrites what the state says of that. `line` and `distance`: from
        seekers to hiders, [N, S, H, 2] and [N, S, H]. Gives which of these are seen, [N, S, H]."""
        s = self._seekers
        facing = FACING[state.heading]
        playing = state.in_play[:, :s, None] & state.in_play[:, None, s:]
        between = np.where(playing, distance, DIAGONAL)
        state.nearest = np.concatenate([between.min(2), between.min(1)], axis=1)
        near = playing & (distance <= SIGHT)
        if near.any():
            near &= in_sight(state.position[:, :s, None], line, state.middle, state.half)
        edge = _EDGE * distance
        found = near & (_along(line, facing[:, :s, None]) >= edge)
        spotted = near & (_along(line, facing[:, None, s:]) <= -edge)
        state.seen_now = np.concatenate([found.any(2), spotted.any(1)], axis=1)
        by_seekers = np.where(found, distance, np.inf).argmin(2) + s
        by_hiders = np.where(spotted, distance, np.inf).argmin(1)
        self._remember(state, np.concatenate([by_seekers, by_hiders], axis=1))
        return found

    def _remember(self, state: State, who: Array) -> None:
        """`who`: the nearest one seen, [N, K], of meaning where one is."""
        seen, rows = state.seen_now, np.arange(len(who))[:, None]
        state.seen_who = np.where(seen, who, state.seen_who)
        state.seen_at = np.where(seen[..., None], state.position[rows, who], state.seen_at)
        when = np.where(seen, state.clock[:, None], state.seen_when)
        # who is out of play is looked for no longer
        state.seen_when = np.where(state.in_play[rows, state.seen_who], when, NEVER)

    def show(self, state: State, obs: Array) -> None:
        """Write what each agent sees into [N, K, components]."""
        position, velocity, facing = state.position, state.velocity, FACING[state.heading]
        steep = tuple(of[state.heading] for of in _INVERSES)
        rays = ray_lengths(position, steep, state.middle, state.half, HALF_FIELD, SIGHT)
        obs[..., :N_RAYS] = rays * (1.0 / SIGHT)
        left = 1.0 - state.clock / self._time_limit
        own = N_RAYS
        obs[..., own] = _along(velocity, facing) / FASTEST
        obs[..., own + 1] = _across(velocity, facing) / FASTEST
        obs[..., own + 2] = 1.0 - state.cooldown / COOLDOWN
        obs[..., own + 3 : own + 5] = facing
        obs[..., own + 5 : own + 7] = position / HALF_FIELD
        obs[..., own + 7] = left[:, None]
        obs[..., own + 8] = self._is_seeker
        self._show_opponent(state, obs[..., own + 9 :], facing)
        np.clip(obs[..., own : own + 2], -1.0, 1.0, out=obs[..., own : own + 2])

    def _show_opponent(self, state: State, obs: Array, facing: Array) -> None:
        rows, seen = np.arange(len(obs))[:, None], state.seen_now
        offset = state.seen_at - state.position
        ahead, aside = _along(offset, facing), _across(offset, facing)
        speed = state.velocity[rows, state.seen_who] - state.velocity
        fast = seen / (2 * FASTEST)
        known = state.seen_when != NEVER
        far = known / DIAGONAL
        obs[..., 0] = seen
        obs[..., 1] = ahead * (seen / SIGHT)
        obs[..., 2] = aside * (seen / SIGHT)
        obs[..., 3] = _along(speed, facing) * fast
        obs[..., 4] = _across(speed, facing) * fast
        np.clip(obs[..., 1:5], -1.0, 1.0, out=obs[..., 1:5])
        obs[..., 5] = ahead * far
        obs[..., 6] = aside * far
        age = (state.clock[:, None] - state.seen_when) / self._time_limit
        obs[..., 7] = known * (1.0 - age)


def _along(vector: Array, facing: Array) -> Array:
    return vector[..., 0] * facing[..., 0] + vector[..., 1] * facing[..., 1]


def _across(vector: Array, facing: Array) -> Array:
    """To the left."""
    return vector[..., 1] * facing[..., 0] - vector[..., 0] * facing[..., 1]
