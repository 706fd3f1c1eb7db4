"""Films, pictures and frames of stored episodes as tasks."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from contextlib import closing, contextmanager
from itertools import takewhile
from pathlib import Path

import numpy as np

from gymnast.config.config import Config
from gymnast.config.families import is_multi_agent
from gymnast.errors import UsageError
from gymnast.film.choose import ChosenEpisode, choose_episode
from gymnast.film.drawing import to_png
from gymnast.film.episode_frame import EpisodeFrame
from gymnast.film.grid import grid as write_grid
from gymnast.film.headless import headless_rendering
from gymnast.film.learning import film_learning
from gymnast.film.make import FilmOptions, episode_source, film_episode
from gymnast.film.matches.choose import ChosenMatch, choose_matches, choose_requested_match
from gymnast.film.matches.films import film_match, match_source
from gymnast.film.matches.replay import MatchFrame, MatchRenderer
from gymnast.film.record import Film, FilmReport, Frame, FrameReport
from gymnast.film.replay import retry_with_note
from gymnast.film.source import FilmSource, S
from gymnast.progress import ProgressCallback
from gymnast.runs import durable, films, layout, store
from gymnast.runs.episode_kinds import Kind
from gymnast.runs.requested_episodes import config_with
from gymnast.runs.run import Run

Array = np.ndarray
MAX_FRAMES = 1000
"""Number of frames that may be asked for at once."""
MAX_BASE64_BYTES = 8_000_000
"""Total size of the frames that are returned in base64."""


def video(
    ref: str,
    *,
    episode: str,
    kind: Kind,
    learning: bool,
    grid: str | None,
    out: str | None,
    fps: float | None,
    runs_dir: str,
    progress: ProgressCallback,
) -> FilmReport:
    """Makes films, or one picture, of stored episodes or matches of a run, see `api.video`."""
    run, checkpoint = store.resolve(ref, store.runs_dir(runs_dir))
    cfg = run.trusted_config()

    def options(default_path: Path) -> FilmOptions:
        # A description is written only inside of the run, where `gymnast show` reads it.
        path = default_path if out is None else Path(out)
        return FilmOptions(path, fps, on_progress=progress, write_description=out is None)

    with headless_rendering():
        if is_multi_agent(cfg.env.id):
            if learning:
                problem = f"{run.id} has several roles: --learning does not support matches"
                fix = f"gymnast video {run.id}:STEP films the matches of a checkpoint"
                raise UsageError(problem, fix=fix)
            with _matches(run, cfg, episode, kind, checkpoint) as (renderer, matches):
                if grid is not None or out is not None:
                    _require_one(matches, "--grid" if grid is not None else "--out")
                if grid is not None:
                    made = [_picture(match_source(renderer, matches[0]), matches[0], grid)]
                else:
                    made = [film_match(renderer, m, options(_path(run, m))) for m in matches]
        elif learning:
            path = layout.VIDEOS.path(run.path) / "learning.mp4"
            made = [film_learning(run, cfg, options(path))]
        else:
            chosen = choose_episode(run, episode, kind=kind, checkpoint=checkpoint)
            cfg = config_with(run, chosen.settings)
            if grid is not None:
                with episode_source(cfg, chosen) as source:
                    made = [_picture(source, chosen, grid)]
            else:
                made = [film_episode(cfg, chosen, options(_path(run, chosen)))]
    return FilmReport(run.id, tuple(made))


def frames(
    ref: str,
    *,
    episode: str,
    kind: Kind,
    first: int,
    last: int | None,
    every: int,
    overlay: bool,
    out: str | None,
    runs_dir: str,
    progress: ProgressCallback,
) -> FrameReport:
    """Renders frames of a stored episode or match, see `api.frames`."""
    run, checkpoint = store.resolve(ref, store.runs_dir(runs_dir))
    cfg = run.trusted_config()
    with headless_rendering(), _source(run, cfg, episode, kind, checkpoint) as (source, chosen):
        steps = range(
            first, (source.length if last is None else min(last, source.length)) + 1, every
        )
        if len(steps) > MAX_FRAMES:
            problem = f"{len(steps):,} frames are more than {MAX_FRAMES:,}"
            raise UsageError(problem, fix="choose fewer steps, or a larger `every`")
        folder = None if out is None else Path(out)
        pictures = source.frames_with_band if overlay else source.frames
        made, note = retry_with_note(
            lambda note: list(_frames(pictures(note), steps, folder, progress))
        )
    return FrameReport(
        run=run.id,
        kind=chosen.kind,
        version=chosen.version,
        episode=chosen.index,
        length=len(chosen.trace),
        exact=not note,
        note=note,
        frames=tuple(made),
    )


@contextmanager
def _source(
    run: Run, cfg: Config, episode: str, kind: Kind, checkpoint: str | None
) -> Iterator[
    tuple[FilmSource[EpisodeFrame], ChosenEpisode] | tuple[FilmSource[MatchFrame], ChosenMatch]
]:
    """Opens the environment of the selected episode or match as a source of frames."""
    if is_multi_agent(cfg.env.id):
        with _matches(run, cfg, episode, kind, checkpoint) as (renderer, matches):
            _require_one(matches, "frames")
            yield match_source(renderer, matches[0]), matches[0]
    else:
        chosen = choose_episode(run, episode, kind=kind, checkpoint=checkpoint)
        with episode_source(config_with(run, chosen.settings), chosen) as source:
            yield source, chosen


@contextmanager
def _matches(
    run: Run, cfg: Config, episode: str, kind: Kind, checkpoint: str | None
) -> Iterator[tuple[MatchRenderer, list[ChosenMatch]]]:
    """Opens the environment of the selected matches. `cfg`: the config of the run."""
    if kind == "fresh" or kind == "played":
        chosen = choose_requested_match(run, kind, episode, checkpoint)
        with closing(MatchRenderer(config_with(run, chosen.settings))) as renderer:
            yield renderer, [chosen]
    else:
        with closing(MatchRenderer(cfg, training=kind == "train")) as renderer:
            outcomes = renderer.matches.outcomes
            yield (
                renderer,
                choose_matches(run, outcomes, episode, kind=kind, checkpoint=checkpoint),
            )


def _frames(
    pictures: Iterator[tuple[int, Array]],
    steps: range,
    folder: Path | None,
    progress: ProgressCallback,
) -> Iterator[Frame]:
    """Yields the frames of these steps; writes them into `folder` if there is one. Raises UsageError if they
    are too large to be returned."""
    end, size, done = steps[-1] if steps else -1, 0, 0
    for step, picture in takewhile(lambda pair: pair[0] <= end, pictures):
        if step not in steps:
            continue
        png, path = to_png(picture), None
        if folder is not None:
            path = folder / f"step-{step:06d}.png"
            with durable.explain_os_errors(path):
                folder.mkdir(parents=True, exist_ok=True)
                path.write_bytes(png)
        else:
            size += len(png)
            if size > MAX_BASE64_BYTES:
                problem = f"the frames have more than {MAX_BASE64_BYTES:,} bytes"
                raise UsageError(problem, fix="choose fewer steps, or write them to files (out)")
        progress(done := done + 1, len(steps))
        yield Frame(
            step=step,
            width=picture.shape[1],
            height=picture.shape[0],
            path="" if path is None else str(path),
            png=base64.b64encode(png).decode() if path is None else "",
        )


def _picture(source: FilmSource[S], chosen: ChosenEpisode | ChosenMatch, out: str) -> Film:
    """Writes a picture with frames of the episode or match and returns its description."""
    size, note = write_grid(source, Path(out))
    return Film(
        path=out,
        kind=chosen.kind,
        version=chosen.version,
        which=chosen.selection,
        episode=chosen.index,
        seed=chosen.trace.seed,
        length=len(chosen.trace),
        exact=not note,
        note=note,
        size=size,
        codec="png",
    )


def _path(run: Run, chosen: ChosenEpisode | ChosenMatch) -> Path:
    """Returns the file of a film inside of its run."""
    return films.film_path(run.path, chosen.kind, chosen.version, chosen.selection)


def _require_one(matches: list[ChosenMatch], what: str) -> None:
    """Raises UsageError if several matches are selected."""
    if len(matches) > 1:
        numbers = ", ".join(f"{match.index} {match.selection}" for match in matches)
        raise UsageError(f"{what} is for one match", fix=f"add --episode N, one of {numbers}")
