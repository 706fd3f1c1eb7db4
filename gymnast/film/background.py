"""Starts the background process that makes the videos of a run after training, and its trajectories."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import threading
from pathlib import Path

from gymnast.config.config import Config
from gymnast.processes import guard
from gymnast.runs import files, films, layout

VARIABLE = "GYMNAST_FILM"
"""Environment variable; `off` disables the videos that are made automatically."""


def film_in_background(run: Path, cfg: Config) -> None:
    """Starts a process that films the evaluations of the run in directory `run` and, with
    `traces.trajectories`, writes their trajectories; training neither waits for it nor fails with it. Does
    nothing if evaluations are not stored, or if neither is wanted."""
    stored = cfg.traces.eval and cfg.eval.every is not None
    wanted = {
        "films": cfg.traces.film and os.environ.get(VARIABLE) != "off",
        "trajectories": cfg.traces.trajectories,
    }
    parts = [part for part, is_wanted in wanted.items() if is_wanted]
    if not stored or not parts:
        return
    try:
        folder = layout.VIDEOS.path(run)
        folder.mkdir(exist_ok=True)
        with files.refuse_link(folder / films.LOG).open("ab") as log:
            child = subprocess.Popen(
                [sys.executable, "-P", "-m", "gymnast.film.worker", str(run.resolve()), *parts],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # not interrupted by Ctrl-C in the terminal
                env=guard.detached_environ(),
            )
        # Reaps the process when it ends, so that it does not become a zombie of a long session.
        threading.Thread(target=child.wait, daemon=True).start()
    except (OSError, RuntimeError) as problem:
        logging.getLogger("gymnast").warning(
            "the process that makes videos and trajectories could not be started: %s", problem
        )
