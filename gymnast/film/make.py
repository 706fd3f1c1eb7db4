"""One stored episode as a film in its run, or as a grid of pictures."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gymnast.config.config import Config
from gymnast.film.actions import Actions
from gymnast.film.choose import Chosen
from gymnast.film.encode import FilmWriter
from gymnast.film.frames import exact_or_noted, seen_pictures, shots
from gymnast.film.overlay import Band
from gymnast.film.stage import Stage
from gymnast.runs import films

Progress = Callable[[int, int], None]
"""Told how many of how many steps are drawn."""
HOLD = 1.0
"""Seconds for which the last picture stays."""


@dataclass(frozen=True)
class Order:
    """How a film is to be made."""

    out: Path
    fps: float | None = None
    """None: as the preset or the environment says."""
    threads: int = 0
    progress: Progress | None = None
    described: bool = True
    """Whether what the film shows is written down beside it."""


def film_episode(cfg: Config[Any], chosen: Chosen, order: Order) -> dict[str, Any]:
    """Make the film and its description; returns the latter."""
    with closing(stage_for(cfg, chosen)) as stage:
        writer, note = exact_or_noted(lambda note: _film(cfg, stage, chosen, order, note))
    about = {
        "kind": chosen.kind,
        "version": chosen.version,
        "which": chosen.which,
        "episode": chosen.index,
        **_identity(chosen),
    }
    return told(order, about, writer, note)


def stage_for(cfg: Config[Any], chosen: Chosen) -> Stage:
    """The environment the episode was played in; without a renderer where none is needed."""
    draws = seen_pictures(chosen.trace) is None
    return Stage(cfg, draws=draws, training=chosen.kind == "train")


def told(order: Order, about: dict[str, Any], writer: FilmWriter, note: str) -> dict[str, Any]:
    """What a film shows and how it came out, also written down where that is wanted."""
    about = about | {
        "exact": not note,
        "note": note,
        "fps": writer.fps,
        "frames": writer.frames,
        "size": list(writer.size),
        "codec": writer.codec,
        "created": time.time(),
    }
    if order.described:
        films.describe(order.out, about)
    return {**about, "path": str(order.out)}


def already_filmed(chosen: Chosen, out: Path) -> bool:
    """Whether the film is there and shows this very episode."""
    about = films.read(out) if out.exists() else {}
    return all(about.get(key) == value for key, value in _identity(chosen).items())


def _identity(chosen: Chosen) -> dict[str, Any]:
    trace = chosen.trace
    return {"seed": trace.seed, "return": trace.raw_return, "length": len(trace)}


def _film(cfg: Config[Any], stage: Stage, chosen: Chosen, order: Order, note: str) -> FilmWriter:
    trace, band, frame = chosen.trace, None, None
    actions = Actions(stage.env.action_space, cfg.facts.actions)
    with FilmWriter(order.out, order.fps or stage.fps, threads=order.threads) as writer:
        for shot in shots(stage, trace, strict=not note):
            band = band or Band(shot.picture.shape[1], actions, length=len(trace), note=note)
            frame = band.below(shot)
            writer.add(frame)
            if order.progress is not None:
                order.progress(shot.step, len(trace))
        hold(writer, frame)
    return writer


def hold(writer: FilmWriter, frame: np.ndarray | None) -> None:
    """Let the last picture stay for a moment."""
    if frame is not None:
        for _ in range(round(HOLD * writer.fps)):
            writer.add(frame)
