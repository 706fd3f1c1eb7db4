"""Hyperparameter searches: starts, lists, describes, stops and removes studies."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

from gymnast.api.overrides import Overrides, parse_overrides
from gymnast.config.form import setting_text as setting_text
from gymnast.errors import UsageError
from gymnast.runs import removal, store
from gymnast.runs.store import RunsDir
from gymnast.sweep import study as studies
from gymnast.sweep.options import PROCESS
from gymnast.sweep.options import SAMPLERS as SAMPLERS
from gymnast.sweep.record import (
    BestTrial,
    StartedSweep,
    SweepImportance,
    SweepPlan,
    SweepProgress,
    SweepStatus,
    SweepSummary,
)

if TYPE_CHECKING:
    from gymnast.config.plain_value import PlainValue
    from gymnast.sweep.autotune import TuningPlan
    from gymnast.sweep.launch import PreparedStudy
    from gymnast.sweep.state import StudyState
    from gymnast.sweep.study import Study

STOP_SECONDS = 30.0
"""How long `sweep_stop` waits for the process of a study."""


@dataclass(frozen=True)
class SpaceText:
    """A search space in YAML."""

    target: str
    """`ENV[:variant]` that it is for."""
    text: str


@dataclass(frozen=True)
class RemovedSweep:
    """A study that was deleted, or would be."""

    name: str
    deleted: bool
    runs: tuple[str, ...]
    """Ids of the runs that were deleted with it."""
    bytes: int
    """Size of these runs."""


def sweep_init(target: str = "", *, wandb: str = "", file: str = "sweep.yaml") -> SpaceText:
    """Returns a commented search space for `ENV[:variant]`, to be edited and given to `sweep_start`. `wandb`:
    instead, the space of this config of a W&B sweep, as YAML text, whose program is the default of `target`;
    `file`: its name, for messages."""
    if wandb:
        from gymnast.sweep.space_file import parse_space
        from gymnast.sweep.wandb_space import convert_sweep

        text = convert_sweep(wandb, file, target or None)
        return SpaceText(parse_space(text, f"the space of {file}").space.target, text)
    if not target:
        raise UsageError("name an environment", fix="gymnast sweep init CartPole-v1")
    from gymnast.sweep.shipped import space_text

    return SpaceText(target, space_text(target))


def sweep_plan(
    space: str,
    *,
    source: str = "",
    trials: int | None = None,
    seeds: int | None = None,
    sampler: str | None = None,
    proposer: str | None = None,
    mode: str | None = None,
    minutes: float | None = None,
    total_env_steps: int | None = None,
    jobs: int = 1,
    runs_dir: RunsDir = None,
) -> SweepPlan:
    """Returns what `sweep_start` with these arguments would do, with an estimate of time and disk space from
    a short training, and starts nothing. Raises the same errors."""
    prepared = prepare(
        space,
        source=source,
        trials=trials,
        seeds=seeds,
        sampler=sampler,
        proposer=proposer,
        mode=mode,
        minutes=minutes,
        total_env_steps=total_env_steps,
        jobs=jobs,
        runs_dir=runs_dir,
    )
    return prepared.estimate


def sweep_start(
    space: str,
    *,
    name: str = "",
    source: str = "",
    trials: int | None = None,
    seeds: int | None = None,
    sampler: str | None = None,
    proposer: str | None = None,
    mode: str | None = None,
    minutes: float | None = None,
    total_env_steps: int | None = None,
    jobs: int = 1,
    runs_dir: RunsDir = None,
) -> StartedSweep:
    """Starts a hyperparameter search in the background and returns at once. Every mistake in the space is an
    error before anything starts.

    `space`: a YAML text as `sweep_init` returns it; `name`: of the study, by default made
    from the environment; `source`: a run or RUN:CHECKPOINT whose weights all trials start from; `trials`:
    number of assignments to try; `seeds`: how many seeds the best ones get; `sampler`: tpe, gp, cmaes, random
    or grid; `proposer`: instead of these, the name of a command in the settings file that proposes trials;
    `mode`: search, or pbt for population-based training; `minutes` and `total_env_steps`: limits of the
    search; `jobs`: how many runs train at once."""
    directory = store.runs_dir(runs_dir)
    prepared = prepare(
        space,
        source=source,
        trials=trials,
        seeds=seeds,
        sampler=sampler,
        proposer=proposer,
        mode=mode,
        minutes=minutes,
        total_env_steps=total_env_steps,
        jobs=jobs,
        runs_dir=directory,
    )
    study = create(prepared, name, jobs=jobs, runs_dir=directory)
    return launch_here(study, prepared.estimate)


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


def tune_preset(
    target: str,
    *,
    minutes: float = 30.0,
    overrides: Overrides | None = None,
    name: str = "",
    jobs: int = 1,
    seed: int = 0,
    runs_dir: RunsDir = None,
) -> StartedSweep:
    """Starts to look for better hyperparameters of a preset, `ENV[:variant]`, in the background: a study
    around its values that takes about this many minutes, with the confirmation of the winner against the
    preset on fresh seeds. `sweep_best` returns the result as a variant of the preset.

    `overrides`: settings that all trials have in common; `name`: of the study; `jobs`: how many runs train at
    once; `seed`: of the proposals, and the first one of the trials."""
    planned = plan_tuning(
        target, minutes=minutes, overrides=overrides, jobs=jobs, seed=seed, runs_dir=runs_dir
    )
    study = create(planned.prepared, name, jobs=jobs, runs_dir=runs_dir)
    return launch_here(study, planned.prepared.estimate)


# For commands that own the terminal.


def plan_tuning(
    target: str,
    *,
    minutes: float,
    overrides: Overrides | None = None,
    jobs: int = 1,
    seed: int = 0,
    runs_dir: RunsDir = None,
) -> TuningPlan:
    """Returns the search that `tune_preset` would start."""
    from gymnast.sweep import autotune

    if not 0 < minutes < 1e5:
        raise UsageError(f"{minutes:g} minutes cannot be planned", fix="--minutes 30")
    settings = {key: as_plain(value) for key, value in parse_overrides(overrides).items()}
    directory = store.runs_dir(runs_dir)
    return autotune.plan_tuning(
        target, minutes, settings=settings, jobs=jobs, seed=seed, runs_dir=directory
    )


def as_plain(value: object) -> PlainValue:
    """Returns a value of an override, whatever a caller passes: it is validated with the config."""
    return cast("PlainValue", value)


def prepare(
    space: str,
    *,
    file: str = "space",
    source: str = "",
    jobs: int = 1,
    runs_dir: RunsDir = None,
    **options: object,
) -> PreparedStudy:
    """Returns a study that was checked, with an estimate of what it takes. `space`: a YAML text; `file`: its
    name in messages; `options`: those of `SearchOptions`, None leaves them to the space."""
    from gymnast.sweep import launch
    from gymnast.sweep.space_file import parse_space

    if jobs < 1:
        raise UsageError(f"a study needs at least one job, not {jobs}")
    read = parse_space(space, file)
    if options.get("proposer"):
        options["sampler"] = PROCESS
    chosen = read.options(lookahead=jobs, **options)
    directory = store.runs_dir(runs_dir)
    if source:
        # By path: `@last` will be a trial as soon as the first one trains.
        run, named = store.resolve(source, directory)
        source = f"{run.path.resolve()}:{named}" if named else str(run.path.resolve())
    return launch.prepare(read, chosen, runs_dir=directory, source=source, jobs=jobs)


def read_file(path: str) -> str:
    """Returns the text of a space file. Raises UsageError if it cannot be read."""
    try:
        return Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text"
        fix = "gymnast sweep init ENV > space.yaml"
        raise UsageError(f"the space cannot be read: {reason}", at=path, fix=fix) from None


def parse_env_steps(text: str | None) -> int | None:
    """Returns the number of a text such as 5M. Raises UsageError if it is not one."""
    from gymnast.config.numbers import parse_count

    try:
        return None if text is None else parse_count(text)
    except ValueError as error:
        raise UsageError(f"--total-env-steps: {error}") from None


def create(
    prepared: PreparedStudy, name: str, *, jobs: int, jobs_on: str = "", runs_dir: RunsDir = None
) -> Study:
    """Creates a prepared study. `name`: empty for one that is made from the environment; `jobs_on`: the place
    where its jobs train, as in `gymnast train --jobs-on`."""
    from gymnast.sweep import launch

    directory = store.runs_dir(runs_dir)
    name = name or free_name(prepared.file.space.target, directory)
    return launch.create(prepared, name, runs_dir=directory, jobs=jobs, jobs_on=jobs_on)


def free_name(target: str, directory: Path) -> str:
    """Returns a name for a study of a target that is not taken: `cartpole-1`."""
    stem = "".join(c if c.isalnum() else "-" for c in target.split(":")[0].lower()).strip("-")
    stem = stem.rpartition("-v")[0] or stem
    taken = {path.name for path in studies.list_studies(directory)}
    return next(name for i in range(1, 10_000) if (name := f"{stem}-{i}") not in taken)


def reopened(
    study: str, *, jobs: int | None = None, runs_dir: RunsDir = None, **options: object
) -> tuple[Study, bool]:
    """Returns a study with changed options, and whether it has to be reopened because it was over."""
    from gymnast.sweep import launch

    return launch.changed(studies.find(study, store.runs_dir(runs_dir)), jobs=jobs, **options)


def run_here(
    study: Study, *, report: Callable[[SweepProgress], None], reopen: bool = False
) -> bool:
    """Runs a study in this process, until it is over or Ctrl-C arrives; True if it is over. `report` is
    called after every result."""
    from gymnast.sweep import launch
    from gymnast.sweep.report import summarize

    known = -1

    def changed(state: StudyState) -> None:
        nonlocal known
        done = len(state.search.results) + len(state.confirm.results)
        if done != known:
            known = done
            confirm = state.confirm
            report(SweepProgress(summarize(study, state), len(confirm.results), len(confirm.units)))

    with launch.catch_signals() as should_stop:
        state = launch.run_study(study, report=changed, should_stop=should_stop, reopen=reopen)
    return bool(state.ended) and state.confirmed


def launch_here(
    study: Study, plan: SweepPlan | None = None, *, reopen: bool = False
) -> StartedSweep:
    """Runs a study in the background, in a process that outlives this one."""
    from gymnast.sweep import launch

    pid = launch.start_in_background(study, reopen=reopen)
    return StartedSweep(study.name, str(study.path), pid, plan, commands_of(study.name))


def commands_of(name: str) -> tuple[str, ...]:
    """Returns the commands that show and stop a study."""
    verbs: Sequence[str] = ("status", "best", "stop", "resume")
    return tuple(f"gymnast sweep {verb} {name}" for verb in verbs)
