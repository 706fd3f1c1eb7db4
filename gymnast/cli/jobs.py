"""`gymnast jobs`, `logs` and `wait`: background training."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import click

from gymnast import api
from gymnast.api import training
from gymnast.cli.options import echo_json, json_option, runs_option
from gymnast.text import formatting

if TYPE_CHECKING:
    from gymnast.jobs.status import JobStatus, RunStatus

FOLLOW_SECONDS = 0.2
"""Seconds between two looks at a log that is followed."""


@click.command()
@runs_option
@json_option
def jobs(runs_dir: str | None, as_json: bool) -> None:
    """List background jobs, newest first: queued, running, paused, or how they ended.

    Providers of jobs that train elsewhere are asked, each with a deadline; the last column says which of
    them did not answer.

    \b
    gymnast train CartPole-v1 --detach
    gymnast jobs
    gymnast jobs --json
    """
    listed = api.jobs(runs_dir=runs_dir)
    if as_json:
        echo_json(listed)
    elif listed:
        now = time.time()
        head = ("id", "name", "job", "on", "status", "age", "exit", "reason")
        lines = [_line(job, now) for job in listed]
        if not any(job.on for job in listed):  # all of them train on this machine
            head, lines = _without(head, 3), [_without(line, 3) for line in lines]
        click.echo(formatting.table(head, lines, right="age exit"))
    else:
        click.echo("no jobs; start one with `gymnast train ENV --detach`")


@click.command()
@click.argument("run", metavar="RUN|JOB", default="@last")
@click.option("-f", "--follow", "following", is_flag=True, help="Keep printing until it has ended.")
@click.option("-n", "--lines", type=click.IntRange(min=0), help="Only the last N lines.")
@runs_option
def logs(run: str, following: bool, lines: int | None, runs_dir: str | None) -> None:
    """Print the log of a run, or the output of a job that has no run yet.

    \b
    gymnast logs @last -n 20
    gymnast logs -f k3jx81qa           Ctrl-C stops following, not the run
    """
    page = api.logs(run, last=lines, runs_dir=runs_dir)
    try:
        while True:
            for line in page.lines:
                click.echo(line)
            if not page.has_more:
                if page.ended or not following:
                    return
                time.sleep(FOLLOW_SECONDS)
            page = api.logs(run, after=page.cursor, runs_dir=runs_dir)
    except KeyboardInterrupt:
        click.echo()


@click.command()
@click.argument("runs", nargs=-1, required=True, metavar="RUN|JOB|GROUP...")
@click.option(
    "--timeout",
    type=click.FloatRange(min=0),
    metavar="SECONDS",
    help="Stop waiting after this time, with exit code 1. Default: wait for all.",
)
@runs_option
@json_option
def wait(runs: tuple[str, ...], timeout: float | None, runs_dir: str | None, as_json: bool) -> int:
    """Wait until all of these runs, jobs or groups have ended; exit code 1 if one failed or was lost.

    \b
    gymnast wait k3jx81qa
    gymnast wait k3jx81qa --timeout 3600
    gymnast wait g1f3a9c02 && gymnast compare ...
    """
    ended: list[RunStatus] = []
    for job in training.wait_each(runs, timeout=timeout, runs_dir=runs_dir):
        ended.append(job)
        if not as_json:
            reason = f": {job.reason}" if job.reason else ""
            click.echo(f"{job.id} {job.status}{reason}")
    if as_json:
        echo_json(ended)
    return 0 if all(job.status in ("finished", "stopped") for job in ended) else 1


def _line(job: JobStatus, now: float) -> tuple[str, ...]:
    """Returns the cells of a job's line in the table. `now`: the current time, for its age."""
    seed = "" if job.seed is None else f" #{job.seed}"
    return (
        job.id,
        job.name,
        f"{job.target}{seed}",
        job.on,
        job.status,
        formatting.age(now - job.created),
        "" if job.exit_code is None else str(job.exit_code),
        job.reason,
    )


def _without(cells: tuple[str, ...], index: int) -> tuple[str, ...]:
    return (*cells[:index], *cells[index + 1 :])
