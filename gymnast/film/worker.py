"""`python -m gymnast.film.worker RUN_DIRECTORY [films] [trajectories]`: makes the films of a run's
evaluations, and writes their trajectories if `traces.trajectories` is on; only one of both if it is named.

It runs at low priority, one process at a time per runs directory, and prints what it did to its log.
"""

from __future__ import annotations

import logging
import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from gymnast.config.config import Config
from gymnast.config.families import is_multi_agent
from gymnast.errors import GymnastError
from gymnast.film.choose import ChosenEpisode, choose_episode
from gymnast.film.headless import headless_rendering
from gymnast.film.make import FilmOptions, already_filmed, describe_episode, film_episode
from gymnast.film.matches.choose import choose_matches
from gymnast.film.matches.films import describe_match, film_match
from gymnast.film.matches.replay import MatchRenderer
from gymnast.runs import films, lock
from gymnast.runs.episodes import stored_versions
from gymnast.runs.run import Run
from gymnast.runs.run_data import run_data_dir
from gymnast.text.formatting import count_noun
from gymnast.trajectories.write import write_trajectories


def main() -> None:
    """Makes the films and trajectories of the run whose directory is the first argument, waiting for other
    such processes of the same runs directory. Exits with 1 after an unexpected error."""
    os.nice(10)  # the next training must not wait for films of the last one
    logging.basicConfig(format="%(message)s", level=logging.WARNING)
    run = Run(Path(sys.argv[1]))
    try:
        with lock.exclusive(run.path.parent / ".film-lock"), headless_rendering():
            for part in sys.argv[2:] or PARTS:
                PARTS[part](run)
    except Exception:
        if run.path.exists():  # else it was deleted in the meantime, which is no error
            traceback.print_exc()
            sys.exit(1)


def film_run(run: Run) -> None:
    """Films the best and the last episode or, for runs with several roles, matches of the best checkpoint.

    Existing films are not made again. Problems are printed."""
    cfg = run.trusted_config()
    if is_multi_agent(cfg.env.id):
        with _errors_printed(run, "matches"):
            _film_matches(run, cfg)
        return
    filmed: list[ChosenEpisode] = []
    for which in ("best", "last"):
        with _errors_printed(run, which):
            chosen = choose_episode(run, which)
            if any((c.version, c.index) == (chosen.version, chosen.index) for c in filmed):
                continue  # the best episode may be the last one as well
            filmed.append(chosen)
            out = films.film_path(run.path, chosen.kind, chosen.version, which)
            if not already_filmed(describe_episode(chosen, out)):
                film = film_episode(cfg, chosen, FilmOptions(out, threads=1))
                summary = f"{count_noun(film.frames, 'frame')}, return {film.episode_return:g}"
                print(f"{out.name}: {summary}", flush=True)


def write_evaluations(run: Run) -> None:
    """Writes the trajectories of all evaluations to the data directory of the run, if `traces.trajectories`
    is on. Prints a line per file, and one per episode that could not be replayed."""
    if not run.config().traces.trajectories:
        return
    for kind in ("eval", "confirm"):
        with _errors_printed(run, f"{kind} trajectories"):
            if not stored_versions(run, kind):
                continue
            written = write_trajectories(run, run_data_dir(run), kind)
            for file in written.files:
                print(f"{file.path}: {count_noun(file.episodes, 'line')}", flush=True)
            for one in written.skipped:
                print(
                    f"{kind} {one.version} number {one.number} not written: {one.why}", flush=True
                )


def _film_matches(run: Run, cfg: Config) -> None:
    """Films the matches that `choose_matches` returns for the best checkpoint, except those whose
    film exists, and prints a line for each film."""
    with closing(MatchRenderer(cfg)) as renderer:
        for chosen in choose_matches(run, renderer.matches.outcomes):
            out = films.film_path(run.path, chosen.kind, chosen.version, chosen.selection)
            if not already_filmed(describe_match(chosen, out)):
                film = film_match(renderer, chosen, FilmOptions(out, threads=1))
                print(f"{out.name}: {count_noun(film.frames, 'frame')}", flush=True)


@contextmanager
def _errors_printed(run: Run, what: str) -> Iterator[None]:
    """Prints a GymnastError, unless the run was deleted in the meantime."""
    try:
        yield
    except GymnastError as problem:
        if run.path.exists():
            print(f"{what}: {problem}", flush=True)


PARTS = {"films": film_run, "trajectories": write_evaluations}
"""Argument of the process -> the function that makes that part."""

if __name__ == "__main__":
    main()
