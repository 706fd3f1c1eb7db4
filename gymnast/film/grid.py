"""An episode in one picture: moments evenly spaced, in rows, each with its band."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

from gymnast.config.config import Config
from gymnast.errors import UsageError
from gymnast.film.actions import Actions
from gymnast.film.choose import Chosen
from gymnast.film.frames import exact_or_noted, shots
from gymnast.film.lettering import save_png, scaled
from gymnast.film.make import stage_for
from gymnast.film.overlay import Band
from gymnast.film.shot import Shot
from gymnast.runs import durable

Array = np.ndarray
COLUMNS, ROWS = 4, 2
TILE = 320
"""Width of one moment."""
GAP = 6


def grid(cfg: Config[Any], chosen: Chosen, out: Path) -> str:
    """Draw the episode and save the picture as a PNG; a note where it is no exact replay."""
    if out.suffix != ".png":
        raise UsageError(f"{out} cannot be written: a grid is a .png", fix=f"{out.stem}.png")
    trace = chosen.trace
    moments = np.linspace(0, len(trace), COLUMNS * ROWS).round()
    with closing(stage_for(cfg, chosen)) as stage:
        actions = Actions(stage.env.action_space, cfg.facts.actions)

        def draw(note: str) -> list[Array]:
            band = Band(TILE, actions, length=len(trace), note=note)
            every = shots(stage, trace, strict=not note)
            return [_tile(shot, band) for shot in every if shot.step in moments]

        tiles, note = exact_or_noted(draw)
    with durable.explained(out):
        out.parent.mkdir(parents=True, exist_ok=True)
        draft = out.with_name(f".{out.name}")
        save_png(_joined(tiles), draft)
        draft.rename(out)
    return note


def _tile(shot: Shot, band: Band) -> Array:
    height, width = shot.picture.shape[:2]
    small = scaled(shot.picture, TILE, round(TILE * height / width))
    return np.concatenate([small, band.draw(shot)])


def _joined(tiles: list[Array]) -> Array:
    height, width = tiles[0].shape[:2]
    rows = -(-len(tiles) // COLUMNS)
    size = (rows * (height + GAP) - GAP, COLUMNS * (width + GAP) - GAP, 3)
    paper = np.full(size, 255, np.uint8)
    for i, tile in enumerate(tiles):
        top, left = i // COLUMNS * (height + GAP), i % COLUMNS * (width + GAP)
        paper[top : top + height, left : left + width] = tile
    return paper
