"""The constants of the game. Lengths are in field units (the field is 20 x 20), speeds in units per step."""

from __future__ import annotations

import numpy as np

SEEKER, HIDER = "seeker", "hider"
ROLES = (SEEKER, HIDER)
OUTCOMES = {"tag": SEEKER, "timeout": HIDER}
TAG, TIMEOUT = range(2)
"""Indices in OUTCOMES."""
TIME_LIMIT = 200
"""Default length of a match, in steps."""

HALF_FIELD = 10.0
"""Distance from the center of the square field to its outer walls."""
DIAGONAL = 2 * HALF_FIELD * 2**0.5
RADIUS = 0.4
"""Radius of an agent. Its center stays at least this far from walls, along either axis."""
REACH = 1.0
"""A hider is tagged if its center is at most this far from the center of a seeker."""

TOP_SPEED = {SEEKER: 0.42, HIDER: 0.42}
"""Speed at which full thrust and drag balance."""
DRAG = 0.2
"""Fraction of the speed lost in each step."""
BACKWARD = 0.5
"""Backward thrust as a fraction of forward thrust: an agent that faces its pursuer flees more slowly."""
BURST = 1.0
"""Forward speed added by a dash, as a multiple of the top speed; drag reduces it again."""
COOLDOWN = 40
"""Steps from one dash to the next."""
HEADINGS = 24
"""Number of directions an agent can face, counterclockwise from east. A turn moves to the next one."""

N_RAYS = 13
FIELD_OF_VIEW = np.deg2rad(150.0)
"""Opening angle centered on the heading; the rays are spread evenly over it."""
SIGHT = 10.0
"""Maximum distance at which an agent sees walls and opponents."""

TURNS, THRUSTS, DASHES = 3, 3, 2
"""Number of options of each component of an action."""
LEFT, STRAIGHT, RIGHT = range(3)
BACK, COAST, FORWARD = range(3)
