"""Trainings, games and groups of seeds in the process of their caller, for commands that own the terminal.

The implementation is imported when a function is called, since it needs torch or gymnasium. From programs,
`gymnast.api.start` trains in the background instead.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from gymnast.import_object import import_frozen
from gymnast.play.request import PlayRequest as PlayRequest
from gymnast.runs import store
from gymnast.training.request import ResumeRequest as ResumeRequest
from gymnast.training.request import TrainRequest as TrainRequest

if TYPE_CHECKING:
    from gymnast.insight.reproduction import Reproduction
    from gymnast.insight.treatment import Treatment
    from gymnast.jobs.groups import TrainedGroup
    from gymnast.nightly.record import NightlyReport
    from gymnast.play.request import PlayResult
    from gymnast.runs.store import RunsDir
    from gymnast.sweep.wandb_agent import AgentRun
    from gymnast.training.foreground import Show, TrainResult


def train_here(
    request: TrainRequest,
    *,
    show: Show = "everything",
    pinned: Sequence[str] = (),
    agreed: Callable[[], bool] | None = None,
    announce: Callable[[str], str] | None = None,
    runs_dir: RunsDir = None,
) -> TrainResult | None:
    """Trains one run in this process and returns how it ended; None if it was not agreed to. `show`: what is
    printed; `pinned`: metrics that are always shown; `agreed`: asked after the pre-flight text was shown;
    `announce`: returns a line about the run with this id, shown before training starts."""
    training = import_frozen("gymnast.training.foreground")
    return training.train_here(
        request,
        runs_dir=store.runs_dir(runs_dir),
        show=show,
        pinned=pinned,
        agreed=agreed,
        announce=announce,
    )


def resume_here(
    request: ResumeRequest,
    *,
    show: Show = "everything",
    pinned: Sequence[str] = (),
    runs_dir: RunsDir = None,
) -> TrainResult:
    """Resumes a run, or branches off one of its checkpoints, in this process; returns how it ended."""
    run, named = store.resolve(request.run, store.runs_dir(runs_dir))
    if request.checkpoint(named) == "latest":
        # imported here: training does not need the modules of jobs
        from gymnast.jobs.remote.refresh import refuse_live

        refuse_live(run.path.parent, run.id)
    training = import_frozen("gymnast.training.foreground")
    return training.resume_here(
        request, runs_dir=store.runs_dir(runs_dir), show=show, pinned=pinned
    )


def train_group_here(
    request: TrainRequest,
    *,
    seeds: Sequence[int],
    names: Sequence[str],
    jobs: int = 1,
    report: Callable[[str], None] | None = None,
    runs_dir: RunsDir = None,
) -> TrainedGroup:
    """Trains a request once per seed in child processes, `jobs` at a time, and waits for all of them. SIGINT
    and SIGTERM of this process stop them. The name of the request becomes that of the group; `names`: of the
    runs, one per seed; `report`: called with a line when a seed starts or ends."""
    from gymnast.jobs.groups import train_group

    directory = store.runs_dir(runs_dir)
    request = replace(request, group=request.group or request.name or None)
    return train_group(
        request, seeds=seeds, names=names, jobs=jobs, report=report, runs_dir=directory
    ).summary()


def reproduce_here(
    preset: str,
    *,
    seeds: int | None = None,
    jobs: int = 1,
    store_result: bool = False,
    trackers: Sequence[str] = (),
    report: Callable[[str], None] | None = None,
    runs_dir: RunsDir = None,
) -> Reproduction:
    """Trains a preset again with the seeds of its stored result, in child processes, and returns whether the
    result holds. `seeds`: the number of seeds, by default all of the stored result; `store_result`: replace
    the stored result instead."""
    from gymnast.insight.reproduction import reproduce

    return reproduce(
        preset,
        seeds=seeds,
        jobs=jobs,
        store_result=store_result,
        trackers=trackers,
        report=report,
        runs_dir=store.runs_dir(runs_dir),
    )


def treat_here(
    ref: str,
    changes: Mapping[str, object],
    *,
    report: Callable[[str], None] | None = None,
    runs_dir: RunsDir = None,
) -> Treatment:
    """Trains a run again in a child process, with the same seed and budget and these changes (the patch of
    `gymnast.api.doctor`), and waits for it. `report`: called with a line when training starts and ends."""
    from gymnast.insight.treatment import treat

    directory = store.runs_dir(runs_dir)
    return treat(store.resolve(ref, directory)[0], changes, directory, report)


def nightly_here(
    steps: Sequence[str] = (),
    *,
    minutes: float,
    seed: int | None = None,
    dispatch: str | None = None,
    strict: bool = False,
    on_progress: Callable[[str, str], None] = lambda _step, _text: None,
    runs_dir: RunsDir = None,
) -> Iterator[NightlyReport]:
    """Runs the nightly checks, see `gymnast.api.nightly`, and yields the report after every step, so that it
    can be written although the night is interrupted. The last one is complete. `on_progress`: called with
    the name of a step and what it is doing."""
    from gymnast.nightly.nightly import Night, run_night

    directory = str(store.runs_dir(runs_dir))
    night = Night(tuple(steps), minutes, seed, dispatch, strict, directory)
    return run_night(night, on_progress)


def sweep_agent_here(
    sweep: str,
    *,
    env: str | None = None,
    overrides: Mapping[str, object] | None = None,
    count: int | None = None,
    max_jobs: int | None = None,
    runs_dir: RunsDir = None,
) -> Iterator[AgentRun]:
    """Trains the runs that a W&B sweep (`entity/project/sweep`) asks for, as background jobs, until the sweep
    ends or `count` runs have; yields a record when one starts and when it ends. `env`: the target to train,
    by default the program that the sweep's config names; `overrides`: settings of all runs, which the sweep
    does not choose; `max_jobs`: as for `gymnast.api.start`."""
    from gymnast.sweep.wandb_sweep import open_agent

    directory = store.runs_dir(runs_dir)
    return open_agent(
        sweep,
        env=env,
        overrides=overrides or {},
        count=count,
        limit=max_jobs,
        runs_dir=directory,
    )


def play_here(
    request: PlayRequest, *, echo: Callable[[str], None] | None = None, runs_dir: RunsDir = None
) -> PlayResult:
    """Plays episodes in a window, into a film or step by step, in this process. `echo`: prints a line, by
    default to stdout."""
    run = store.find_run(request.target, store.runs_dir(runs_dir))
    session = importlib.import_module("gymnast.play.session")
    return session.play_target(request, run, echo=echo)
