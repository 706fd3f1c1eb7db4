"""Starts and resumes hyperparameter searches in the background."""

from __future__ import annotations

from typing import Unpack

from gymnast.api.sweep_options import SweepOptions, TuningOptions
from gymnast.api.sweep_prepare import create, launch_here, plan_tuning, prepare, reopened
from gymnast.errors import UsageError
from gymnast.runs import store
from gymnast.runs.store import RunsDir
from gymnast.sweep.record import StartedSweep, SweepPlan


def sweep_plan(
    space: str, *, runs_dir: RunsDir = None, **options: Unpack[SweepOptions]
) -> SweepPlan:
    """Returns what `sweep_start` with these arguments would do, with an estimate of time and disk space from
    a short training, and starts nothing. Raises the same errors."""
    return prepare(space, runs_dir=runs_dir, **options).estimate


def sweep_start(
    space: str,
    *,
    name: str = "",
    jobs_on: str | None = None,
    runs_dir: RunsDir = None,
    **options: Unpack[SweepOptions],
) -> StartedSweep:
    """Starts a hyperparameter search in the background and returns at once. Every mistake in the space is an
    error before anything starts.

    `space`: a YAML text as `sweep_init` returns it; `name`: of the study, by default made from the
    environment; `jobs_on`: a provider of the settings file, where the runs train instead of on this machine;
    `options`: see `SweepOptions`. The samplers are tpe, surrogate, gp, cmaes, random and grid."""
    directory = store.runs_dir(runs_dir)
    place = _configured(jobs_on)
    prepared = prepare(space, runs_dir=directory, **options)
    jobs = options.get("jobs", 1)
    study = create(prepared, name, jobs=jobs, jobs_on=place, runs_dir=directory)
    return launch_here(study, prepared.estimate)


def sweep_resume(
    study: str,
    *,
    trials: int | None = None,
    minutes: float | None = None,
    jobs: int | None = None,
    runs_dir: RunsDir = None,
) -> StartedSweep:
    """Continues an interrupted study in the background, with the same proposals as if it had not been
    interrupted. With a larger number of `trials` or `minutes`, one that was over continues."""
    found, reopen = reopened(study, trials=trials, minutes=minutes, jobs=jobs, runs_dir=runs_dir)
    if found.is_running:
        raise UsageError(f"the study {found.name} is running already")
    return launch_here(found, None, reopen=reopen)


def tune_preset(
    target: str,
    *,
    name: str = "",
    jobs_on: str | None = None,
    runs_dir: RunsDir = None,
    **options: Unpack[TuningOptions],
) -> StartedSweep:
    """Starts to look for better hyperparameters of a preset, `ENV[:variant]`, in the background: a study
    around its values that takes at most `minutes`, with the confirmation of the winner against the preset on
    fresh seeds. `sweep_best` returns the result as a variant of the preset.

    `name`: of the study; `jobs_on`: a provider of the settings file, where the runs train instead of on this
    machine; `options`: see `TuningOptions`."""
    place = _configured(jobs_on)
    planned = plan_tuning(target, runs_dir=runs_dir, **options)
    jobs = options.get("jobs", 1)
    study = create(planned.prepared, name, jobs=jobs, jobs_on=place, runs_dir=runs_dir)
    return launch_here(study, planned.prepared.estimate)


def _configured(jobs_on: str | None) -> str:
    """Returns the name of a provider of the settings file; empty for this machine. Raises UsageError if the
    file has none with this name."""
    if jobs_on is None:
        return ""
    from gymnast.jobs.remote.provider import configured_provider

    return configured_provider(jobs_on).name
