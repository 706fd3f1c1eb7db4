"""The steps of starting a study, for commands that show its plan first or run it in their own process."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Unpack, cast

from gymnast.api.overrides import parse_overrides
from gymnast.api.sweep_options import SweepOptions, TuningOptions
from gymnast.errors import UsageError
from gymnast.runs import store
from gymnast.runs.store import RunsDir
from gymnast.sweep import study as studies
from gymnast.sweep.options import PROCESS
from gymnast.sweep.options import SAMPLERS as SAMPLERS
from gymnast.sweep.record import StartedSweep, SweepPlan, SweepProgress

if TYPE_CHECKING:
    from gymnast.config.plain_value import PlainValue
    from gymnast.sweep.autotune import TuningPlan
    from gymnast.sweep.launch import PreparedStudy
    from gymnast.sweep.state import StudyState
    from gymnast.sweep.study import Study

MINUTES = 30.0
"""Wall time in which a preset is tuned, unless it is given."""


def prepare(
    space: str, *, file: str = "space", runs_dir: RunsDir = None, **options: Unpack[SweepOptions]
) -> PreparedStudy:
    """Returns a study that was checked, with an estimate of what it takes. `space`: a YAML text; `file`: its
    name in messages."""
    from gymnast.sweep import launch
    from gymnast.sweep.space_file import parse_space

    chosen: dict[str, object] = {**options}
    source, jobs = options.get("source", ""), options.get("jobs", 1)
    for name in ("source", "jobs"):
        chosen.pop(name, None)
    if jobs < 1:
        raise UsageError(f"a study needs at least one job, not {jobs}")
    read = parse_space(space, file)
    if options.get("proposer"):
        chosen["sampler"] = PROCESS
    search = read.options(lookahead=jobs, **chosen)
    directory = store.runs_dir(runs_dir)
    if source:
        # By path: `@last` will be a trial as soon as the first one trains.
        run, named = store.resolve(source, directory)
        source = f"{run.path.resolve()}:{named}" if named else str(run.path.resolve())
    return launch.prepare(read, search, runs_dir=directory, source=source, jobs=jobs)


def plan_tuning(
    target: str, *, runs_dir: RunsDir = None, **options: Unpack[TuningOptions]
) -> TuningPlan:
    """Returns the search that `tune_preset` would start."""
    from gymnast.sweep import autotune

    minutes = options.get("minutes", MINUTES)
    if not 0 < minutes < 1e5:
        raise UsageError(f"{minutes:g} minutes cannot be planned", fix="--minutes 30")
    given = parse_overrides(options.get("overrides"))
    return autotune.plan_tuning(
        target,
        minutes,
        settings={key: as_plain(value) for key, value in given.items()},
        jobs=options.get("jobs", 1),
        seed=options.get("seed", 0),
        objective=options.get("objective", "area"),
        runs_dir=store.runs_dir(runs_dir),
    )


def as_plain(value: object) -> PlainValue:
    """Returns a value of an override, whatever a caller passes: it is validated with the config."""
    return cast("PlainValue", value)


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
