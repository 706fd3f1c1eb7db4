"""A short training before a study starts: whether its target trains, how fast, and how much disk it takes."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

from gymnast.errors import UsageError
from gymnast.import_object import import_frozen
from gymnast.progress import ProgressCallback, no_progress
from gymnast.runs.removal import run_size
from gymnast.runs.run import Run
from gymnast.training.request import TrainRequest

PROBE_MINUTES = 0.03
"""Wall time of the training."""


@dataclass(frozen=True)
class Probe:
    """The measurements of a short training."""

    n_envs: int
    """Number of env copies."""
    budget: int
    """Env steps of a whole run."""
    steps_per_second: float
    bytes: int
    """Size of a run directory with one checkpoint."""
    threshold: float | None


def probe(
    *,
    target: str,
    overrides: Mapping[str, object],
    source: str | None = None,
    progress: ProgressCallback = no_progress,
) -> Probe:
    """Trains for a few seconds in a temporary directory. `source`: the path of the run to start from.
    Raises whatever the training raises, and UsageError if the target has no budget in env steps."""
    progress(0, 1)
    training = import_frozen("gymnast.training.foreground")
    extra = {"stop.minutes": PROBE_MINUTES, "eval.every": "off", "eval.confirm_episodes": 1}
    extra |= {"eval.mode": "inline", "traces.film": "off", "checkpoint.keep": 1}
    config = _config(target, overrides)
    if config.stop.env_steps is None:
        fix = "add `stop.env_steps: 100k` to the settings of the space"
        raise UsageError(f"{target} has no budget in env steps, which trials need", fix=fix)
    settings = {"stop.env_steps": config.stop.env_steps, **overrides, **extra}
    with tempfile.TemporaryDirectory() as folder:
        request = TrainRequest(target, settings, seed=0, source=source)
        with redirect_stdout(StringIO()), redirect_stderr(StringIO()):  # its messages are not news
            training.train_here(request, runs_dir=Path(folder), show="nothing")
        run = next(Run(path) for path in Path(folder).iterdir() if (path / "run.json").exists())
        clocks = run.info["clocks"]
        trained = run.config()
        return Probe(
            n_envs=trained.env.n_envs,
            budget=int(trained.stop.env_steps or 0),
            steps_per_second=clocks["env_steps"] / max(clocks["seconds"], 1e-3),
            bytes=run_size(run.path),
            threshold=trained.facts.threshold,
        )


def _config(target: str, overrides: Mapping[str, object]):
    from gymnast.config.resolve import resolve

    return resolve(target, overrides).config
