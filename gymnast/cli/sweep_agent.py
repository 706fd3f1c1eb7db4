"""`gymnast sweep agent`: an agent of a W&B sweep."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from gymnast.api import foreground
from gymnast.api.sweep_space import setting_text
from gymnast.cli.options import echo_json, json_option, parse_assignments, runs_option
from gymnast.text import formatting

if TYPE_CHECKING:
    from gymnast.sweep.wandb_agent import AgentRun


@click.command()
@click.argument("sweep", metavar="ENTITY/PROJECT/SWEEP")
@click.option(
    "--env", "env", metavar="ENV[:VARIANT]", help="What to train. Default: the sweep's `program`."
)
@click.option("--count", type=click.IntRange(min=1), help="Number of runs. Default: no limit.")
@click.option("--set", "assignments", multiple=True, metavar="KEY=VALUE", help="Override a value.")
@runs_option
@json_option
def agent(
    sweep: str,
    env: str | None,
    count: int | None,
    assignments: tuple[str, ...],
    runs_dir: str | None,
    as_json: bool,
) -> int:
    """Train the runs that a W&B sweep asks for.

    The server of the sweep chooses the settings; every command of it becomes an ordinary run with exactly
    these settings, schedules included, which reports to W&B. A parameter that is no setting is an error
    before anything starts. One run trains at a time: start several agents to share the work.

    \b
    gymnast sweep agent my-team/cartpole/x1y2z3
    gymnast sweep agent my-team/cartpole/x1y2z3 --env CartPole-v1:ppo --count 10
    gymnast sweep agent my-team/cartpole/x1y2z3 --set stop.env_steps=50k

    Ctrl-C stops the run, which saves a checkpoint. The sweep is created by `wandb sweep FILE.yaml` or on its
    page; `gymnast sweep init --from-wandb FILE.yaml` searches the same space without W&B.
    """
    ended: list[AgentRun] = []
    runs = foreground.sweep_agent_here(
        sweep, env=env, overrides=parse_assignments(assignments), count=count, runs_dir=runs_dir
    )
    for run in runs:
        if not as_json:
            click.echo(_line(run))
        if run.status != "started":
            ended.append(run)
    if as_json:
        echo_json(ended)
    else:
        click.echo(f"{formatting.count_noun(len(ended), 'run')} ended")
    return 0 if all(run.status in ("finished", "stopped") for run in ended) else 1


def _line(run: AgentRun) -> str:
    """Returns a line about a run that has started or ended."""
    if run.status == "started":
        chosen = " ".join(f"{key}={setting_text(value)}" for key, value in run.settings.items())
        return f"{run.wandb_id}: started as {run.run}: {chosen}"
    reason = f": {run.reason}" if run.reason else ""
    return f"{run.wandb_id}: {run.status}{reason}"
