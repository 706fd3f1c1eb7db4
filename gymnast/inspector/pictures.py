"""Encodes pictures for a page: without loss as PNG, or as JPEG where that is smaller."""

from __future__ import annotations

import io
import struct
import zlib

import numpy as np
import pygame

from gymnast.film.drawing import scaled, to_surface

Array = np.ndarray
MAX_PNG_BYTES = 16_000
"""Size up to which no JPEG is tried. Flat drawings stay below, and are sharper and mostly smaller as PNG."""
_UP = 2
"""PNG's filter type in which each byte is the difference from the one above."""


def encode(picture: Array) -> bytes:
    """Returns a picture, uint8 [H, W, 3], as the bytes of a PNG or a JPEG."""
    png = to_fast_png(picture)
    if len(png) <= MAX_PNG_BYTES:
        return png
    jpeg = to_jpeg(picture)
    return png if len(png) <= len(jpeg) else jpeg


def to_fast_png(picture: Array) -> bytes:
    """Returns a picture as a PNG, in a fifth of the time that pygame takes (1 instead of 6 ms for 600 x 400),
    at about twice the size."""
    height, width, _ = picture.shape
    rows = picture.reshape(height, -1)
    lines = np.empty((height, 1 + 3 * width), np.uint8)  # each with its filter type in front
    lines[:, 0], lines[0, 1:] = _UP, rows[0]
    np.subtract(rows[1:], rows[:-1], out=lines[1:, 1:])
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)  # 8 bits, RGB
    data = zlib.compress(lines.tobytes(), 1)
    chunks = (_chunk(b"IHDR", header), _chunk(b"IDAT", data), _chunk(b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


def to_jpeg(picture: Array) -> bytes:
    file = io.BytesIO()
    pygame.image.save(to_surface(picture), file, "x.jpg")  # the name only selects the format
    return file.getvalue()


def fit(picture: Array, width: int) -> Array:
    """Returns a picture that is at most `width` pixels wide."""
    old_height, old_width, _ = picture.shape
    if old_width <= width:
        return picture
    return scaled(picture, width, max(1, round(old_height * width / old_width)))


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
