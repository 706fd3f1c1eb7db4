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
from gymnast.film.actions import ActionLabels
from gymnast.film.choose import ChosenEpisode
from gymnast.film.encode import FilmWriter
from gymnast.film.episode_frame import EpisodeFrame
from gymnast.film.overlay import Band
from gymnast.film.renderer import EnvRenderer
from gymnast.film.replay import episode_frames, image_observations, retry_with_note
from gymnast.film.source import FilmSource
from gymnast.runs import films

Progress = Callable[[int, int], None]
"""Called with the number of steps drawn so far and their total."""
HOLD_SECONDS = 1.0
"""Seconds for which the last frame is held."""


@dataclass(frozen=True)
class FilmOptions:
    """Output file and options of a film."""

    out: Path
    fps: float | None = None
    """Frames per second; None: that of the preset or the environment."""
    threads: int = 0
    on_progress: Progress | None = None
    write_description: bool = True
    """Whether a .json file that describes the film is written next to it."""


def film_episode(cfg: Config, chosen: ChosenEpisode, options: FilmOptions) -> dict[str, Any]:
    """Makes the film and returns its description."""
    with episode_source(cfg, chosen) as source:
        writer, note = write_film(source, options)
    about = {
        "kind": chosen.kind,
        "version": chosen.version,
        "which": chosen.selection,
        "episode": chosen.index,
        **episode_identity(chosen),
    }
    return describe_film(options, about, writer, note)


@contextmanager
def episode_source(cfg: Config, chosen: ChosenEpisode) -> Iterator[FilmSource[EpisodeFrame]]:
    """Opens the environment of an episode as a source of frames. If the observations are images, they are the
    frames, and nothing is rendered."""
    trace = chosen.trace
    needs_renderer = image_observations(trace) is None
    training = chosen.kind == "train"
    with closing(EnvRenderer(cfg, render=needs_renderer, training=training)) as renderer:
        actions = ActionLabels(renderer.action_space, cfg.facts.actions)
        yield FilmSource(
            fps=renderer.fps,
            length=len(trace),
            raw_frames=lambda strict: episode_frames(renderer, trace, strict=strict),
            band=lambda width, note: Band(width, actions, length=len(trace), note=note),
        )


def write_film(source: FilmSource[Any], options: FilmOptions) -> tuple[FilmWriter, str]:
    """Makes the film; returns its writer and a note, which is empty for an exact replay."""
    return retry_with_note(lambda note: _film(source, options, note))


def describe_film(
    options: FilmOptions, about: dict[str, Any], writer: FilmWriter, note: str
) -> dict[str, Any]:
    """Returns the description of a film: `about`, whether it is an exact replay (no `note`),
    properties of the video, and its `path`. Writes it next to the film if
    `options.write_description`."""
    about = about | {
        "exact": not note,
        "note": note,
        "fps": writer.fps,
        "frames": writer.frames,
        "size": list(writer.size),
        "codec": writer.codec,
        "created": time.time(),
    }
    if options.write_description:
        films.write_description(options.out, about)
    return {**about, "path": str(options.out)}


def already_filmed(identity: Mapping[str, Any], out: Path) -> bool:
    """True if the film `out` exists and shows exactly this episode or match, whose `identity`
    (`episode_identity` or `match_identity`) is compared with its description."""
    about = films.read_description(out) if out.exists() else {}
    return all(about.get(key) == value for key, value in identity.items())


def episode_identity(chosen: ChosenEpisode) -> dict[str, Any]:
    """Returns what identifies an episode: seed, return and length."""
    trace = chosen.trace
    return {"seed": trace.seed, "return": trace.raw_return, "length": len(trace)}


def _film(source: FilmSource[Any], options: FilmOptions, note: str) -> FilmWriter:
    """Writes the film and returns its writer. `note`: the warning shown on every frame; empty for
    an exact replay, which raises ReplayMismatch where it differs from the stored episode."""
    frame = None
    with FilmWriter(options.out, options.fps or source.fps, threads=options.threads) as writer:
        for step, frame in source.frames_with_band(note):
            writer.add(frame)
            if options.on_progress is not None:
                options.on_progress(step, source.length)
        hold_last_frame(writer, frame)
    return writer


def hold_last_frame(writer: FilmWriter, frame: np.ndarray | None) -> None:
    """Repeats the last frame for HOLD_SECONDS."""
    if frame is not None:
        for _ in range(round(HOLD_SECONDS * writer.fps)):
            writer.add(frame)
