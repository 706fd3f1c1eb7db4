"""Hyperparameter searches that exist: lists, describes, stops and removes studies."""

from __future__ import annotations

import time
from dataclasses import dataclass

from gymnast.errors import UsageError
from gymnast.runs import removal, store
from gymnast.runs.store import RunsDir
from gymnast.sweep import study as studies
from gymnast.sweep.record import BestTrial, SweepImportance, SweepStatus, SweepSummary

STOP_SECONDS = 30.0
"""How long `sweep_stop` waits for the process of a study."""


@dataclass(frozen=True)
class RemovedSweep:
    """A study that was deleted, or would be."""

    name: str
    deleted: bool
    runs: tuple[str, ...]
    """Ids of the runs that were deleted with it."""
    bytes: int
    """Size of these runs."""


def sweep_list(*, runs_dir: RunsDir = None) -> list[SweepSummary]:
    """Returns every study, the newest first."""
    from gymnast.sweep.report import summarize

    found = [
        summarize(studies.load(path)) for path in studies.list_studies(store.runs_dir(runs_dir))
    ]
    return sorted(found, key=lambda one: (-one.created, one.name))


def sweep_status(study: str, *, curves: bool = False, runs_dir: RunsDir = None) -> SweepStatus:
    """Returns a study with all of its trials. `study`: its name or a unique prefix, or @last; `curves`: with
    the evaluation curves of their seeds."""
    from gymnast.sweep.report import describe

    return describe(studies.find(study, store.runs_dir(runs_dir)), curves=curves)


def sweep_stop(study: str, *, runs_dir: RunsDir = None) -> SweepSummary:
    """Stops a study and its runs, all of which can be resumed, and returns its status."""
    from gymnast.sweep.report import summarize

    found = studies.find(study, store.runs_dir(runs_dir))
    if not found.is_running:
        raise UsageError(f"the study {found.name} is not running", fix="gymnast sweep list")
    (found.path / studies.STOP).touch()
    deadline = time.monotonic() + STOP_SECONDS
    while found.is_running and time.monotonic() < deadline:
        time.sleep(0.1)
    return summarize(found)


def sweep_best(study: str, *, runs_dir: RunsDir = None) -> BestTrial:
    """Returns the best trial of a study: its settings as a command and as a variant of a preset, and whether
    it was better than the baseline on fresh seeds."""
    from gymnast.sweep.report import best_trial

    return best_trial(studies.find(study, store.runs_dir(runs_dir)))


def sweep_importance(study: str, *, runs_dir: RunsDir = None) -> SweepImportance:
    """Returns how much each parameter of a study matters, with 95 % intervals and the number of trials."""
    from gymnast.sweep.importance import importance

    found = studies.find(study, store.runs_dir(runs_dir))
    return importance(found.name, found.space, found.plan, found.state().search)


def sweep_remove(
    study: str, *, with_runs: bool = False, dry_run: bool = False, runs_dir: RunsDir = None
) -> RemovedSweep:
    """Deletes a study. Its runs stay, unless `with_runs`. `dry_run`: only returns what would be deleted."""
    found = studies.find(study, store.runs_dir(runs_dir))
    listed = store.list_runs(found.runs_dir, f"tag={found.name}") if with_runs else []
    if found.is_running:
        raise UsageError(
            f"the study {found.name} is running", fix=f"gymnast sweep stop {found.name}"
        )
    planned = removal.plan_removal(listed, listed)
    if not dry_run:
        for run in listed:
            removal.remove(store.resolve(run.id, found.runs_dir)[0])
        studies.remove(found)
    ids = tuple(run.id for run in listed)
    return RemovedSweep(found.name, not dry_run, ids, planned.bytes)
