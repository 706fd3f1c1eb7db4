"""The physics of one step: turn, thrust, dash, drag, and collisions with walls."""

from __future__ import annotations

import numpy as np

from gymnast.envs.matches.tag.geometry import slide
from gymnast.envs.matches.tag.rules import (
    BACKWARD,
    BURST,
    COOLDOWN,
    DRAG,
    HALF_FIELD,
    HEADINGS,
    RADIUS,
    ROLES,
    TOP_SPEED,
)
from gymnast.envs.matches.tag.state import State

Array = np.ndarray

_ANGLE = np.arange(HEADINGS) * (2 * np.pi / HEADINGS)
FACING = np.stack([np.cos(_ANGLE), np.sin(_ANGLE)], -1)
"""Unit vector of each heading, [HEADINGS, 2]."""
TURN = np.array([1, 0, -1])
"""Change of the heading for left, straight and right."""
# At the top speed v, (v + thrust) * (1 - DRAG) = v, so thrust = v * DRAG / (1 - DRAG).
THRUST = np.array([-BACKWARD, 0.0, 1.0]) * DRAG / (1.0 - DRAG)
"""Thrust per action as a fraction of the top speed; full thrust and drag balance at the top speed."""
MAX_SPEED = max(TOP_SPEED.values()) * (1.0 + BURST)
"""Upper bound on the speed of an agent whose handicap is at most 1."""


def top_speed(seekers: int, hiders: int) -> Array:
    """Returns the top speed of each agent, [K]."""
    return np.repeat([TOP_SPEED[role] for role in ROLES], (seekers, hiders))


def move(state: State, action: Array, top: Array) -> None:
    """Applies the actions [N, K, 3] to `state` in place. `top`: top speed of each agent, [K]. Agents out of
    play do not move."""
    # Multiplying by `playing` (0 or 1) freezes agents that are out of play. Turning comes first, so that
    # thrust already acts in the new direction.
    playing = state.in_play
    state.heading = (state.heading + TURN[action[..., 0]] * playing) % HEADINGS
    dash = (action[..., 2] > 0) & (state.cooldown == 0) & playing
    state.cooldown = np.where(dash, COOLDOWN, np.maximum(state.cooldown - 1, 0))
    push = (THRUST[action[..., 1]] + BURST * dash) * top * state.pace
    velocity = (state.velocity + push[..., None] * FACING[state.heading]) * (1.0 - DRAG)
    velocity *= playing[..., None]
    # An agent is a point among boxes that are larger by its radius.
    state.position, stopped = slide(
        state.position, velocity, state.middle, state.half + RADIUS, HALF_FIELD - RADIUS
    )
    velocity[stopped] = 0.0
    state.velocity = velocity
