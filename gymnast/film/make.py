"""Makes a film of one stored episode."""

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
"""Called with the number of steps drawn so far and their total."""
HOLD = 1.0
"""Seconds for which the last frame is held."""


@dataclass(frozen=True)
class Order:
    """Output file and options of a film."""

    out: Path
    fps: float | None = None
    """Frames per second; None: that of the preset or the environment."""
    threads: int = 0
    progress: Progress | None = None
    described: bool = True
    """Whether a .json file that describes the film is written next to it."""


def film_episode(cfg: Config[Any], chosen: Chosen, order: Order) -> dict[str, Any]:
    """Makes the film and returns its description."""
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
    """Opens the environment of an episode as a scene, without a renderer if the observations are images."""
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
    """Makes the film; returns its writer and a note, which is empty for an exact replay."""
    return exact_or_noted(lambda note: _film(scene, order, note))


def describe_film(
    order: Order, about: dict[str, Any], writer: FilmWriter, note: str
) -> dict[str, Any]:
    """Returns the description of a film, and writes it next to the film if `order.described`."""
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
    """True if the film exists and shows exactly this episode or match."""
    about = films.read(out) if out.exists() else {}
    return all(about.get(key) == value for key, value in identity.items())


def identity(chosen: Chosen) -> dict[str, Any]:
    """Returns what identifies an episode: seed, return and length."""
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
    """Repeats the last frame for HOLD seconds."""
    if frame is not None:
        for _ in range(round(HOLD * writer.fps)):
            writer.add(frame)
