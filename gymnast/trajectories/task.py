"""Trajectories, and the metrics, pictures and films that are made from them, as tasks."""

from __future__ import annotations

from pathlib import Path

from gymnast.film.headless import headless_rendering
from gymnast.film.make import FilmOptions
from gymnast.film.record import Film
from gymnast.progress import ProgressCallback
from gymnast.runs.episode_kinds import Kind
from gymnast.trajectories.films import film_trajectory
from gymnast.trajectories.paths import MAX_PANELS, draw_paths, picture_title
from gymnast.trajectories.rebuild import rebuild
from gymnast.trajectories.record import (
    PathPicture,
    PathPictures,
    TrajectoryFiles,
    TrajectoryFilms,
    TrajectoryMetrics,
)
from gymnast.trajectories.selection import first_of_each_cast, numbered, one_of_each_result
from gymnast.trajectories.source import Source, open_source

PATHS, REPLAYS = "paths", "replays"
"""Folders next to the trajectory files, for pictures and films."""


def trajectories(
    ref: str, *, kind: Kind, data: str | None, runs_dir: str, progress: ProgressCallback
) -> TrajectoryFiles:
    """Writes the trajectories of a run, or lists those of a directory, see `api.trajectories`."""
    return _open(ref, kind, data, runs_dir, progress, all_versions=True).files


def trajectory_metrics(
    ref: str, *, kind: Kind, data: str | None, runs_dir: str, progress: ProgressCallback
) -> TrajectoryMetrics:
    """Rebuilds metrics from trajectories, see `api.trajectory_metrics`."""
    source = _open(ref, kind, data, runs_dir, progress, all_versions=True)
    evaluations = source.evaluations()
    rebuilt = tuple(rebuild(each, source.run_of(each[0])) for each in evaluations)
    return TrajectoryMetrics(str(source.directory), rebuilt, source.skipped)


def trajectory_paths(
    ref: str,
    *,
    kind: Kind,
    number: int | None,
    out: str | None,
    data: str | None,
    runs_dir: str,
    progress: ProgressCallback,
) -> PathPictures:
    """Draws the paths of trajectories, see `api.trajectory_paths`."""
    source = _open(ref, kind, data, runs_dir, progress, all_versions=False)
    folder = source.directory / PATHS if out is None else Path(out)
    pictures: list[PathPicture] = []
    evaluations = source.evaluations()
    for done, each in enumerate(evaluations):
        progress(done, len(evaluations), "drawing")
        name, shown = source.name(each[0]), first_of_each_cast(each, MAX_PANELS)
        if number is not None:
            name, shown = f"{name}-{number}", [numbered(each, number)]
        path = folder / f"{name}.png"
        draw_paths(shown, path, picture_title(each[0]))
        numbers = tuple(one.number for one in shown)
        about = each[0]
        pictures.append(PathPicture(str(path), about.run, about.kind, about.version, numbers))
    return PathPictures(str(folder), tuple(pictures), source.skipped)


def trajectory_replay(
    ref: str,
    *,
    kind: Kind,
    number: int | None,
    out: str | None,
    fps: float | None,
    data: str | None,
    runs_dir: str,
    progress: ProgressCallback,
) -> TrajectoryFilms:
    """Makes films of trajectories, see `api.trajectory_replay`."""
    source = _open(ref, kind, data, runs_dir, progress, all_versions=False)
    folder = source.directory / REPLAYS if out is None else Path(out)
    films: list[Film] = []
    with headless_rendering():
        for each in source.evaluations():
            chosen = one_of_each_result(each) if number is None else [numbered(each, number)]
            for one in chosen:
                path = folder / f"{source.name(one)}-{one.number}.mp4"
                options = FilmOptions(path, fps, on_progress=progress, write_description=False)
                films.append(film_trajectory(one, source.config_of(one), options))
    return TrajectoryFilms(str(folder), tuple(films), source.skipped)


def _open(
    ref: str,
    kind: Kind,
    data: str | None,
    runs_dir: str,
    progress: ProgressCallback,
    *,
    all_versions: bool,
) -> Source:
    return open_source(
        ref, kind=kind, data=data, runs_dir=runs_dir, all_versions=all_versions, progress=progress
    )
