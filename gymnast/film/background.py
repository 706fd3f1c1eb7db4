"""Filming after training: a process of its own that nobody waits for."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

from gymnast.config.config import Config
from gymnast.processes import guard
from gymnast.runs import films

VARIABLE = "GYMNAST_FILM"
"""`off` keeps every run from being filmed by itself."""


def film_in_background(run: Path, cfg: Config[Any]) -> None:
    """Film what was scored. Training neither waits for this nor fails with it."""
    stored = cfg.traces.eval and cfg.eval.every is not None
    if not stored or not cfg.traces.film or os.environ.get(VARIABLE) == "off":
        return
    try:
        folder = run / films.FOLDER
        folder.mkdir(exist_ok=True)
        with (folder / films.LOG).open("ab") as log:
            child = subprocess.Popen(
                [sys.executable, "-m", "gymnast.film.worker", str(run.resolve())],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # a Ctrl-C in the terminal is not for it
                env=guard.detached(),
            )
        threading.Thread(target=child.wait, daemon=True).start()  # no zombie in a long session
    except (OSError, RuntimeError) as problem:
        logging.getLogger("gymnast").warning("the filmer could not be started: %s", problem)
