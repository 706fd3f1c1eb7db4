"""Checks a request to train without training: everything that needs its environment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gymnast.evaluation.rescore import find_checkpoint
from gymnast.progress import ProgressCallback, no_progress
from gymnast.records import from_json
from gymnast.training.foreground import prepare_checked
from gymnast.training.lifecycle.summary import Preflight
from gymnast.training.request import TrainRequest


def check_request(
    *,
    request: Mapping[str, object],
    runs_dir: str,
    pinned: Sequence[str] = (),
    progress: ProgressCallback = no_progress,
) -> Preflight:
    """Returns what training would do, and writes nothing. `request`: the fields of a TrainRequest.

    Raises a GymnastError for an invalid config, a missing package, an environment that cannot be created, a
    source without a checkpoint, and a metric in `pinned` that is never reported."""
    progress(0, 1)
    asked = from_json(TrainRequest, request)
    if asked.source:
        find_checkpoint(asked.source, runs_dir)
    prepared = prepare_checked(asked, pinned)
    try:
        return prepared.preflight()
    finally:
        prepared.collector.close()
