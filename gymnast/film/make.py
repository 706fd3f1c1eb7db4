"""One stored episode as a film in its run, or as a grid of pictures."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
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
from gymnast.film.scene import Scene
from gymnast.film.shot import Shot
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
    with episode_scene(cfg, chosen) as scene:
        writer, note = film(scene, order)
    about = {
        "kind": chosen.kind,
        "version": chosen.version,
        "which": chosen.which,
        "episode": chosen.index,
        **identity(chosen),
    }
    return describe_film(order, about, writer, note)


@contextmanager
def episode_scene(cfg: Config[Any], chosen: Chosen) -> Iterator[Scene[Shot]]:
    """The environment the episode was played in; without a renderer where none is needed."""
    trace = chosen.trace
    draws = seen_pictures(trace) is None
    with closing(Stage(cfg, draws=draws, training=chosen.kind == "train")) as stage:
        actions = Actions(stage.env.action_space, cfg.facts.actions)
        yield Scene(
            fps=stage.fps,
            length=len(trace),
            shots=lambda strict: shots(stage, trace, strict=strict),
            band=lambda width, note: Band(width, actions, length=len(trace), note=note),
        )


def film(scene: Scene[Any], order: Order) -> tuple[FilmWriter, str]:
    """Make the film, and a note where it is no exact replay."""
    return exact_or_noted(lambda note: _film(scene, order, note))


def describe_film(
    order: Order, about: dict[str, Any], writer: FilmWriter, note: str
) -> dict[str, Any]:
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


def already_filmed(identity: Mapping[str, Any], out: Path) -> bool:
    """Whether the film is there and shows this very episode or match."""
    about = films.read(out) if out.exists() else {}
    return all(about.get(key) == value for key, value in identity.items())


def identity(chosen: Chosen) -> dict[str, Any]:
    """What tells an episode from any other."""
    trace = chosen.trace
    return {"seed": trace.seed, "return": trace.raw_return, "length": len(trace)}


def _film(scene: Scene[Any], order: Order, note: str) -> FilmWriter:
    frame = None
    with FilmWriter(order.out, order.fps or scene.fps, threads=order.threads) as writer:
        for step, frame in scene.frames(note):
            writer.add(frame)
            if order.progress is not None:
                order.progress(step, scene.length)
        hold(writer, frame)
    return writer


def hold(writer: FilmWriter, frame: np.ndarray | None) -> None:
    """Let the last picture stay for a moment."""
    if frame is not None:
        for _ in range(round(HOLD * writer.fps)):
            writer.add(frame)
