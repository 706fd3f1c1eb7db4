"""The numbers of the game. Speeds are lengths per step."""

from __future__ import annotations

import numpy as np

SEEKER, HIDER = "seeker", "hider"
ROLES = (SEEKER, HIDER)
OUTCOMES = {"tag": SEEKER, "timeout": HIDER}
TAG, TIMEOUT = range(2)
"""Places in OUTCOMES."""
TIME_LIMIT = 200

HALF_FIELD = 10.0
"""From the middle of the square field to its outer walls."""
DIAGONAL = 2 * HALF_FIELD * 2**0.5
RADIUS = 0.4
"""Of a body. Walls keep its middle this far away, along either axis."""
REACH = 1.0
"""A hider whose middle is nearer than this to a seeker's is tagged."""

TOP_SPEED = {SEEKER: 0.42, HIDER: 0.42}
"""Where full thrust and drag are even."""
DRAG = 0.2
"""Share of the speed lost in each step."""
BACKWARD = 0.5
"""Thrust backward, as a share of that forward: whoever looks back at a pursuer is slower."""
BURST = 1.0
"""What a dash adds to the speed ahead, in top speeds; drag takes it away again."""
COOLDOWN = 40
"""Steps from one dash to the next."""
HEADINGS = 24
"""Directions a body may face; a turn is from one to the next. Counted counter-clockwise from east."""

N_RAYS = 13
FIELD_OF_VIEW = np.deg2rad(150.0)
"""Ahead of the body; rays are spread evenly over it."""
SIGHT = 10.0
"""How far anybody sees."""

TURNS, THRUSTS, DASHES = 3, 3, 2
LEFT, STRAIGHT, RIGHT = range(3)
BACK, COAST, FORWARD = range(3)
