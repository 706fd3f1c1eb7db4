"""`python -m gymnast.film.worker RUNS_DIRECTORY`: makes the films of evaluations, and writes their
trajectories, that wait in the queue of a runs directory.

It runs at low priority, one process at a time per runs directory, and writes what it did to the film log of
each run.
"""

from __future__ import annotations

import logging
import os
import sys
import time
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
from gymnast.runs import files, film_queue, films, layout, lock
from gymnast.runs.episodes import stored_versions
from gymnast.runs.run import Run
from gymnast.runs.run_data import run_data_dir
from gymnast.text.formatting import count_noun
from gymnast.trajectories.write import write_trajectories

FREE_SECONDS = 30.0
"""Processor seconds that a film may take, however short the training was."""
MEASURING_SECONDS = 2.0
"""Processor seconds after which the duration of a film is estimated."""


def main() -> None:
    """Makes what waits in the queue of the runs directory that is the first argument, until it is empty.
    Ends at once if another such process runs: that one makes it."""
    os.nice(10)  # the next training must not wait for films of the last one
    logging.basicConfig(format="%(message)s", level=logging.WARNING)
    runs_dir = Path(sys.argv[1])
    # Looks again after the lock was released: what was added before belongs to this process.
    while film_queue.waiting(runs_dir):
        with lock.exclusive_if_free(film_queue.lock_file(runs_dir)) as is_free:
            if not is_free:
                return
            with headless_rendering():
                while (request := film_queue.take(runs_dir)) is not None:
                    _make(Run(runs_dir / request.run), request.part)


def _make(run: Run, part: film_queue.Part) -> None:
    """Makes the films or the trajectories of a run, with all output in its film log."""
    if not run.path.exists():  # it was deleted in the meantime, which is no error
        return
    folder = layout.VIDEOS.path(run.path)
    folder.mkdir(exist_ok=True)
    with files.refuse_link(folder / films.LOG).open("ab") as log:
        for stream in (1, 2):
            os.dup2(log.fileno(), stream)
    try:
        {"films": film_run, "trajectories": write_evaluations}[part](run)
    except Exception:
        if run.path.exists():
            traceback.print_exc()


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
                film = film_episode(cfg, chosen, _options(run, out))
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
                film = film_match(renderer, chosen, _options(run, out))
                print(f"{out.name}: {count_noun(film.frames, 'frame')}", flush=True)


def _options(run: Run, out: Path) -> FilmOptions:
    """Returns the options of an automatic film, which is given up once it is clear that it takes longer than
    the training of its run, and than FREE_SECONDS."""
    limit = max(run.info["clocks"].get("seconds", 0.0), FREE_SECONDS)
    began = time.process_time()

    def refuse_long_film(step: int, steps: int, _text: str = "") -> None:
        used = time.process_time() - began
        needed = used / max(step, 1) * steps
        if used > MEASURING_SECONDS and needed > limit:
            raise GymnastError(
                f"{out.name} is not made: filming {steps:,} steps would take about {needed:.0f} s, longer "
                f"than the training",
                fix=f"gymnast video {run.id} makes it",
            )

    return FilmOptions(out, threads=1, on_progress=refuse_long_film)


@contextmanager
def _errors_printed(run: Run, what: str) -> Iterator[None]:
    """Prints a GymnastError, unless the run was deleted in the meantime."""
    try:
        yield
    except GymnastError as problem:
        if run.path.exists():
            print(f"{what}: {problem}", flush=True)


if __name__ == "__main__":
    main()
