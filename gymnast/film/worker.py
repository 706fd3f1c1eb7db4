"""`python -m gymnast.film.worker RUN_DIRECTORY`: film a run's evaluations.

Runs at low priority, one at a time per runs directory, and says in its log what it did.
"""

from __future__ import annotations

import logging
import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from gymnast.config.config import Config
from gymnast.config.families import has_roles
from gymnast.config.resolve import load
from gymnast.errors import GymnastError
from gymnast.film.choose import Chosen, choose
from gymnast.film.make import Order, already_filmed, film_episode, identity
from gymnast.film.matches.choose import choose_matches
from gymnast.film.matches.films import film_match
from gymnast.film.matches.films import identity as match_identity
from gymnast.film.matches.frames import MatchStage
from gymnast.film.stage import without_screen
from gymnast.runs import films, lock
from gymnast.runs.run import Run
from gymnast.text.wording import counted


def main() -> None:
    os.nice(10)
    logging.basicConfig(format="%(message)s", level=logging.WARNING)
    run = Run(Path(sys.argv[1]))
    try:
        with lock.briefly(run.path.parent / ".film-lock"), without_screen():
            film(run)
    except Exception:
        if run.path.exists():  # else it was deleted meanwhile, and there is nobody to tell
            traceback.print_exc()
            sys.exit(1)


def film(run: Run) -> None:
    """What is not filmed already: of episodes the best and the last, of matches between roles those of
    the best version. Problems are told."""
    cfg = load(run.config(), at=str(run.path / "config.yaml"))
    if has_roles(cfg.env.id):
        with _told(run, "matches"):
            _film_matches(run, cfg)
        return
    done: list[Chosen] = []
    for which in ("best", "last"):
        with _told(run, which):
            chosen = choose(run, which)
            if any((c.version, c.index) == (chosen.version, chosen.index) for c in done):
                continue
            done.append(chosen)
            out = films.place(run.path, chosen.kind, chosen.version, which)
            if not already_filmed(identity(chosen), out):
                about = film_episode(cfg, chosen, Order(out, threads=1))
                shown = f"{counted(about['frames'], 'frame')}, return {about['return']:g}"
                print(f"{out.name}: {shown}", flush=True)


def _film_matches(run: Run, cfg: Config[Any]) -> None:
    with closing(MatchStage(cfg)) as stage:
        for chosen in choose_matches(run, stage.matches.outcomes):
            out = films.place(run.path, chosen.kind, chosen.version, chosen.which)
            if not already_filmed(match_identity(chosen), out):
                about = film_match(stage, chosen, Order(out, threads=1))
                print(f"{out.name}: {counted(about['frames'], 'frame')}", flush=True)


@contextmanager
def _told(run: Run, what: str) -> Iterator[None]:
    """Say what is wrong, unless the run was deleted meanwhile."""
    try:
        yield
    except GymnastError as problem:
        if run.path.exists():
            print(f"{what}: {problem}", flush=True)


if __name__ == "__main__":
    main()
