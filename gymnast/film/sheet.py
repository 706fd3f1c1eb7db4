"""The paper that a band is drawn on: equal columns, sizes in proportion to its width, a note on top."""

from __future__ import annotations

import pygame

from gymnast.film.lettering import Array, Colour, Letters, pixels, surface

PAPER: Colour = (17, 19, 24)
QUIET: Colour = (140, 147, 160)
CLEAR: Colour = (236, 238, 242)
CHOSEN: Colour = (255, 183, 77)
WARNING: Colour = (255, 112, 97)

USUAL = 600
"""Width for which sizes are meant; others are in proportion, within limits."""


class Sheet:
    """Begin a page, write on it, take its pixels."""

    def __init__(self, width: int, height: int, note: str = "") -> None:
        """`height`: what a band of the usual width needs. `note`: a warning on every page."""
        self.width, self.note = width, note
        self.letters = Letters()
        self.scale = min(max(width / USUAL, 0.75), 2.0)
        self.height = self.px(height) + (self.px(22) if note else 0)
        self.paper = surface(1, 1, PAPER)

    def begin(self) -> int:
        """A new page; where what is below the note begins."""
        self.paper = surface(self.width, self.height, PAPER)
        top = self.px(9)
        if self.note:
            self.line(self.note, top, 18, WARNING)
            top += self.px(22)
        return top

    def line(self, text: str, top: int, size: int, colour: Colour) -> None:
        """Across the whole width, shortened where it is too long."""
        left, room = self.cell(0, 1)
        fitted = self.letters.fitted(text, self.px(size), room)
        self.letters.write(self.paper, fitted, (left, top), self.px(size), colour)

    def write(self, text: str, left: int, top: int, size: int, colour: Colour) -> None:
        self.letters.write(self.paper, text, (left, top), self.px(size), colour)

    def number(self, label: str, text: str, left: int, top: int, colour: Colour = QUIET) -> None:
        """A number below what it is."""
        self.write(label, left, top, 16, colour)
        self.write(text, left, top + self.px(14), 25, CLEAR)

    def fill(self, colour: Colour, box: tuple[int, int, int, int]) -> None:
        self.paper.fill(colour, pygame.Rect(box))

    def pixels(self) -> Array:
        return pixels(self.paper)

    def cell(self, i: int, n: int) -> tuple[int, int]:
        """Left edge and width of the i-th of n equal columns."""
        margin = self.px(12)
        room = self.width - 2 * margin
        left = margin + i * room // n
        return left, margin + (i + 1) * room // n - left

    def px(self, size: int) -> int:
        return round(size * self.scale)
