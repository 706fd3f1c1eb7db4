"""The start of a match depends on its seed only, has no agent in a wall, and keeps the sides apart."""

from __future__ import annotations

import numpy as np

from gymnast.envs.matches.tag import layout
from gymnast.envs.matches.tag.rules import HALF_FIELD, HEADINGS, RADIUS

MANY = layout.sample_layouts(range(3000), 2, 3)


def test_agents_fit_between_boxes_and_along_the_outer_walls():
    gap = np.abs(MANY.middle[:, :, None] - MANY.middle[:, None])
    gap = (gap - MANY.half[:, :, None] - MANY.half[:, None]).max(-1)
    apart = ~np.eye(layout.N_BOXES, dtype=bool)
    assert gap[:, apart].min() >= 2 * 2 * RADIUS - 1e-9
    assert (np.abs(MANY.middle) + MANY.half).max() <= HALF_FIELD - 2 * RADIUS + 1e-9


def test_no_agent_starts_in_a_wall_and_the_sides_start_apart():
    offset = np.abs(MANY.position[:, :, None] - MANY.middle[:, None])
    assert (offset - MANY.half[:, None]).max(-1).min() > RADIUS
    assert np.abs(MANY.position).max() < HALF_FIELD - RADIUS
    between = MANY.position[:, :2, None] - MANY.position[:, None, 2:]
    assert np.abs(between).max(-1).min() >= 2 * 2 * HALF_FIELD / layout.CELLS - 3.0 - 1e-9


def test_the_layout_depends_on_the_seed_only():
    alone = layout.sample_layouts([17], 2, 3)
    assert np.array_equal(alone.position[0], MANY.position[17])
    assert np.array_equal(alone.half[0], MANY.half[17])
    assert len(np.unique(MANY.middle[:, 0, 0])) == 3000
    assert np.array_equal(np.unique(MANY.heading), np.arange(HEADINGS))
