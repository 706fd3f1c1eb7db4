"""Checks a request to train without training: everything that needs its environment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gymnast.evaluation.rescore import find_checkpoint
from gymnast.progress import ProgressCallback, no_progress
from gymnast.records import from_json
from gymnast.runs import store
from gymnast.training.foreground import prepare_checked
from gymnast.training.lifecycle.label import Label
from gymnast.training.lifecycle.resume import plan_resume
from gymnast.training.lifecycle.start import validate_new_run
from gymnast.training.lifecycle.summary import Preflight
from gymnast.training.request import ResumeRequest, TrainRequest


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
    source = find_checkpoint(asked.source, runs_dir) if asked.source else None
    prepared = prepare_checked(asked, pinned)
    try:
        cfg = prepared.resolved.config
        validate_new_run(cfg, prepared.collector, source, store.runs_dir(runs_dir))
        return prepared.preflight()
    finally:
        prepared.collector.close()


def check_resume(
    *, request: Mapping[str, object], runs_dir: str, progress: ProgressCallback = no_progress
) -> str:
    """Returns the id of the run that a ResumeRequest would continue, and writes nothing. Raises a
    GymnastError if that would be refused, for all reasons that do not need its environment."""
    progress(0, 1)
    asked = from_json(ResumeRequest, request)
    run, named = store.resolve(asked.run, store.runs_dir(runs_dir))
    at, label = asked.checkpoint(named), Label(asked.name, tags=asked.tags)
    plan_resume(run, at=at, overrides=asked.overrides, label=label)
    return run.id
