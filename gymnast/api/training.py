"""Starts, resumes and waits for trainings, in background processes that outlive their caller."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from gymnast import tasks
from gymnast.api.overrides import Overrides, parse_overrides
from gymnast.errors import RunError, UsageError
from gymnast.jobs import commands, queue, status
from gymnast.jobs.detach import StartedRun, start_job
from gymnast.jobs.groups import GroupResult, group_result, group_runs
from gymnast.jobs.launch import StartedRuns, check_names_free, run_names, start_jobs
from gymnast.jobs.remote.refresh import refresh, refresh_all
from gymnast.jobs.status import JobStatus, RunStatus
from gymnast.runs import store
from gymnast.runs.store import RunsDir
from gymnast.runs.summary import RunSummary
from gymnast.training.lifecycle.summary import Preflight, preflight_text
from gymnast.training.request import ResumeRequest, TrainRequest

if TYPE_CHECKING:
    from gymnast.jobs.remote.provider import Provider


@dataclass(frozen=True)
class TrainingPlan:
    """The runs that a request to train would start. Nothing has been written."""

    preflight: Preflight
    text: str
    """The same as text: spaces, network, budget, settings that are not defaults, warnings, seeds."""
    seeds: tuple[int, ...]
    """One run is trained per seed."""
    names: tuple[str, ...]
    """The name of each run; empty for runs without a name."""
    is_group: bool
    """Whether the runs are a group of seeds."""
    jobs: int
    """How many of them train at the same time."""


def dry_run(
    target: str,
    *,
    overrides: Overrides | None = None,
    algo: str | None = None,
    seed: int | None = None,
    seeds: int | None = None,
    name: str = "",
    source: str | None = None,
    max_jobs: int | None = None,
    runs_dir: RunsDir = None,
) -> TrainingPlan:
    """Returns what `start` with these arguments would do, and starts nothing. Raises the same errors."""
    request = TrainRequest(target, parse_overrides(overrides), algo, seed, source, name)
    return plan(request, seeds=seeds, max_jobs=max_jobs, runs_dir=runs_dir)


def start(
    target: str,
    *,
    overrides: Overrides | None = None,
    algo: str | None = None,
    seed: int | None = None,
    seeds: int | None = None,
    source: str | None = None,
    name: str = "",
    tags: Sequence[str] = (),
    max_jobs: int | None = None,
    jobs_on: str | None = None,
    requeue: bool = False,
    runs_dir: RunsDir = None,
) -> StartedRuns:
    """Starts to train `ENV[:variant]` in the background and returns at once. Every mistake in the config or
    the environment is an error before anything starts.

    `overrides`: dotted config key -> value, or KEY=VALUE texts as with --set; `algo`: an algorithm instead of
    the one of the variant; `seed`: root seed of all randomness; `seeds`: train this many seeds (seed,
    seed + 1, ...) as a group; `source`: a run or RUN:CHECKPOINT whose weights to start from; `name`: a name
    for the run or, with `seeds`, the group; `max_jobs`: how many jobs may train at once, others wait in a
    queue (default: GYMNAST_JOBS, or one per core); `jobs_on`: a provider of the settings file, where the jobs
    train instead of on this machine; `requeue`: such jobs continue after a preemption."""
    request = TrainRequest(
        target, parse_overrides(overrides), algo, seed, source, name, tuple(tags)
    )
    place = _configured_place(jobs_on, requeue=requeue)
    planned = plan(request, seeds=seeds, max_jobs=max_jobs, runs_dir=runs_dir)
    return launch(request, planned, max_jobs=max_jobs, place=place, runs_dir=runs_dir)


def resume(
    run: str,
    *,
    at: str = "latest",
    overrides: Overrides | None = None,
    fresh_optimizer: bool = False,
    name: str = "",
    tags: Sequence[str] = (),
    max_jobs: int | None = None,
    jobs_on: str | None = None,
    requeue: bool = False,
    runs_dir: RunsDir = None,
) -> StartedRun:
    """Continues a run in the background, exactly from its newest checkpoint, and returns at once. What cannot
    be resumed is an error before anything starts.

    `at`: best, latest, or the env steps of a checkpoint. From an earlier one than the newest, a new run
    branches off, with this `name` and these `tags`; the old run is not changed. `overrides`: as for `start`;
    `fresh_optimizer`: discard the state of the optimizer; `max_jobs`, `jobs_on`, `requeue`: as for `start`.
    """
    request = ResumeRequest(run, at, parse_overrides(overrides), fresh_optimizer, name, tuple(tags))
    place = _configured_place(jobs_on, requeue=requeue)
    return launch_resume(request, max_jobs=max_jobs, place=place, runs_dir=runs_dir)


def train_command(
    target: str,
    *,
    overrides: Mapping[str, object] | Sequence[str] = (),
    algo: str | None = None,
    seed: int | None = None,
    seeds: int | None = None,
    source: str | None = None,
    name: str = "",
    tags: Sequence[str] = (),
) -> str:
    """Returns the command line that does the same as `start` with these arguments, quoted for a POSIX shell.
    The arguments are not checked."""
    from gymnast.config.form import setting_text
    from gymnast.text.train_command import train_command

    if isinstance(overrides, Mapping):
        overrides = [f"{key}={setting_text(value)}" for key, value in overrides.items()]
    return train_command(
        target, overrides, algo=algo, seed=seed, seeds=seeds, source=source, name=name, tags=tags
    )


def wait(
    refs: Sequence[str], *, timeout: float | None = None, runs_dir: RunsDir = None
) -> list[RunStatus]:
    """Waits until all of these runs, jobs or groups have ended, or `timeout` seconds have passed, and returns
    their statuses: first of the ended ones, in the order of their ends."""
    return [*wait_each(refs, timeout=timeout, runs_dir=runs_dir)]


def jobs(*, runs_dir: RunsDir = None) -> list[JobStatus]:
    """Returns every background job with its status, newest first. The providers of jobs that train elsewhere
    are asked; `reason` says which of them did not answer."""
    directory = store.runs_dir(runs_dir)
    refresh(directory)
    return status.jobs(directory)


def cancel(ref: str, *, runs_dir: RunsDir = None) -> RunStatus:
    """Removes a job from the queue, so that it never starts, and returns its status. A job that trains
    already is an error: `stop` saves a checkpoint and ends it."""
    job = status.find(ref, store.runs_dir(runs_dir))
    commands.cancel_queued(job)
    return RunStatus(job.id, "stopped", "stopped before it started", job.path)


def group(ref: str, *, runs_dir: RunsDir = None) -> GroupResult:
    """Returns the scores of a group of seeds: of each run, and their mean with a confidence interval. `ref`:
    the group, or the runs of an ad-hoc group, joined by `+`, as in `a+b+c`."""
    directory = store.runs_dir(runs_dir)
    runs = group_runs(directory, ref) or _joined_runs(ref, directory)
    if not runs:
        raise RunError(f"no run belongs to a group {ref!r}", fix="see `gymnast runs`")
    return group_result(runs)


def _configured_place(jobs_on: str | None, *, requeue: bool) -> Place | None:
    """Returns the provider of the settings file with this name; None without a name."""
    if jobs_on is None:
        if requeue:
            raise UsageError("requeue applies to jobs on a provider", fix="give jobs_on")
        return None
    from gymnast.jobs.remote.provider import configured_provider

    return Place(configured_provider(jobs_on), requeue)


# For programs that show statuses as they arrive, or the plan before they start.


@dataclass(frozen=True)
class Place:
    """A place where jobs train that is not this machine."""

    provider: Provider
    requeue: bool = False
    """Whether they continue after a preemption."""


def wait_each(
    refs: Sequence[str], *, timeout: float | None = None, runs_dir: RunsDir = None
) -> Iterator[RunStatus]:
    """Yields what `wait` returns, each status when its run ends."""
    directory = store.runs_dir(runs_dir)
    members = [member for ref in refs for member in status.group_members(ref, directory)]
    yield from status.wait(members, directory, timeout=timeout, look=refresh_all)


def plan(
    request: TrainRequest,
    *,
    seeds: int | None = None,
    max_jobs: int | None = None,
    pinned: Sequence[str] = (),
    runs_dir: RunsDir = None,
) -> TrainingPlan:
    """Returns the runs that a request would start, after the config, the environment and the names have been
    checked. `seeds`: number of seeds of a group; None for a single run; `pinned`: metrics to be shown."""
    if seeds is not None and seeds < 1:
        raise UsageError(f"a group needs at least one seed, not {seeds}")
    directory = store.runs_dir(runs_dir)
    preflight = _check(request, directory, pinned)
    first = preflight.seed or 0
    chosen = [*range(first, first + (seeds or 1))]
    names = run_names(request.name, chosen, is_group=seeds is not None)
    check_names_free([request.name, *names], directory)
    at_once = min(queue.max_jobs(max_jobs), len(chosen))
    text = preflight_text(preflight)
    if seeds is not None:
        text += f"\n{_group_line(chosen, names, at_once)}"
    return TrainingPlan(preflight, text, tuple(chosen), tuple(names), seeds is not None, at_once)


def launch(
    request: TrainRequest,
    planned: TrainingPlan,
    *,
    max_jobs: int | None = None,
    place: Place | None = None,
    runs_dir: RunsDir = None,
) -> StartedRuns:
    """Starts the runs of a plan in the background, on this machine or in another place."""
    directory = store.runs_dir(runs_dir)
    if place is None:
        limit = queue.max_jobs(max_jobs)
        start: Callable[[TrainRequest], StartedRun] = partial(
            start_job, runs_dir=directory, limit=limit
        )
    else:
        from gymnast.jobs.remote.submit import facts_for, submit_job

        start = partial(
            submit_job,
            provider=place.provider,
            facts=facts_for(place.provider, request, directory),
            runs_dir=directory,
            requeue=place.requeue,
            max_jobs=max_jobs,
        )
    names, is_group = planned.names, planned.is_group
    return start_jobs(
        request, planned.seeds, names, is_group=is_group, start=start, runs_dir=directory
    )


def launch_resume(
    request: ResumeRequest,
    *,
    max_jobs: int | None = None,
    place: Place | None = None,
    runs_dir: RunsDir = None,
) -> StartedRun:
    """Continues a run in the background, on this machine or in another place."""
    run, named = store.resolve(request.run, store.runs_dir(runs_dir))
    info = run.info
    # By path: `@last` may be another run when its turn comes.
    request = replace(request, run=str(run.path.resolve()), at=request.checkpoint(named))
    tasks.start(
        "gymnast.training.plan:check_resume",
        {"request": asdict(request), "runs_dir": str(run.path.parent)},
        str,
        title=f"check {run.id}",
    ).finish()
    directory, shown = run.path.parent, {"target": info["preset"], "seed": info["seed"]}
    check_names_free([request.name], directory)  # of a branch
    if place is None:
        return start_job(request, runs_dir=directory, limit=queue.max_jobs(max_jobs), **shown)
    from gymnast.jobs.remote.submit import facts_for, submit_job

    return submit_job(
        request,
        place.provider,
        facts_for(place.provider, request, directory),
        runs_dir=directory,
        requeue=place.requeue,
        max_jobs=max_jobs,
        **shown,
    )


def _check(request: TrainRequest, directory: Path, pinned: Sequence[str]) -> Preflight:
    """Returns what a request would do. Needs the environment, so it is a task; what the environment prints
    goes to stderr."""
    task = tasks.start(
        "gymnast.training.plan:check_request",
        {"request": asdict(request), "runs_dir": str(directory), "pinned": list(pinned)},
        Preflight,
        title=f"check {request.target}",
    )
    return task.finish()


def _joined_runs(ref: str, directory: Path) -> list[RunSummary]:
    """Returns the runs that are joined by `+`; none if there is no `+`."""
    names = ref.split("+")
    if len(names) == 1:
        return []
    listed = {run.id: run for run in store.list_runs(directory)}
    ids = [name if name in listed else store.resolve(name, directory)[0].id for name in names]
    return [listed[run_id] for run_id in dict.fromkeys(ids)]


def _group_line(seeds: Sequence[int], names: Sequence[str], jobs: int) -> str:
    """Returns a line with the seeds and names of a group, and how many of its runs train at once."""
    count = len(seeds)
    text = f"seed {seeds[0]}" if count == 1 else f"seeds {seeds[0]} to {seeds[-1]}"
    text += f", {jobs} at a time" if count > 1 else ""
    if names[0]:
        text += f", as {names[0]}" + (f" to {names[-1]}" if count > 1 else "")
    return f"  group     {text}"
