"""The canvas of a band: equal columns, sizes in proportion to the width, an optional note on top."""

from __future__ import annotations

import pygame

from gymnast.film.drawing import Array, Color, TextRenderer, new_surface, pixels

BACKGROUND: Color = (17, 19, 24)
MUTED: Color = (140, 147, 160)
BRIGHT: Color = (236, 238, 242)
HIGHLIGHT: Color = (255, 183, 77)
WARNING: Color = (255, 112, 97)

REFERENCE_WIDTH = 600
"""Width in pixels for which sizes are given; they are scaled for other widths, within limits."""


class BandCanvas:
    """A canvas that is drawn anew for each frame: `clear`, write on it, then get its `pixels`."""

    def __init__(self, width: int, height: int, note: str = "") -> None:
        """`height` is for the reference width, without the note; `note` is a warning shown on every frame."""
        self.width, self.note = width, note
        self.text_renderer = TextRenderer()
        self.scale = min(max(width / REFERENCE_WIDTH, 0.75), 2.0)
        self.height = self.px(height) + (self.px(22) if note else 0)
        self.canvas = new_surface(1, 1, BACKGROUND)

    def clear(self) -> int:
        """Clears the canvas and draws the note; returns the top of the space below it."""
        self.canvas = new_surface(self.width, self.height, BACKGROUND)
        top = self.px(9)
        if self.note:
            self.write_line(self.note, top, 18, WARNING)
            top += self.px(22)
        return top

    def write_line(self, text: str, top: int, size: int, color: Color) -> None:
        """Writes a line over the whole width, shortened if it is too long."""
        left, room = self.column_bounds(0, 1)
        fitted = self.text_renderer.shorten(text, self.px(size), room)
        self.text_renderer.write(self.canvas, fitted, (left, top), self.px(size), color)

    def write(self, text: str, left: int, top: int, size: int, color: Color) -> None:
        self.text_renderer.write(self.canvas, text, (left, top), self.px(size), color)

    def write_number(
        self, label: str, text: str, left: int, top: int, color: Color = MUTED
    ) -> None:
        """Writes a number below its label."""
        self.write(label, left, top, 16, color)
        self.write(text, left, top + self.px(14), 25, BRIGHT)

    def fill(self, color: Color, box: tuple[int, int, int, int]) -> None:
        self.canvas.fill(color, pygame.Rect(box))

    def pixels(self) -> Array:
        return pixels(self.canvas)

    def column_bounds(self, i: int, n: int) -> tuple[int, int]:
        """Returns the left edge and width of the i-th of n equal columns."""
        margin = self.px(12)
        room = self.width - 2 * margin
        left = margin + i * room // n
        return left, margin + (i + 1) * room // n - left

    def px(self, size: int) -> int:
        """Converts a size at the reference width to pixels."""
        return round(size * self.scale)
