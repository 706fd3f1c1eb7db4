"""Starts the background process that makes the videos and trajectories of runs after training."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import threading
from pathlib import Path

from gymnast.config.config import Config
from gymnast.processes import guard
from gymnast.runs import film_queue, lock

VARIABLE = "GYMNAST_FILM"
"""Environment variable; `off` disables the videos that are made automatically."""


def film_in_background(run: Path, cfg: Config) -> None:
    """Adds the films of the run in directory `run` to the queue and, with `traces.trajectories`, its
    trajectories, and starts the process that makes them unless it runs; training neither waits for it nor
    fails with it. Does nothing if evaluations are not stored, or if neither is wanted."""
    if not (cfg.traces.eval and cfg.eval.every is not None):
        return
    wanted: dict[film_queue.Part, bool] = {
        "trajectories": cfg.traces.trajectories,
        "films": cfg.traces.film and os.environ.get(VARIABLE) != "off",
    }
    try:
        for part in film_queue.PARTS:
            if wanted[part]:
                film_queue.add(run, part)
        if not any(wanted.values()) or lock.is_locked(film_queue.lock_file(run.parent)):
            return  # the process that runs looks at the queue once more after it released the lock
        child = subprocess.Popen(
            [sys.executable, "-P", "-m", "gymnast.film.worker", str(run.parent.resolve())],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # not interrupted by Ctrl-C in the terminal
            env=guard.detached_environ(),
        )
        # Reaps the process when it ends, so that it does not become a zombie of a long session.
        threading.Thread(target=child.wait, daemon=True).start()
    except (OSError, RuntimeError) as problem:
        logging.getLogger("gymnast").warning(
            "the process that makes videos and trajectories could not be started: %s", problem
        )
