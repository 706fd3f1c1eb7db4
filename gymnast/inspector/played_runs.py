"""Runs without training, with which games of environments are stored that have no run of their own.

There is one per config: playing the same environment again adds to the same run. Its name is `played-ENV`, it
has the tag `played` and the status `finished`, and neither checkpoints nor metrics.
"""

from __future__ import annotations

import re
from itertools import count
from pathlib import Path

from gymnast.config.resolve import ResolvedConfig
from gymnast.config.serialize import save
from gymnast.runs import durable, lock, store
from gymnast.runs.run import Run
from gymnast.runs.summary import PLAYED_TAG

_LOCK = ".played-lock"


def played_run(resolved: ResolvedConfig, runs_dir: Path) -> Run:
    """Returns the run for games with this config, and creates it if there is none. Safe if two processes ask
    for it at once."""
    config, text = resolved.config, save(resolved.config)
    with durable.explain_os_errors(runs_dir):
        runs_dir.mkdir(parents=True, exist_ok=True)
    with lock.exclusive(runs_dir / _LOCK):
        runs = store.list_runs(runs_dir)
        for summary in runs:
            # Compared as a whole: an edited preset must not be replayed with its old settings.
            if summary.is_untrained and Run(summary.path).config_text() == text:
                return Run(summary.path)
        base = "played-" + re.sub(r"[^\w.-]+", "-", config.env.id)
        taken = {run.name for run in runs}
        names = (base if n == 1 else f"{base}-{n}" for n in count(1))
        name = next(name for name in names if name not in taken)
        with store.reserve_name(name, runs_dir):
            return Run.create(
                runs_dir,
                config_text=text,
                preset=resolved.preset,
                seed=config.seed,
                name=name,
                tags=[PLAYED_TAG],
                provenance=resolved.provenance,
                env=config.env.id,
                algo=config.algo.name,
                threshold=config.facts.threshold,
                status="finished",
                reason="played by a person, not trained",
            )
