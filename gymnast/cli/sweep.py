"""`gymnast sweep`: searches hyperparameters, and shows what was found."""

from __future__ import annotations

import click

from gymnast import api
from gymnast.api.sweep_space import read_file
from gymnast.cli import sweep_text
from gymnast.cli.confirmation import DECLINED, confirm
from gymnast.cli.options import echo_json, json_option, runs_option
from gymnast.cli.sweep_agent import agent
from gymnast.cli.sweep_plot import plot
from gymnast.cli.sweep_start import resume, start, study_argument
from gymnast.text import formatting


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
sweep.add_command(start)
sweep.add_command(resume)


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
    wandb = "" if from_wandb is None else read_file(from_wandb)
    found = api.sweep_init(target, wandb=wandb, file=from_wandb or "")
    if as_json:
        echo_json(found)
    else:
        click.echo(found.text, nl=False)


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
