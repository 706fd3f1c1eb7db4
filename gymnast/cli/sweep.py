"""`gymnast sweep`: searches hyperparameters."""

from __future__ import annotations

from typing import Any

import click

from gymnast import api
from gymnast.api import sweep as sweeps
from gymnast.cli import sweep_text
from gymnast.cli.confirmation import DECLINED, confirm, confirm_start, require_terminal
from gymnast.cli.options import echo_json, json_option, runs_option, write_text
from gymnast.cli.sweep_agent import agent
from gymnast.cli.sweep_plot import plot
from gymnast.text import formatting

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


@click.group()
def sweep() -> None:
    """Search hyperparameters: many short runs, raced against each other.

    \b
    gymnast sweep init CartPole-v1 > space.yaml      # what varies, with comments
    gymnast sweep start space.yaml --trials 30       # Ctrl-C loses nothing
    gymnast sweep resume                             # continue the newest study
    gymnast sweep best                               # the winner, confirmed on fresh seeds

    STUDY is a name, a unique prefix of one, or @last (the default).
    """


sweep.add_command(plot)
sweep.add_command(agent)


@sweep.command()
@click.argument("target", metavar="[ENV[:VARIANT]]", default="")
@click.option("--from-wandb", metavar="FILE", help="Convert this config of a W&B sweep.")
@json_option
def init(target: str, from_wandb: str | None, as_json: bool) -> None:
    """Print a commented search space for an environment.

    \b
    gymnast sweep init CartPole-v1 > space.yaml
    gymnast sweep init ALE/Pong-v5:objects
    gymnast sweep init CartPole-v1 --from-wandb sweep.yaml    the space of a W&B sweep
    """
    wandb = "" if from_wandb is None else sweeps.read_file(from_wandb)
    found = api.sweep_init(target, wandb=wandb, file=from_wandb or "")
    if as_json:
        echo_json(found)
    else:
        click.echo(found.text, nl=False)


@sweep.command()
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
    disk space. Trials are ordinary runs with the tag of the study. All are trained to the first rung, the
    best third of each continues to the next, and the best get more seeds. In the end, the winner is trained
    again on fresh seeds, together with the baseline.

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
        sweeps.read_file(space),
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


@sweep.command("list")
@runs_option
@json_option
def list_(runs_dir: str | None, as_json: bool) -> None:
    """List all studies, the newest first.

    \b
    gymnast sweep list
    gymnast sweep list --json
    """
    found = api.sweep_list(runs_dir=runs_dir)
    if as_json:
        echo_json(found)
    elif not found:
        click.echo("no studies yet: gymnast sweep init ENV > space.yaml")
    else:
        click.echo(sweep_text.list_table(found))


@sweep.command()
@study_argument
@click.option("--curves", is_flag=True, help="With the evaluation curve of every seed, in --json.")
@runs_option
@json_option
def status(study: str, curves: bool, runs_dir: str | None, as_json: bool) -> None:
    """Show a study: how far it is, and its best trials.

    The value of a trial is an estimate over many seeds: with few seeds, similar trials count
    more than what was measured. ± is its standard deviation.

    \b
    gymnast sweep status
    gymnast sweep status cartpole-1 --json
    """
    found = api.sweep_status(study, curves=curves, runs_dir=runs_dir)
    if as_json:
        echo_json(found)
    else:
        click.echo("\n".join(sweep_text.status_lines(found)))


@sweep.command()
@study_argument
@click.option("--trials", type=click.IntRange(min=1), help="New number of trials.")
@minutes_option
@click.option(
    "--jobs", type=click.IntRange(min=1), help="Runs at the same time. Default: as before."
)
@click.option("--detach", is_flag=True, help="Run in the background, and return at once.")
@runs_option
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


@sweep.command()
@study_argument
@runs_option
@json_option
def stop(study: str, runs_dir: str | None, as_json: bool) -> None:
    """Stop a study and its runs; all of them can be resumed.

    \b
    gymnast sweep stop
    """
    found = api.sweep_stop(study, runs_dir=runs_dir)
    if as_json:
        echo_json(found)
    else:
        click.echo(f"{found.name} is {found.status}: gymnast sweep resume {found.name}")


@sweep.command()
@study_argument
@click.option("--patch", is_flag=True, help="Print only the YAML of the variant.")
@runs_option
@json_option
def best(study: str, patch: bool, runs_dir: str | None, as_json: bool) -> None:
    """Show the best trial, whether it beats the baseline on fresh seeds, and how to use it.

    \b
    gymnast sweep best
    gymnast sweep best cartpole-1 --patch > tuned.yaml
    """
    found = api.sweep_best(study, runs_dir=runs_dir)
    if as_json:
        echo_json(found)
    elif patch:
        click.echo(found.patch, nl=False)
    else:
        click.echo("\n".join(sweep_text.best_lines(found)), nl=False)


@sweep.command()
@study_argument
@runs_option
@json_option
def importance(study: str, runs_dir: str | None, as_json: bool) -> None:
    """Show how much each parameter matters, with intervals and the number of trials.

    The importance of a parameter is its share of what distinguishes the best quarter of the trials from the
    others (PED-ANOVA). The intervals come from resampling the trials.

    \b
    gymnast sweep importance
    """
    found = api.sweep_importance(study, runs_dir=runs_dir)
    if as_json:
        echo_json(found)
    else:
        click.echo("\n".join(sweep_text.importance_lines(found)))


@sweep.command("rm")
@click.argument("study", metavar="STUDY")
@click.option("--with-runs", is_flag=True, help="Also delete the runs of its trials.")
@click.option("--yes", "-y", is_flag=True, help="Do not ask.")
@click.option("--dry-run", is_flag=True, help="Only show what would be deleted.")
@runs_option
@json_option
def rm(
    study: str,
    with_runs: bool,
    yes: bool,
    dry_run: bool,
    runs_dir: str | None,
    as_json: bool,
) -> int:
    """Delete a study; its runs stay, unless --with-runs.

    \b
    gymnast sweep rm cartpole-1 --dry-run
    gymnast sweep rm cartpole-1 --with-runs --yes
    """
    planned = api.sweep_remove(study, with_runs=with_runs, dry_run=True, runs_dir=runs_dir)
    runs = f" and {formatting.count_noun(len(planned.runs), 'run')}" if with_runs else ""
    text = f"{planned.name}{runs} ({formatting.size(planned.bytes)})"
    if not dry_run and not yes and not confirm(f"delete {text}?"):
        return DECLINED
    if not dry_run:
        planned = api.sweep_remove(study, with_runs=with_runs, runs_dir=runs_dir)
    if as_json:
        echo_json(planned)
    else:
        click.echo(f"{'would delete' if dry_run else 'deleted'} {text}")
    return 0


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
    return 0
