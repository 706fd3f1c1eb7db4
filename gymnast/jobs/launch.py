"""Starts the runs of a request in the background: one, or one per seed of a group, each with its own name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from gymnast.errors import GymnastError, UsageError
from gymnast.jobs.detach import StartedRun
from gymnast.jobs.groups import new_group_id, with_fixed_source
from gymnast.jobs.status import live_jobs
from gymnast.runs import store
from gymnast.runs.run import check_name
from gymnast.training.request import TrainRequest


@dataclass(frozen=True)
class StartedRuns:
    """The runs that were started in the background."""

    group: str | None
    """Id of their group of seeds; None for a single run."""
    runs: tuple[StartedRun, ...]


def run_names(name: str, seeds: Sequence[int], *, is_group: bool) -> list[str]:
    """Returns the name of the run of each seed; empty names for runs without a name."""
    # Names of runs are unique, so each seed gets its own; the plain name becomes that of the group.
    return [f"{name}-s{seed}" if name and is_group else name for seed in seeds]


def check_names_free(names: Sequence[str], runs_dir: Path) -> None:
    """Raises an error if a run or a live job has one of these names already, or if one is not valid."""
    for name in dict.fromkeys(name for name in names if name):
        check_name(name)
        store.ensure_name_free(name, runs_dir)
        # A queued job has no run yet, so the store does not know its name.
        if jobs := [job for job in live_jobs(runs_dir) if job.name == name]:
            raise UsageError(f"the name {name!r} is taken by job {jobs[0].id}")


def start_jobs(
    request: TrainRequest,
    seeds: Sequence[int],
    names: Sequence[str],
    *,
    is_group: bool,
    start: Callable[[TrainRequest], StartedRun],
    runs_dir: Path,
) -> StartedRuns:
    """Starts a background job per seed. `names`: the name of each run; `start`: starts one, here or
    elsewhere. The name of a group is that of the request, or a new id."""
    request = with_fixed_source(request, runs_dir)
    group = (request.name or new_group_id()) if is_group else None
    started = list[StartedRun]()
    for seed, name in zip(seeds, names, strict=True):
        try:
            started.append(start(replace(request, seed=seed, name=name, group=group)))
        except GymnastError as error:
            if started:
                error.message += f" ({len(started)} of {len(seeds)} jobs of {group} were started)"
                error.fix = f"gymnast stop {group}"
            raise
    return StartedRuns(group, tuple(started))
