"""Checks a request to train without training: everything that needs its environment."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path

from gymnast.evaluation.rescore import find_checkpoint
from gymnast.processes.env_output import separate_env_output
from gymnast.training.foreground import prepare_checked
from gymnast.training.lifecycle.summary import Preflight
from gymnast.training.request import TrainRequest


def check_request(request: TrainRequest, runs_dir: Path, pinned: Sequence[str] = ()) -> Preflight:
    """Returns what training would do, and writes nothing. Raises a GymnastError for an invalid config, a
    missing package, an environment that cannot be created, a source without a checkpoint, and a metric in
    `pinned` that is never reported."""
    with nullcontext(sys.stdout) if request.debug else separate_env_output():
        if request.source:
            find_checkpoint(request.source, runs_dir)
        prepared = prepare_checked(request, pinned)
        try:
            return prepared.preflight()
        finally:
            prepared.collector.close()
