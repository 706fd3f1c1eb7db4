"""`python -m gymnast.film.worker RUN_DIRECTORY`: film a run's best and last evaluation.

Runs at low priority, one at a time per runs directory, and says in its log what it did.
"""

from __future__ import annotations

import logging
import os
import sys
import traceback
from pathlib import Path

from gymnast.config.resolve import load
from gymnast.errors import GymnastError
from gymnast.film.choose import Chosen, choose
from gymnast.film.make import Order, already_filmed, film_episode
from gymnast.film.stage import without_screen
from gymnast.runs import films, lock
from gymnast.runs.run import Run


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
    """The best and the last evaluation, unless they are filmed already; problems are told."""
    cfg = load(run.config(), at=str(run.path / "config.yaml"))
    done: list[Chosen] = []
    for which in ("best", "last"):
        try:
            chosen = choose(run, which)
            if any((c.version, c.index) == (chosen.version, chosen.index) for c in done):
                continue
            done.append(chosen)
            name = films.name(chosen.kind, chosen.version, which)
            out = run.path / films.FOLDER / f"{name}.mp4"
            if not already_filmed(chosen, out):
                about = film_episode(cfg, chosen, Order(out, threads=1))
                shown = f"{about['frames']} frames, return {about['return']:g}"
                print(f"{out.name}: {shown}", flush=True)
        except GymnastError as problem:
            if not run.path.exists():
                return
            print(f"{which}: {problem}", flush=True)


if __name__ == "__main__":
    main()
