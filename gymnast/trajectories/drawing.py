"""Draws the frames of a film from a trajectory alone: field, walls, agents with trails and headings, tags.

It is used where the environment itself cannot be opened, as for files of other programs.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import pygame

from gymnast.film.drawing import Color, new_surface, pixels, scaled
from gymnast.film.matches.replay import MatchFrame
from gymnast.trajectories.colors import role_colors
from gymnast.trajectories.trajectory import AgentPath, Position, Trajectory, extent

Array = np.ndarray
SIDE = 480
"""Width of a frame in pixels."""
MAX_ASPECT = 1.5
"""Height of a frame, at most, as a multiple of its width."""
TRAIL = 60
"""Number of past steps that an agent's trail shows."""
_STRONGEST = 0.7
"""Strength of the color at the newest end of a trail."""
_OVERSAMPLING = 2
"""Frames are drawn larger by this factor and scaled down, which smooths edges."""
_GROUND, _WALL, _EDGE = (24, 27, 34), (84, 92, 110), (116, 126, 148)
_OUT, _PALE = (96, 98, 104), (236, 238, 242)
_DEFAULT_RADIUS = 0.02
"""Radius of an agent as a fraction of the field's width, if the arena declares none."""


def drawn_frames(one: Trajectory) -> Iterator[MatchFrame]:
    """Yields a frame for the start and for every step of a trajectory with positions, with the returns."""
    canvas = _Canvas(one)
    totals = {role: np.cumsum(one.rewards(role).mean(axis=1)).tolist() for role in one.roles}
    for step in range(one.length + 1):
        returns = {role: total[step - 1] if step else 0.0 for role, total in totals.items()}
        ending = one.result() if step == one.length else ""
        yield MatchFrame(canvas.frame(step), step, returns, ending)


class _Canvas:
    """The field of one trajectory, onto which its agents are drawn step by step."""

    def __init__(self, one: Trajectory) -> None:
        self.one, self.colors = one, role_colors(one.roles)
        (self.left, right), (low, self.top) = extent([one])
        self.scale = SIDE * _OVERSAMPLING / (right - self.left)
        # Even numbers of pixels: video codecs need them.
        height = min((self.top - low) / (right - self.left), MAX_ASPECT) * SIDE
        self.size = (SIDE, 2 * round(height / 2))
        self.scale = min(self.scale, self.size[1] * _OVERSAMPLING / (self.top - low))
        declared = one.arena.radius if one.arena is not None else None
        self.radius = (declared or _DEFAULT_RADIUS * (right - self.left)) * self.scale
        self.field = self._field()

    def frame(self, step: int) -> Array:
        """Returns the picture after `step` steps, [H, W, 3] uint8."""
        surface = self.field.copy()
        for agent in self.one.agents:
            self._draw_trail(surface, agent, min(step, agent.steps))
        for agent in sorted(self.one.agents, key=lambda agent: agent.steps):
            self._draw_agent(surface, agent, step)
        for tag in self.one.tags:
            if tag.step <= step:
                self._draw_cross(surface, tag.position)
        return scaled(pixels(surface), *self.size)

    def _field(self) -> pygame.Surface:
        width, height = self.size[0] * _OVERSAMPLING, self.size[1] * _OVERSAMPLING
        surface = new_surface(width, height, _GROUND)
        for left, low, right, high in self.one.arena.walls if self.one.arena is not None else ():
            x, y = self._pixel((left, high))
            box = pygame.Rect(x, y, (right - left) * self.scale, (high - low) * self.scale)
            pygame.draw.rect(surface, _WALL, box, border_radius=2 * _OVERSAMPLING)
            pygame.draw.rect(
                surface, _EDGE, box, 2 * _OVERSAMPLING, border_radius=2 * _OVERSAMPLING
            )
        pygame.draw.rect(surface, _EDGE, surface.get_rect(), 2 * _OVERSAMPLING)
        return surface

    def _draw_trail(self, surface: pygame.Surface, agent: AgentPath, step: int) -> None:
        """Draws the last TRAIL steps of an agent, fading into the ground."""
        if agent.position is None:
            return
        start = max(0, step - TRAIL)
        points = [self._pixel(at) for at in agent.position[start : step + 1]]
        for i, (one, other) in enumerate(pairwise(points)):
            strength = _STRONGEST * (i + 1) / len(points)
            color = _mixed(self.colors[agent.role], strength)
            pygame.draw.line(surface, color, one, other, 2 * _OVERSAMPLING)

    def _draw_agent(self, surface: pygame.Surface, agent: AgentPath, step: int) -> None:
        """Draws an agent with its heading; in gray after its part of the match has ended early."""
        if agent.position is None:
            return
        is_out = step >= agent.steps and agent.steps < self.one.length
        middle = self._pixel(agent.position[step])
        pygame.draw.circle(
            surface, _OUT if is_out else self.colors[agent.role], middle, self.radius
        )
        if agent.heading is not None:
            angle = agent.heading[step]
            nose = (
                middle[0] + 0.95 * self.radius * math.cos(angle),
                middle[1] - 0.95 * self.radius * math.sin(angle),
            )
            pygame.draw.line(surface, _PALE, middle, nose, 2 * _OVERSAMPLING)

    def _draw_cross(self, surface: pygame.Surface, position: Position) -> None:
        x, y = self._pixel(position)
        arm = 0.8 * self.radius
        for up in (-arm, arm):
            ends = (x - arm, y - up), (x + arm, y + up)
            pygame.draw.line(surface, _PALE, *ends, 3 * _OVERSAMPLING)

    def _pixel(self, at: Position) -> tuple[float, float]:
        """Returns the pixel of a position; the y axis points up."""
        return (at[0] - self.left) * self.scale, (self.top - at[1]) * self.scale


def _mixed(color: Color, strength: float) -> Color:
    """Returns a color mixed with the ground; strength 1 is the color itself."""
    red, green, blue = (
        round(strength * c + (1 - strength) * g) for c, g in zip(color, _GROUND, strict=True)
    )
    return red, green, blue
