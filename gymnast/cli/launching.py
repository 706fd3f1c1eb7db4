"""Training in other processes: groups of seeds (`--seeds`) and background jobs (`--detach`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from gymnast.api import foreground, training
from gymnast.cli.confirmation import DECLINED, confirm_start
from gymnast.cli.options import echo_json
from gymnast.text.formatting import count_noun

if TYPE_CHECKING:
    from gymnast.api.training import Place, TrainingPlan
    from gymnast.cli.train import ResumeOptions, SharedOptions, TrainOptions
    from gymnast.jobs.detach import StartedRun
    from gymnast.jobs.groups import TrainedGroup
    from gymnast.jobs.launch import StartedRuns


def launch(
    request: foreground.TrainRequest,
    options: TrainOptions,
    runs_dir: str | None,
    *,
    as_json: bool,
    quiet: bool,
) -> int:
    """Shows what a request would start and, unless it is a dry run or the answer to --ask is no, starts it: a
    background job, one per seed, or a group of seeds that this process waits for. Every config error is
    raised before the first starts. Returns the exit code."""
    in_background, dry_run, ask = options["detach"], options["dry_run"], options["ask"]
    max_jobs = options["max_jobs"] if in_background else options["jobs"]
    # Named before anything else: a mistake in it must not cost the time to open the environment.
    place = _place(options)
    plan = training.plan(
        request,
        seeds=options["seeds"],
        max_jobs=max_jobs,
        pinned=options["pinned"],
        runs_dir=runs_dir,
    )
    if dry_run and as_json:
        echo_json(plan)
    elif dry_run or ask or not (quiet or in_background):
        click.echo(f"{plan.text}\n", err=as_json)
    if dry_run:
        return 0
    if ask and not confirm_start():
        return DECLINED
    if in_background:
        started = training.launch(request, plan, max_jobs=max_jobs, place=place, runs_dir=runs_dir)
        _echo_started(started, as_json=as_json)
        return 0
    return _train_group(request, plan, options["jobs"], runs_dir, as_json=as_json, quiet=quiet)


def _echo_started(started: StartedRuns, *, as_json: bool) -> None:
    if as_json:
        echo_json(started if started.group else started.runs[0])
        return
    for run in started.runs:
        _echo_job(run)
    if started.group:
        click.echo(
            f"group {started.group}: gymnast wait {started.group} · gymnast stop {started.group}"
        )
    _echo_own_cluster(started.runs[-1])


def resume(
    request: foreground.ResumeRequest,
    options: ResumeOptions,
    runs_dir: str | None,
    *,
    as_json: bool,
) -> int:
    """Continues a run in the background; returns the exit code."""
    started = training.launch_resume(
        request, max_jobs=options["max_jobs"], place=_place(options), runs_dir=runs_dir
    )
    if as_json:
        echo_json(started)
    else:
        _echo_job(started)
        _echo_own_cluster(started)
    return 0


def _place(options: SharedOptions) -> Place | None:
    """Returns where jobs train, None for this machine."""
    if options["jobs_on"] is None:
        return None
    from gymnast.api import hosts

    return hosts.place(options["jobs_on"], requeue=options["requeue"])


def _echo_job(run: StartedRun) -> None:
    status = f"submitted to {run.on}" if run.on else run.status
    click.echo(f"job {run.id} {status}: gymnast logs -f {run.id} · gymnast stop {run.id}")


def _echo_own_cluster(run: StartedRun) -> None:
    """Prints where a job trains if gymnast has started a Ray cluster for it."""
    if not run.on:
        return
    from gymnast.api import hosts

    if (cluster := hosts.own_ray_cluster(run)) is not None:
        at_once = f"{count_noun(cluster.cpus, 'job')} at a time"
        ends = f"ends by itself {cluster.idle_seconds:g} s after its last job"
        click.echo(f"Ray: a cluster on this machine, {at_once}, which {ends} · gymnast jobs")


def _train_group(
    request: foreground.TrainRequest,
    plan: TrainingPlan,
    jobs: int,
    runs_dir: str | None,
    *,
    as_json: bool,
    quiet: bool,
) -> int:
    """Trains a group of seeds in child processes; returns the exit code."""
    trained = foreground.train_group_here(
        request,
        seeds=plan.seeds,
        names=plan.names,
        jobs=jobs,
        report=None if quiet or as_json else click.echo,
        runs_dir=runs_dir,
    )
    for seed, text in trained.errors.items():
        click.echo(f"seed {seed}: {text}", err=True)
    if as_json:
        echo_json(trained)
    else:
        click.echo(_group_text(request.target, trained))
    return 130 if trained.interrupted else 0 if trained.ok else 1


def _group_text(target: str, trained: TrainedGroup) -> str:
    """Returns the result of a group as text: a line per seed, the mean over seeds, and the command that lists
    its runs."""
    from gymnast.insight.page import score_text

    result = trained.result
    lines = [f"{target}: {result.solved} of {count_noun(result.runs, 'seed')} solved"]
    for entry in result.scores:
        score = "no score" if entry.score is None else score_text(entry.score)
        lines.append(f"  seed {entry.seed:<4} {entry.id}  {entry.status:<9} {score}")
    if result.mean is not None:
        interval = "" if result.low is None else f" [{result.low:.5g}, {result.high:.5g}]"
        caveat = f" ({result.caveat})" if result.caveat else ""
        lines.append(f"  mean over seeds {result.mean:.5g}{interval}, IQM {result.iqm:.5g}{caveat}")
    lines.append(f"  group {trained.group}: gymnast runs group={trained.group}")
    return "\n".join(lines)
