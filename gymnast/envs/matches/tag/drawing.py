"""A match from above: walls, bodies and their headings, what each role sees, and the time left."""

from __future__ import annotations

import os

os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")

import numpy as np
import pygame

from gymnast.envs.matches.tag.geometry import inverse, ray_lengths
from gymnast.envs.matches.tag.motion import FACING
from gymnast.envs.matches.tag.rules import (
    COOLDOWN,
    FIELD_OF_VIEW,
    HALF_FIELD,
    HIDER,
    RADIUS,
    SEEKER,
    SIGHT,
)
from gymnast.envs.matches.tag.state import NEVER, State

Array = np.ndarray
Colour = tuple[int, int, int]
Point = tuple[float, float]

SIDE, BAR = 480, 12
"""Of the field in pixels, and the height of the bar of time above it."""
_FINER = 2
"""Drawn this much larger and reduced, so that edges are smooth."""
_SCALE = SIDE * _FINER / (2 * HALF_FIELD)
_GROUND, _GRID, _WALL, _EDGE = (24, 27, 34), (32, 36, 45), (84, 92, 110), (116, 126, 148)
_OUT, _PALE = (96, 98, 104), (236, 238, 242)
_FAN_RAYS, _LINES = 121, 12
"""Rays close enough for an area, and how many parts lines cut it into."""
_FAN = np.linspace(FIELD_OF_VIEW / 2, -FIELD_OF_VIEW / 2, _FAN_RAYS)
COLOUR: dict[str, Colour] = {SEEKER: (240, 98, 84), HIDER: (84, 178, 244)}


def picture(state: State, seekers: int, time_limit: int) -> Array:
    """Of the only match of this state, [height, width, 3] bytes."""
    paper = pygame.Surface((SIDE * _FINER, SIDE * _FINER))
    paper.fill(_GROUND)
    for line in range(1, 8):
        at = line * SIDE * _FINER // 8
        pygame.draw.line(paper, _GRID, (at, 0), (at, SIDE * _FINER), _FINER)
        pygame.draw.line(paper, _GRID, (0, at), (SIDE * _FINER, at), _FINER)
    sight = _sight(state)
    agents = [_Agent(state, k, k < seekers, sight) for k in range(state.heading.shape[1])]
    for agent in agents:
        agent.draw_sight(paper)
    _draw_walls(paper, state)
    for agent in sorted(agents, key=lambda agent: not agent.tagged):
        agent.draw_memory(paper)
        agent.draw_body(paper)
    whole = pygame.Surface((SIDE, SIDE + BAR))
    whole.blit(pygame.transform.smoothscale(paper, (SIDE, SIDE)), (0, BAR))
    _draw_time(whole, 1.0 - float(state.clock[0]) / time_limit)
    bytes_ = pygame.image.tobytes(whole, "RGB")
    return np.frombuffer(bytes_, np.uint8).reshape(SIDE + BAR, SIDE, 3)


class _Agent:
    def __init__(self, state: State, k: int, is_seeker: bool, sight: Array) -> None:
        self.tagged = bool(state.tagged[0, k])
        self.colour = COLOUR[SEEKER if is_seeker else HIDER]
        self.position, self.facing = state.position[0, k], FACING[state.heading[0, k]]
        self.seeing = bool(state.seen_now[0, k])
        self.remembered = None if state.seen_when[0, k] == NEVER else state.seen_at[0, k]
        self.ready = 1.0 - float(state.cooldown[0, k]) / COOLDOWN
        self.sight = sight[0, k]

    def draw_sight(self, paper: pygame.Surface) -> None:
        if self.tagged:
            return
        glass = pygame.Surface(paper.get_size(), pygame.SRCALPHA)
        corners = [_pixel(self.position), *map(_pixel, self.sight)]
        area, line = (64, 112) if self.seeing else (34, 66)
        pygame.draw.polygon(glass, (*self.colour, area), corners)
        for end in corners[1 :: _FAN_RAYS // _LINES]:
            pygame.draw.line(glass, (*self.colour, line), corners[0], end, _FINER)
        paper.blit(glass, (0, 0))

    def draw_memory(self, paper: pygame.Surface) -> None:
        if self.remembered is None or self.seeing or self.tagged:
            return
        x, y = _pixel(self.remembered)
        arm = 0.35 * RADIUS * _SCALE
        for up in (-arm, arm):
            pygame.draw.line(paper, self.colour, (x - arm, y - up), (x + arm, y + up), 2 * _FINER)

    def draw_body(self, paper: pygame.Surface) -> None:
        colour = _OUT if self.tagged else self.colour
        middle, radius = _pixel(self.position), RADIUS * _SCALE
        pygame.draw.circle(paper, colour, middle, radius)
        nose = _pixel(self.position + self.facing * RADIUS * 0.95)
        pygame.draw.line(paper, _GROUND if self.tagged else _PALE, middle, nose, 2 * _FINER)
        if not self.tagged and self.ready >= 1.0:
            pygame.draw.circle(paper, _PALE, middle, radius, _FINER)


def _sight(state: State) -> Array:
    """Where what each agent sees ends, as points along an arc: [1, K, F, 2]."""
    facing = FACING[state.heading][..., None, :]
    x, y = facing[..., 0], facing[..., 1]
    cos, sin = np.cos(_FAN), np.sin(_FAN)
    way = np.stack([x * cos - y * sin, y * cos + x * sin], -1)
    steep = inverse(way[..., 0]), inverse(way[..., 1])
    length = ray_lengths(state.position, steep, state.middle, state.half, HALF_FIELD, SIGHT)
    return state.position[:, :, None] + way * length[..., None]


def _draw_walls(paper: pygame.Surface, state: State) -> None:
    for middle, half in zip(state.middle[0], state.half[0], strict=True):
        left, top = _pixel(middle + half * (-1, 1))
        box = pygame.Rect(left, top, *(2 * half * _SCALE))
        pygame.draw.rect(paper, _WALL, box, border_radius=2 * _FINER)
        pygame.draw.rect(paper, _EDGE, box, 2 * _FINER, border_radius=2 * _FINER)
    pygame.draw.rect(paper, _EDGE, paper.get_rect(), 2 * _FINER)


def _draw_time(whole: pygame.Surface, left: float) -> None:
    whole.fill(_GROUND, (0, 0, SIDE, BAR))
    bar = pygame.Rect(4, 3, SIDE - 8, BAR - 6)
    pygame.draw.rect(whole, _GRID, bar, border_radius=3)
    bar.width = round(bar.width * left)
    if bar.width:
        pygame.draw.rect(whole, COLOUR[HIDER], bar, border_radius=3)


def _pixel(at: Array) -> Point:
    """North is up."""
    return (float(at[0]) + HALF_FIELD) * _SCALE, (HALF_FIELD - float(at[1])) * _SCALE
