"""Makes a film of one stored episode."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from gymnast.config.config import Config
from gymnast.film.actions import ActionLabels
from gymnast.film.choose import ChosenEpisode
from gymnast.film.encode import FilmWriter
from gymnast.film.episode_frame import EpisodeFrame
from gymnast.film.overlay import Band
from gymnast.film.record import Film
from gymnast.film.renderer import EnvRenderer
from gymnast.film.replay import episode_frames, image_observations, retry_with_note
from gymnast.film.source import FilmSource, S
from gymnast.progress import ProgressCallback, no_progress
from gymnast.runs import films

HOLD_SECONDS = 1.0
"""Seconds for which the last frame is held."""


@dataclass(frozen=True)
class FilmOptions:
    """Output file and options of a film."""

    out: Path
    fps: float | None = None
    """Frames per second; None: that of the preset or the environment."""
    threads: int = 0
    on_progress: ProgressCallback = no_progress
    """Called with the number of steps drawn so far and their total."""
    write_description: bool = True
    """Whether a .json file that describes the film is written next to it."""


def film_episode(cfg: Config, chosen: ChosenEpisode, options: FilmOptions) -> Film:
    """Makes the film and returns its description."""
    with episode_source(cfg, chosen) as source:
        writer, note = write_film(source, options)
    return finish_film(describe_episode(chosen, options.out), options, writer, note)


def describe_episode(chosen: ChosenEpisode, out: Path) -> Film:
    """Returns the description of the film `out` of a stored episode, before it is made."""
    trace = chosen.trace
    return Film(
        path=str(out),
        kind=chosen.kind,
        version=chosen.version,
        which=chosen.selection,
        episode=chosen.index,
        seed=trace.seed,
        episode_return=trace.raw_return,
        length=len(trace),
    )


@contextmanager
def episode_source(cfg: Config, chosen: ChosenEpisode) -> Iterator[FilmSource[EpisodeFrame]]:
    """Opens the environment of an episode as a source of frames. If the observations are images, they are the
    frames, and nothing is rendered."""
    trace = chosen.trace
    needs_renderer = image_observations(trace) is None
    training = chosen.kind == "train"
    with closing(EnvRenderer(cfg, render=needs_renderer, training=training)) as renderer:
        actions = ActionLabels(renderer.action_space, cfg.facts)
        yield FilmSource(
            fps=renderer.fps,
            length=len(trace),
            raw_frames=lambda strict: episode_frames(renderer, trace, strict=strict),
            band=lambda width, note: Band(width, actions, length=len(trace), note=note),
        )


def write_film(source: FilmSource[S], options: FilmOptions) -> tuple[FilmWriter, str]:
    """Makes the film; returns its writer and a note, which is empty for an exact replay."""
    return retry_with_note(lambda note: _film(source, options, note))


def finish_film(film: Film, options: FilmOptions, writer: FilmWriter, note: str) -> Film:
    """Returns the description of a film with the properties of the video and whether it is an exact replay
    (no `note`). Writes it next to the film if `options.write_description`."""
    made = replace(
        film,
        exact=not note,
        note=note,
        fps=writer.fps,
        frames=writer.frames,
        size=writer.size,
        codec=writer.codec,
        created=time.time(),
    )
    if options.write_description:
        films.write_description(options.out, made.description())
    return made


def already_filmed(film: Film) -> bool:
    """True if the film exists and shows exactly this episode or match, according to the description that is
    stored next to it."""
    out = Path(film.path)
    about = films.read_description(out) if out.exists() else {}
    return all(about.get(key) == value for key, value in film.identity().items())


def _film(source: FilmSource[S], options: FilmOptions, note: str) -> FilmWriter:
    """Writes the film and returns its writer. `note`: the warning shown on every frame; empty for
    an exact replay, which raises ReplayMismatch where it differs from the stored episode."""
    frame = None
    with FilmWriter(options.out, options.fps or source.fps, threads=options.threads) as writer:
        for step, frame in source.frames_with_band(note):
            writer.add(frame)
            options.on_progress(step, source.length)
        hold_last_frame(writer, frame)
    return writer


def hold_last_frame(writer: FilmWriter, frame: np.ndarray | None) -> None:
    """Repeats the last frame for HOLD_SECONDS."""
    if frame is not None:
        for _ in range(round(HOLD_SECONDS * writer.fps)):
            writer.add(frame)
