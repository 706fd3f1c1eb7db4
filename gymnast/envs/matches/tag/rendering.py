"""Renders a match from above: walls, agents with their headings, fields of view, and the time left."""

from __future__ import annotations

import os

os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")  # before the import, which prints it

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
Color = tuple[int, int, int]
Point = tuple[float, float]

SIDE, BAR = 480, 12
"""Width of the field in pixels, and height of the bar above it that shows the time left."""
_OVERSAMPLING = 2
"""The image is drawn larger by this factor and scaled down, which smooths edges."""
_SCALE = SIDE * _OVERSAMPLING / (2 * HALF_FIELD)
_GROUND, _GRID, _WALL, _EDGE = (24, 27, 34), (32, 36, 45), (84, 92, 110), (116, 126, 148)
_OUT, _PALE = (96, 98, 104), (236, 238, 242)
_FAN_RAYS, _LINES = 121, 12
"""Number of rays that outline the field of view, and of lines drawn in it."""
_FAN = np.linspace(FIELD_OF_VIEW / 2, -FIELD_OF_VIEW / 2, _FAN_RAYS)
COLOR: dict[str, Color] = {SEEKER: (240, 98, 84), HIDER: (84, 178, 244)}


def render_match(state: State, seekers: int, time_limit: int) -> Array:
    """Returns an image of the only match in `state`, uint8 [height, width, 3]. `time_limit`: in steps."""
    canvas = pygame.Surface((SIDE * _OVERSAMPLING, SIDE * _OVERSAMPLING))
    canvas.fill(_GROUND)
    for line in range(1, 8):
        at = line * SIDE * _OVERSAMPLING // 8
        pygame.draw.line(canvas, _GRID, (at, 0), (at, SIDE * _OVERSAMPLING), _OVERSAMPLING)
        pygame.draw.line(canvas, _GRID, (0, at), (SIDE * _OVERSAMPLING, at), _OVERSAMPLING)
    # From back to front: what agents see, walls, tagged agents, agents in play.
    sight = _sight(state)
    agents = [_Agent(state, k, k < seekers, sight) for k in range(state.heading.shape[1])]
    for agent in agents:
        agent.draw_sight(canvas)
    _draw_walls(canvas, state)
    for agent in sorted(agents, key=lambda agent: not agent.tagged):
        agent.draw_memory(canvas)
        agent.draw_body(canvas)
    image = pygame.Surface((SIDE, SIDE + BAR))
    image.blit(pygame.transform.smoothscale(canvas, (SIDE, SIDE)), (0, BAR))
    _draw_time(image, 1.0 - float(state.clock[0]) / time_limit)
    pixels = pygame.image.tobytes(image, "RGB")
    return np.frombuffer(pixels, np.uint8).reshape(SIDE + BAR, SIDE, 3)


class _Agent:
    """One agent, as it is drawn."""

    def __init__(self, state: State, k: int, is_seeker: bool, sight: Array) -> None:
        self.tagged = bool(state.tagged[0, k])
        self.color = COLOR[SEEKER if is_seeker else HIDER]
        self.position, self.facing = state.position[0, k], FACING[state.heading[0, k]]
        self.seeing = bool(state.seen_now[0, k])
        self.remembered = None if state.seen_when[0, k] == NEVER else state.seen_at[0, k]
        self.ready = 1.0 - float(state.cooldown[0, k]) / COOLDOWN
        self.sight = sight[0, k]

    def draw_sight(self, canvas: pygame.Surface) -> None:
        """Draws the field of view, brighter while an opponent is in it."""
        if self.tagged:
            return
        # pygame draws translucent shapes only on a surface of their own.
        overlay = pygame.Surface(canvas.get_size(), pygame.SRCALPHA)
        corners = [_pixel(self.position), *map(_pixel, self.sight)]
        area, line = (64, 112) if self.seeing else (34, 66)
        pygame.draw.polygon(overlay, (*self.color, area), corners)
        for end in corners[1 :: _FAN_RAYS // _LINES]:
            pygame.draw.line(overlay, (*self.color, line), corners[0], end, _OVERSAMPLING)
        canvas.blit(overlay, (0, 0))

    def draw_memory(self, canvas: pygame.Surface) -> None:
        """Draws a cross where the agent last saw an opponent that it does not see any more."""
        if self.remembered is None or self.seeing or self.tagged:
            return
        x, y = _pixel(self.remembered)
        arm = 0.35 * RADIUS * _SCALE
        for up in (-arm, arm):
            pygame.draw.line(
                canvas, self.color, (x - arm, y - up), (x + arm, y + up), 2 * _OVERSAMPLING
            )

    def draw_body(self, canvas: pygame.Surface) -> None:
        """Draws the agent with its heading, and with a rim if it can dash."""
        color = _OUT if self.tagged else self.color
        middle, radius = _pixel(self.position), RADIUS * _SCALE
        pygame.draw.circle(canvas, color, middle, radius)
        nose = _pixel(self.position + self.facing * RADIUS * 0.95)
        pygame.draw.line(canvas, _GROUND if self.tagged else _PALE, middle, nose, 2 * _OVERSAMPLING)
        if not self.tagged and self.ready >= 1.0:
            pygame.draw.circle(canvas, _PALE, middle, radius, _OVERSAMPLING)


def _sight(state: State) -> Array:
    """Returns the end points of the F rays that outline each agent's field of view, [1, K, F, 2]."""
    facing = FACING[state.heading][..., None, :]
    x, y = facing[..., 0], facing[..., 1]
    cos, sin = np.cos(_FAN), np.sin(_FAN)
    direction = np.stack([x * cos - y * sin, y * cos + x * sin], -1)  # the heading, rotated
    inverses = inverse(direction[..., 0]), inverse(direction[..., 1])
    length = ray_lengths(state.position, inverses, state.middle, state.half, HALF_FIELD, SIGHT)
    return state.position[:, :, None] + direction * length[..., None]


def _draw_walls(canvas: pygame.Surface, state: State) -> None:
    """Draws the boxes and the border of the field."""
    for middle, half in zip(state.middle[0], state.half[0], strict=True):
        left, top = _pixel(middle + half * (-1, 1))
        box = pygame.Rect(left, top, *(2 * half * _SCALE))
        pygame.draw.rect(canvas, _WALL, box, border_radius=2 * _OVERSAMPLING)
        pygame.draw.rect(canvas, _EDGE, box, 2 * _OVERSAMPLING, border_radius=2 * _OVERSAMPLING)
    pygame.draw.rect(canvas, _EDGE, canvas.get_rect(), 2 * _OVERSAMPLING)


def _draw_time(image: pygame.Surface, left: float) -> None:
    """Draws the bar at the top of the image. `left`: share of the time limit that is left, 0 to 1."""
    image.fill(_GROUND, (0, 0, SIDE, BAR))
    bar = pygame.Rect(4, 3, SIDE - 8, BAR - 6)
    pygame.draw.rect(image, _GRID, bar, border_radius=3)
    bar.width = round(bar.width * left)
    if bar.width:
        pygame.draw.rect(image, COLOR[HIDER], bar, border_radius=3)


def _pixel(at: Array) -> Point:
    """Returns the pixel of a position; the y axis points up."""
    return (float(at[0]) + HALF_FIELD) * _SCALE, (HALF_FIELD - float(at[1])) * _SCALE
