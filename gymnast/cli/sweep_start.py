"""`gymnast sweep start` and `gymnast sweep resume`: run a study here or in the background."""

from __future__ import annotations

from typing import Any

import click

from gymnast import api
from gymnast.api import sweep_prepare as sweeps
from gymnast.api.sweep_space import read_file
from gymnast.cli import sweep_text
from gymnast.cli.confirmation import DECLINED, confirm_start, require_terminal
from gymnast.cli.options import allow_code_option, echo_json, json_option, runs_option, write_text

study_argument = click.argument("study", metavar="STUDY", default="@last")
minutes_option = click.option(
    "--minutes",
    type=click.FloatRange(min=0.1),
    help="Wall time, the confirmation included.",
)
sweep_jobs_option = click.option(
    "--jobs",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Runs at the same time.",
)


@click.command()
@click.argument("space", metavar="SPACE", type=click.Path(dir_okay=False))
@click.option(
    "--from",
    "source",
    metavar="RUN[:CHECKPOINT]",
    default="",
    help="Start all trials from its weights.",
)
@click.option("--name", default="", help="Name of the study. Default: made from the environment.")
@click.option("--trials", type=click.IntRange(min=1), help="Number of assignments to try.")
@click.option("--seeds", type=click.IntRange(min=1), help="Seeds that the best trials get.")
@click.option(
    "--confirm-seeds",
    type=click.IntRange(min=0),
    help="Fresh seeds on which the best trial is confirmed; 0: no confirmation.",
)
@click.option("--sampler", type=click.Choice(sweeps.SAMPLERS), help="How trials are proposed.")
@click.option(
    "--proposer", metavar="NAME", help="A command of the settings file that proposes the trials."
)
@click.option(
    "--pbt", is_flag=True, help="Population-based training instead of trials from scratch."
)
@click.option(
    "--total-env-steps", metavar="N", help="Env steps of all trials together, such as 5M."
)
@minutes_option
@sweep_jobs_option
@click.option(
    "--jobs-on",
    metavar="PROVIDER",
    default="",
    help="Train elsewhere: slurm, ray[:ADDRESS], ssh:HOST, or as with `gymnast train --jobs-on`.",
)
@click.option("--dry-run", is_flag=True, help="Only check the space and show what it will take.")
@click.option("--ask", is_flag=True, help="Show what it will take, and ask before starting.")
@click.option("--detach", is_flag=True, help="Run in the background, and return at once.")
@runs_option
@json_option
def start(
    space: str,
    source: str,
    name: str,
    pbt: bool,
    total_env_steps: str | None,
    jobs: int,
    jobs_on: str,
    dry_run: bool,
    ask: bool,
    detach: bool,
    runs_dir: str | None,
    as_json: bool,
    **options: Any,
) -> int:
    """Start a search over the space in a YAML file.

    Every mistake in the space is reported before anything runs, and a short training estimates time and
    disk space. Trials are ordinary runs with the tag of the study. All are trained to the end (with `rungs`
    in the space, only the best third of each rung continues), and the best get more seeds. In the end, the
    winner is trained again on fresh seeds, together with the baseline.

    \b
    gymnast sweep start space.yaml
    gymnast sweep start space.yaml --trials 60 --jobs 2 --minutes 30
    gymnast sweep start space.yaml --from @best:CartPole-v1 --name finetune
    gymnast sweep start space.yaml --sampler gp --seeds 5 --ask
    gymnast sweep start space.yaml --jobs 20 --jobs-on slurm
    gymnast sweep start space.yaml --pbt --detach --json

    Ctrl-C stops the study and its runs; `gymnast sweep resume` continues with the same proposals.
    """
    if ask:
        require_terminal()
    options["mode"] = "pbt" if pbt else None
    options["total_env_steps"] = sweeps.parse_env_steps(total_env_steps)
    prepared = sweeps.prepare(
        read_file(space),
        file=space,
        source=source,
        jobs=jobs,
        runs_dir=runs_dir,
        **options,
    )
    if dry_run and as_json:
        echo_json(prepared.estimate)
        return 0
    click.echo("\n".join(sweep_text.plan_lines(prepared.estimate)), err=as_json)
    if dry_run:
        return 0
    if ask and not confirm_start():
        return DECLINED
    study = sweeps.create(prepared, name, jobs=jobs, jobs_on=jobs_on, runs_dir=runs_dir)
    return run_study(study, detach=detach, as_json=as_json, reopen=False)


@click.command()
@study_argument
@click.option("--trials", type=click.IntRange(min=1), help="New number of trials.")
@minutes_option
@click.option(
    "--jobs", type=click.IntRange(min=1), help="Runs at the same time. Default: as before."
)
@click.option("--detach", is_flag=True, help="Run in the background, and return at once.")
@runs_option
@allow_code_option
@json_option
def resume(
    study: str,
    trials: int | None,
    minutes: float | None,
    jobs: int | None,
    detach: bool,
    runs_dir: str | None,
    as_json: bool,
) -> int:
    """Continue a study that was stopped or killed, with the same proposals.

    Runs that still train are adopted, others are resumed. With more --trials or --minutes, a study that was
    over continues.

    \b
    gymnast sweep resume
    gymnast sweep resume cartpole-1 --trials 100 --jobs 2
    """
    found, reopen = sweeps.reopened(
        study, trials=trials, minutes=minutes, jobs=jobs, runs_dir=runs_dir
    )
    return run_study(found, detach=detach, as_json=as_json, reopen=reopen)


def run_study(
    study: Any, *, detach: bool, as_json: bool, reopen: bool, out: str | None = None
) -> int:
    """Runs a study here or in the background; returns the exit code. `out`: a file for the variant, if it is
    better than the baseline."""
    if detach:
        started = sweeps.launch_here(study, reopen=reopen)
        if as_json:
            echo_json(started)
        else:
            click.echo(f"study {study.name} started: gymnast sweep status {study.name}")
        return 0
    click.echo(f"study {study.name} in {study.path}", err=True)
    is_over = sweeps.run_here(
        study, report=(lambda _: None) if as_json else sweep_text.echo_progress, reopen=reopen
    )
    if not as_json:
        sweep_text.end_progress()
    if not is_over:
        click.echo(f"interrupted: gymnast sweep resume {study.name}", err=True)
        return 130
    found = api.sweep_best(study.name, runs_dir=str(study.runs_dir))
    if as_json:
        echo_json(found)
    else:
        click.echo("\n".join(sweep_text.best_lines(found)))
    if out and not found.trial.is_baseline:
        write_text(out, found.patch)
        click.echo(f"written to {out}", err=True)
    elif out:
        click.echo(f"{out} is not written: the preset is as good", err=True)
    problem = api.sweep_status(study.name, runs_dir=str(study.runs_dir)).summary.problem
    if problem:
        click.echo(f"error: {problem}", err=True)
    return int(bool(problem))
