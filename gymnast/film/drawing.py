"""Text, boxes and scaling with pygame, without a display; pictures are arrays [H, W, 3]."""

from __future__ import annotations

import io
import re
from pathlib import Path

import numpy as np
import pygame

Array = np.ndarray
Color = tuple[int, int, int]
_ESCAPES = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_TEXT_SIZE = 20
_SUPERSAMPLING = 3
"""Letters are drawn this much larger and scaled down, which keeps small text evenly spaced."""


class TextRenderer:
    """Draws text. Make one per film: an environment that closes may quit pygame, which ends all fonts."""

    def __init__(self) -> None:
        pygame.font.init()
        self._fonts: dict[int, pygame.font.Font] = {}
        self._drawn: dict[tuple[str, int, Color], pygame.Surface] = {}

    def width(self, text: str, size: int) -> int:
        return -(-self._font(size).size(text)[0] // _SUPERSAMPLING)  # rounded up

    def shorten(self, text: str, size: int, width: int) -> str:
        """Returns the text, shortened if it is wider than `width` pixels."""
        if self.width(text, size) <= width:
            return text
        while text and self.width(f"{text}..", size) > width:
            text = text[:-1]
        return f"{text.rstrip()}.." if text else ""

    def write(
        self, canvas: pygame.Surface, text: str, position: tuple[int, int], size: int, color: Color
    ) -> None:
        """Draws a line of text on the canvas. `position`: left and top of the text, `size`: size of
        the font, both in pixels."""
        key = (text, size, color)
        if not text:
            return
        if key not in self._drawn:
            if len(self._drawn) > 2000:  # numbers change in every frame: bound the cache
                self._drawn.clear()
            large = self._font(size).render(text, True, color)
            small = (
                max(1, large.get_width() // _SUPERSAMPLING),
                large.get_height() // _SUPERSAMPLING,
            )
            self._drawn[key] = pygame.transform.smoothscale(large, small)
        canvas.blit(self._drawn[key], position)

    def _font(self, size: int) -> pygame.font.Font:
        if size not in self._fonts:
            # None is the font bundled with pygame, which looks the same on every machine.
            self._fonts[size] = pygame.font.Font(None, size * _SUPERSAMPLING)
        return self._fonts[size]


def new_surface(width: int, height: int, color: Color) -> pygame.Surface:
    surface = pygame.Surface((width, height))
    surface.fill(color)
    return surface


def pixels(canvas: pygame.Surface) -> Array:
    width, height = canvas.get_size()
    return np.frombuffer(pygame.image.tobytes(canvas, "RGB"), np.uint8).reshape(height, width, 3)


def to_surface(picture: Array) -> pygame.Surface:
    height, width = picture.shape[:2]
    return pygame.image.frombuffer(picture.tobytes(), (width, height), "RGB")


def scaled(picture: Array, width: int, height: int) -> Array:
    """Returns the picture at another size: pixels are repeated for integer factors, otherwise smoothed."""
    old_height, old_width = picture.shape[:2]
    if width % old_width == 0 and height % old_height == 0:
        return picture.repeat(height // old_height, 0).repeat(width // old_width, 1)
    return pixels(pygame.transform.smoothscale(to_surface(picture), (width, height)))


def text_picture(text: str, letters: TextRenderer) -> Array:
    """Returns the output of an "ansi" renderer as a picture, in which columns stay aligned."""
    lines = _ESCAPES.sub("", text).expandtabs(4).splitlines() or [""]
    columns = max(20, *(len(line) for line in lines))
    wide, high = _TEXT_SIZE * 2 // 3, _TEXT_SIZE
    canvas = new_surface((columns + 2) * wide, (len(lines) + 1) * high, (12, 13, 16))
    # Letter by letter, because the font is proportional and a grid world needs aligned columns.
    for row, line in enumerate(lines):
        for column, letter in enumerate(line):
            if not letter.isspace():
                at = ((column + 1) * wide, row * high + high // 2)
                letters.write(canvas, letter, at, _TEXT_SIZE, (230, 230, 230))
    return pixels(canvas)


def save_png(picture: Array, path: Path) -> None:
    path.write_bytes(to_png(picture))


def to_png(picture: Array) -> bytes:
    """Returns a picture, uint8 [H, W, 3], as the bytes of a PNG."""
    file = io.BytesIO()
    pygame.image.save(to_surface(picture), file, "x.png")  # the name only selects the format
    return file.getvalue()
