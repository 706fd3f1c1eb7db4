"""Checks a study, estimates what it will take, creates it, and runs it here or in the background."""

from __future__ import annotations

import math
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from gymnast import tasks
from gymnast.config.problems import InvalidConfig
from gymnast.errors import UsageError
from gymnast.jobs.remote.provider import find_provider, require_programs
from gymnast.processes import guard
from gymnast.records import to_json
from gymnast.runs import document, durable, lock, trust
from gymnast.sweep import pbt
from gymnast.sweep import study as studies
from gymnast.sweep.confirm import confirmation, confirmation_units
from gymnast.sweep.decide import Plan
from gymnast.sweep.executor import run_name
from gymnast.sweep.jobs_executor import JobsExecutor
from gymnast.sweep.options import SearchOptions
from gymnast.sweep.probe import Probe
from gymnast.sweep.proposer import make_proposer
from gymnast.sweep.record import SweepPlan
from gymnast.sweep.report import planned_env_steps, planned_trials
from gymnast.sweep.runner import Runner
from gymnast.sweep.space import Space
from gymnast.sweep.space_file import SpaceFile, contradictions
from gymnast.sweep.standings import standings
from gymnast.sweep.state import StudyState
from gymnast.sweep.study import LOG, RESULT, STOP, Study
from gymnast.sweep.time_limit import START_SECONDS


@dataclass(frozen=True)
class PreparedStudy:
    """A study that was checked but not created."""

    file: SpaceFile
    plan: Plan
    source: str
    settings: dict[str, int]
    """Settings that the target itself determines, made explicit."""
    estimate: SweepPlan


def prepare(
    file: SpaceFile, options: SearchOptions, *, runs_dir: Path, source: str = "", jobs: int = 1
) -> PreparedStudy:
    """Returns a study that can be created, after a short training of its target. Raises a GymnastError for
    every mistake that can be known before the start."""
    measured = measure(file, source)
    _refuse_contradictions(file.space, measured)
    return prepare_measured(file, options, measured, runs_dir=runs_dir, source=source, jobs=jobs)


def prepare_measured(
    file: SpaceFile,
    options: SearchOptions,
    measured: Probe,
    *,
    runs_dir: Path,
    source: str = "",
    jobs: int = 1,
) -> PreparedStudy:
    """Returns a study that can be created, from what a short training has shown."""
    # The parent has no environment, so the number of copies that its spaces suggest must be explicit.
    names = {parameter.name for parameter in file.space.parameters}
    pinned = {} if "env.n_envs" in names else {"env.n_envs": measured.n_envs}
    plan = studies.make_plan(file.space, options, file.objective, measured.budget)
    _refuse_too_few_env_steps(plan)
    if options.mode == "pbt":
        settings = {**pinned, **file.space.settings}
        pbt.refuse_short_intervals(replace(file.space, settings=settings), plan)
    make_proposer(plan, runs_dir)
    estimate = _estimate(file, plan, measured, runs_dir, jobs)
    return PreparedStudy(file, plan, source, pinned, estimate)


def _refuse_contradictions(space: Space, measured: Probe) -> None:
    """Raises InvalidConfig if values contradict the number of copies that the environment suggests."""
    pinned = replace(space, settings={"env.n_envs": measured.n_envs, **space.settings})
    is_known = space.config(None).config.env.n_envs == measured.n_envs
    varies = any(one.name == "env.n_envs" for one in space.parameters)
    if not is_known and not varies and (problems := contradictions(pinned)):
        raise InvalidConfig(problems)


def _refuse_too_few_env_steps(plan: Plan) -> None:
    """Raises UsageError if a search would end before its first trial."""
    total, share = plan.options.total_env_steps, plan.options.final_share
    needed = plan.first_env_steps
    if total is not None and needed > total * (1 - share):
        least = math.ceil(needed / (1 - share))
        what = f"{total:,} env steps end before the first trial, which trains for {needed:,}"
        raise UsageError(what, fix=f"use at least {least:,}, or set a smaller stop.env_steps")


def measure(file: SpaceFile, source: str = "") -> Probe:
    """Returns what a short training of the target shows. `source`: path of the run to start from. Needs the
    environment, so it is a task."""
    task = tasks.start(
        "gymnast.sweep.probe:probe",
        {
            "target": file.space.target,
            "overrides": to_json(dict(file.space.settings)),
            "source": source or None,
        },
        Probe,
        title=f"probe {file.space.target}",
    )
    return task.finish()


def create(
    prepared: PreparedStudy, name: str, *, runs_dir: Path, jobs: int, jobs_on: str = ""
) -> Study:
    """Creates the directory of a prepared study. `jobs_on`: the place where its jobs train; empty: this
    machine. Raises UsageError if the name is taken, or if there is no such place."""
    if jobs_on:
        require_programs(find_provider(jobs_on))
    return studies.create(
        name,
        prepared.file.space,
        prepared.plan,
        runs_dir=runs_dir,
        source=prepared.source,
        settings=prepared.settings,
        jobs=jobs,
        jobs_on=jobs_on,
    )


def run_study(
    study: Study,
    *,
    report: Callable[[StudyState], None] = lambda _: None,
    should_stop: Callable[[], bool] = lambda: False,
    reopen: bool = False,
) -> StudyState:
    """Runs a study in this process until it is over or `should_stop`, and returns its state. `reopen`:
    continue although it was over, because its options have changed. Raises RunError if another process runs
    it."""
    with lock.hold(study.path):
        (study.path / STOP).unlink(missing_ok=True)
        session = {"event": "session", "jobs": study.jobs}
        study.journal.append(session | ({"reopened": True} if reopen else {}))
        executor = JobsExecutor(
            study.space.target,
            study.runs_dir,
            study.name,
            study.jobs,
            study.jobs_on,
            study.plan.options.run_minutes,
        )
        runner = Runner(
            study.space,
            study.plan,
            study.journal,
            executor,
            make_proposer(study.plan, study.path),
            study.name,
            study.source,
            lambda: should_stop() or study.stop_requested,
            report,
            jobs=study.jobs,
        )
        state = runner.search()
        if not state.ended:
            return state
        if not runner.confirm(confirmation_units(study.plan, state.search)):
            return runner.state
        state = runner.state
        store_result(study, state)
        _discard_losers(study, state, executor)
        study.journal.append({"event": "confirmed"})
        return study.state()


def start_in_background(study: Study, *, reopen: bool = False) -> int:
    """Starts a process that runs a study and outlives this one; returns its id. `reopen`: see
    `run_study`."""
    log, more = study.path / LOG, ["--reopen"] if reopen else []
    with durable.explain_os_errors(log), log.open("ab") as printed:
        child = subprocess.Popen(
            [sys.executable, "-P", "-m", "gymnast.sweep.worker", str(study.path), *more],
            stdin=subprocess.DEVNULL,
            stdout=printed,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            env=guard.detached_environ(),
        )
    child.returncode = 0  # it outlives this process: no ResourceWarning for not waiting
    return child.pid


@contextmanager
def catch_signals() -> Iterator[Callable[[], bool]]:
    """Yields a function that returns whether SIGINT or SIGTERM has arrived. The first only asks to stop, so
    that nothing is cut off in the middle; a second SIGINT interrupts at once."""
    received: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield lambda: False  # only the main thread may set signal handlers
        return

    def handle(number: int, _: object) -> None:
        if received and number == signal.SIGINT:
            raise KeyboardInterrupt
        received.append(number)

    before = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield lambda: bool(received)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def store_result(study: Study, state: StudyState) -> None:
    """Stores the result of the confirmation, if there was one."""
    found = confirmation(study.plan, state, study.runs_dir)
    if found is not None:
        stored = document.dumps({"version": 1, "confirmation": to_json(found)}, indent=1)
        durable.replace(study.path / RESULT, stored.encode())


def _discard_losers(study: Study, state: StudyState, executor: JobsExecutor) -> None:
    """Deletes the checkpoints of the trials that have lost. Their runs stay."""
    ranked = standings(state.search, study.plan.objective, study.plan.rungs)
    kept = {one.trial for one in ranked[: max(study.plan.options.confirm, 1)]}
    for unit in {(unit.trial, unit.seed): unit for unit in state.search.units}.values():
        if unit.trial not in kept:
            executor.discard(run_name(study.name, "search", unit.trial, unit.seed))


def _estimate(file: SpaceFile, plan: Plan, measured: Probe, runs_dir: Path, jobs: int) -> SweepPlan:
    options = plan.options
    steps = planned_env_steps(plan)
    n_confirmed = min(options.confirm, 1) * (options.confirm + options.baseline)
    confirming = 0 if options.mode == "pbt" else n_confirmed * options.confirm_seeds * plan.budget
    units = planned_trials(plan) * 1.5 + n_confirmed * options.confirm_seeds
    seconds = (steps + confirming) / measured.steps_per_second + units * START_SECONDS
    minutes = seconds / 60 / jobs
    if options.minutes is not None:
        minutes = min(minutes, options.minutes)
    runs = planned_trials(plan) + n_confirmed * options.confirm_seeds
    existing = next(path for path in (runs_dir, *runs_dir.absolute().parents) if path.exists())
    free = shutil.disk_usage(existing).free
    needed = int(runs * measured.bytes)
    warnings: list[str] = []
    if needed > free / 2:
        warnings.append("the runs may take more than half of the free disk space")
    return SweepPlan(
        target=file.space.target,
        trials=planned_trials(plan),
        rungs=plan.rungs,
        parameters=tuple(one.name for one in file.space.parameters),
        assignments=file.space.size,
        env_steps=steps,
        confirm_env_steps=confirming,
        minutes=minutes,
        bytes=needed,
        free_bytes=free,
        jobs=jobs,
        warnings=tuple(warnings),
    )


def changed(study: Study, *, jobs: int | None = None, **options: object) -> tuple[Study, bool]:
    """Returns a study with other options, stored, and whether it has to be reopened because it was over.
    None leaves an option as it is. Raises CodeNotAllowed if it names code and this user did not start it."""
    trust.require_code(study.path, study.space.code, f"the study {study.name}")
    new = study.with_options(**options)
    if jobs is not None:
        new = replace(new, jobs=jobs)
    if new != study:
        new.save()
    state = study.state()
    return new, bool(state.ended) and new.plan.options != study.plan.options
