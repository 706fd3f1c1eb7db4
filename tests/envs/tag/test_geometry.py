"""Walls are never passed at any speed, and rays end at them."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from gymnast.envs.matches.tag import layout
from gymnast.envs.matches.tag.geometry import TOUCH, has_line_of_sight, inverse, ray_lengths, slide
from gymnast.envs.matches.tag.rules import HALF_FIELD, RADIUS, SIGHT

LIMIT = HALF_FIELD - RADIUS
SEED = st.integers(0, 2**31 - 1)
angles = st.floats(0, 2 * np.pi) | st.sampled_from([k * np.pi / 4 for k in range(8)])
sizes = st.floats(0, 2) | st.sampled_from([1e-9, 1e-3, 0.4, 5.0, 20.0, 1e3, 1e9])


def walls(seed: int) -> tuple[np.ndarray, np.ndarray]:
    drawn = layout.sample_layouts([seed], 1, 1)
    return drawn.middle, drawn.half + RADIUS


def inside(at: np.ndarray, middle: np.ndarray, half: np.ndarray) -> np.ndarray:
    """Returns which points [..., 2] are in a box or outside the field."""
    deep = (half - np.abs(middle - at[..., None, :])).min(-1).max(-1)
    return (deep > TOUCH) | (np.abs(at) > LIMIT + TOUCH).any(-1)


def crosses(start: np.ndarray, end: np.ndarray, middle: np.ndarray, half: np.ndarray) -> bool:
    """Checks points along the line, closer to each other than the thickness of any box."""
    points = start + np.linspace(0, 1, 500)[:, None] * (end - start)
    return bool(inside(points, middle, half - 1e-6).any())


@settings(max_examples=100)
@given(SEED, st.lists(st.tuples(angles, sizes), min_size=1, max_size=12))
def test_no_agent_is_ever_in_a_wall_or_outside_the_field_at_any_speed(
    seed: int, moves: list[tuple[float, float]]
):
    middle, half = walls(seed)
    at = layout.sample_layouts([seed], 1, 1).position[:, :1]
    for angle, size in moves:
        move = size * np.array([[[np.cos(angle), np.sin(angle)]]])
        end, stopped = slide(at, move, middle, half, LIMIT)
        assert not inside(end[0], middle[0], half[0]).any()
        straight = np.clip(at + move, -LIMIT, LIMIT)
        if not stopped.any():
            assert np.array_equal(end, at + move)
        if not crosses(at[0, 0], straight[0, 0], middle[0], half[0] + 2e-6):
            assert np.allclose(end, straight, atol=1e-8)
        at = end


@settings(max_examples=100)
@given(SEED, angles, st.sampled_from([0.3, 2.0, 15.0, 1e3, 1e9]))
def test_a_blocked_move_slides_along_walls_and_never_through_one(
    seed: int, angle: float, size: float
):
    middle, half = walls(seed)
    at = layout.sample_layouts([seed], 1, 1).position[:, :1]
    move = size * np.array([[[np.cos(angle), np.sin(angle)]]])
    end, _ = slide(at, move, middle, half, LIMIT)
    wanted, got = (np.clip(at + move, -LIMIT, LIMIT) - at)[0, 0], (end - at)[0, 0]
    # the path is straight until one axis is blocked, and from there follows the other axis
    moves = np.abs(wanted) > 1e-12
    share = np.clip((got[moves] / wanted[moves]).min(), 0, 1) if moves.any() else 0.0
    corner = at[0, 0] + share * wanted
    for start, stop in pairwise([at[0, 0], corner, end[0, 0]]):
        assert not crosses(start, stop, middle[0], half[0])
    assert np.isclose(corner, end[0, 0], atol=1e-6).any()


def test_sliding_along_a_wall_keeps_the_speed_along_it():
    middle, half = np.array([[[0.0, 0.0]]]), np.array([[[1.0, 1.0]]])
    start, move = np.array([[[-1.5, -0.5]]]), np.array([[[1.0, 0.6]]])
    end, stopped = slide(start, move, middle, half, LIMIT)
    assert np.allclose(end, [[[-1.0, 0.1]]])
    assert stopped.tolist() == [[[True, False]]]
    again, stopped = slide(end, move, middle, half, LIMIT)
    assert np.allclose(again, [[[-1.0, 0.7]]])
    beyond, stopped = slide(again, np.array([[[0.0, 2.0]]]), middle, half, LIMIT)
    assert not stopped.any()
    assert np.allclose(beyond, [[[-1.0, 2.7]]])


def marched(at: np.ndarray, angle: float, middle: np.ndarray, half: np.ndarray) -> float:
    """Returns the length of a ray, found by walking along it in small steps until it is in a wall."""
    lengths = np.arange(0, SIGHT, 0.005)
    points = at + lengths[:, None] * [np.cos(angle), np.sin(angle)]
    boxed = (np.abs(points[:, None] - middle) < half).all(-1).any(-1)
    hit = boxed | (np.abs(points) > HALF_FIELD).any(-1)
    return float(lengths[hit.argmax()]) if hit.any() else SIGHT


@settings(max_examples=30)
@given(SEED, st.lists(angles, min_size=4, max_size=4))
def test_ray_lengths_agree_with_ray_marching(seed: int, directions: list[float]):
    drawn = layout.sample_layouts([seed], 1, 1)
    steep = tuple(
        np.tile(inverse(f(np.array(directions))), (1, 2, 1)).astype(np.float32)
        for f in (np.cos, np.sin)
    )
    found = ray_lengths(drawn.position, steep, drawn.middle, drawn.half, HALF_FIELD, SIGHT)
    assert found.dtype == np.float32
    for agent in range(2):
        for ray, angle in enumerate(directions):
            at = drawn.position[0, agent]
            wanted = marched(at, angle, drawn.middle[0], drawn.half[0])
            # a ray that grazes a corner may find it or not
            near = [marched(at, angle + by, drawn.middle[0], drawn.half[0]) for by in (-1e-3, 1e-3)]
            low, high = min(wanted, *near), max(wanted, *near)
            assert low - 0.02 <= found[0, agent, ray] <= high + 0.02


@settings(max_examples=60)
@given(SEED)
def test_sight_is_blocked_if_the_line_between_two_agents_passes_through_a_wall(seed: int):
    drawn = layout.sample_layouts([seed], 2, 2)
    start = drawn.position[:, :2, None]
    line = drawn.position[:, None, 2:] - start
    found = has_line_of_sight(start, line, drawn.middle, drawn.half)
    for s in range(2):
        for h in range(2):
            points = start[0, s, 0] + np.linspace(0, 1, 2000)[:, None] * line[0, s, h]
            deep = (drawn.half[0] - np.abs(points[:, None] - drawn.middle[0])).min(-1).max()
            if abs(deep) > 0.02:  # not where it grazes a corner
                assert found[0, s, h] == (deep < 0)
