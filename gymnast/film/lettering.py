"""Text, boxes and scaling with pygame, without a screen: pictures are arrays [H, W, 3]."""

from __future__ import annotations

import os
import re
from pathlib import Path

os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")

import numpy as np
import pygame

Array = np.ndarray
Colour = tuple[int, int, int]
_ESCAPES = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_TEXT_SIZE = 20
_FINER = 3
"""Letters are drawn this much larger and reduced: small sizes stay evenly spaced."""


class Letters:
    """Draws text. Fonts die with pygame, which environments end when closed: make one per film."""

    def __init__(self) -> None:
        pygame.font.init()
        self._fonts: dict[int, pygame.font.Font] = {}
        self._drawn: dict[tuple[str, int, Colour], pygame.Surface] = {}

    def width(self, text: str, size: int) -> int:
        return -(-self._font(size).size(text)[0] // _FINER)

    def fitted(self, text: str, size: int, width: int) -> str:
        """The text, shortened where it is too wide."""
        if self.width(text, size) <= width:
            return text
        while text and self.width(f"{text}..", size) > width:
            text = text[:-1]
        return f"{text.rstrip()}.." if text else ""

    def write(
        self, on: pygame.Surface, text: str, at: tuple[int, int], size: int, colour: Colour
    ) -> None:
        key = (text, size, colour)
        if not text:
            return
        if key not in self._drawn:
            if len(self._drawn) > 2000:
                self._drawn.clear()
            large = self._font(size).render(text, True, colour)
            small = (max(1, large.get_width() // _FINER), large.get_height() // _FINER)
            self._drawn[key] = pygame.transform.smoothscale(large, small)
        on.blit(self._drawn[key], at)

    def _font(self, size: int) -> pygame.font.Font:
        if size not in self._fonts:
            self._fonts[size] = pygame.font.Font(
                None, size * _FINER
            )  # bundled: as it is everywhere
        return self._fonts[size]


def surface(width: int, height: int, colour: Colour) -> pygame.Surface:
    made = pygame.Surface((width, height))
    made.fill(colour)
    return made


def pixels(of: pygame.Surface) -> Array:
    width, height = of.get_size()
    return np.frombuffer(pygame.image.tobytes(of, "RGB"), np.uint8).reshape(height, width, 3)


def drawable(picture: Array) -> pygame.Surface:
    height, width = picture.shape[:2]
    return pygame.image.frombuffer(picture.tobytes(), (width, height), "RGB")


def scaled(picture: Array, width: int, height: int) -> Array:
    """Whole multiples keep their pixels sharp, anything else is smoothed."""
    old_height, old_width = picture.shape[:2]
    if width % old_width == 0 and height % old_height == 0:
        return picture.repeat(height // old_height, 0).repeat(width // old_width, 1)
    return pixels(pygame.transform.smoothscale(drawable(picture), (width, height)))


def text_picture(text: str, letters: Letters) -> Array:
    """What a text renderer shows, letter by letter on a grid, so that columns stay columns."""
    lines = _ESCAPES.sub("", text).expandtabs(4).splitlines() or [""]
    columns = max(20, *(len(line) for line in lines))
    wide, high = _TEXT_SIZE * 2 // 3, _TEXT_SIZE
    paper = surface((columns + 2) * wide, (len(lines) + 1) * high, (12, 13, 16))
    for row, line in enumerate(lines):
        for column, letter in enumerate(line):
            if not letter.isspace():
                at = ((column + 1) * wide, row * high + high // 2)
                letters.write(paper, letter, at, _TEXT_SIZE, (230, 230, 230))
    return pixels(paper)


def save_png(picture: Array, path: Path) -> None:
    with path.open("wb") as file:
        pygame.image.save(drawable(picture), file, "x.png")
