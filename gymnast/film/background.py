"""Starts the background process that makes the videos of a run after training."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import threading
from pathlib import Path

from gymnast.config.config import Config
from gymnast.processes import guard
from gymnast.runs import films, layout

VARIABLE = "GYMNAST_FILM"
"""Environment variable; `off` disables the videos that are made automatically."""


def film_in_background(run: Path, cfg: Config) -> None:
    """Starts a process that films the evaluations of the run in directory `run`; training neither
    waits for it nor fails with it. Does nothing if evaluations are not stored, `traces.film` is
    off, or GYMNAST_FILM=off."""
    stored = cfg.traces.eval and cfg.eval.every is not None
    if not stored or not cfg.traces.film or os.environ.get(VARIABLE) == "off":
        return
    try:
        folder = layout.VIDEOS.path(run)
        folder.mkdir(exist_ok=True)
        with (folder / films.LOG).open("ab") as log:
            child = subprocess.Popen(
                [sys.executable, "-m", "gymnast.film.worker", str(run.resolve())],
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
            "the process that makes videos could not be started: %s", problem
        )
