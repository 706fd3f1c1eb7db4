"""An episode or a match as one picture: a grid of evenly spaced frames, each with its band."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from gymnast.errors import UsageError
from gymnast.film.drawing import save_png, scaled
from gymnast.film.replay import retry_with_note
from gymnast.film.source import BandLike, FilmSource, S
from gymnast.runs import durable

Array = np.ndarray
COLUMNS, ROWS = 4, 2
TILE = 320
"""Width of one frame in pixels."""
GAP = 6


def grid(source: FilmSource[S], out: Path) -> tuple[tuple[int, int], str]:
    """Saves the grid as a PNG; returns its width and height, and a note if it is not an exact replay, else an
    empty string."""
    if out.suffix != ".png":
        raise UsageError(
            f"{out} cannot be written: the file name must end in .png", fix=f"{out.stem}.png"
        )
    # An episode of fewer steps than tiles has duplicates here, and thus fewer tiles.
    moments = np.linspace(0, source.length, COLUMNS * ROWS).round()

    def draw(note: str) -> list[Array]:
        band = source.band(TILE, note)
        frames = source.raw_frames(not note)
        return [_tile(frame, band) for frame in frames if frame.step in moments]

    tiles, note = retry_with_note(draw)
    picture = _joined(tiles)
    with durable.explain_os_errors(out):
        out.parent.mkdir(parents=True, exist_ok=True)
        draft = out.with_name(f".{out.name}")
        save_png(picture, draft)
        draft.rename(out)
    return (picture.shape[1], picture.shape[0]), note


def _tile(frame: S, band: BandLike[S]) -> Array:
    height, width = frame.picture.shape[:2]
    small = scaled(frame.picture, TILE, round(TILE * height / width))
    return np.concatenate([small, band.draw(frame)])


def _joined(tiles: list[Array]) -> Array:
    """Returns the tiles, uint8 [H, W, 3] and all of one size, as one picture: row by row, COLUMNS per row,
    with white gaps. Missing tiles of the last row are white."""
    height, width = tiles[0].shape[:2]
    rows = -(-len(tiles) // COLUMNS)
    size = (rows * (height + GAP) - GAP, COLUMNS * (width + GAP) - GAP, 3)
    canvas = np.full(size, 255, np.uint8)
    for i, tile in enumerate(tiles):
        top, left = i // COLUMNS * (height + GAP), i % COLUMNS * (width + GAP)
        canvas[top : top + height, left : left + width] = tile
    return canvas
