"""`gymnast compare`: scores, evaluation curves and configs of several runs."""

from __future__ import annotations

import click

from gymnast import api
from gymnast.cli.options import clock_option, echo_json, json_option, runs_option


@click.command()
@click.argument("refs", nargs=-1, required=True, metavar="RUN|GROUP RUN|GROUP...")
@clock_option
@click.option(
    "--env",
    default="",
    metavar="ENV",
    help="Environment of foreign runs whose files do not name it.",
)
@runs_option
@json_option
def compare(refs: tuple[str, ...], x: str, env: str, runs_dir: str | None, as_json: bool) -> None:
    """Compare two or more runs or groups of seeds: scores, evaluation curves, config differences.

    The default clock is vec_steps, which is fair to runs with different numbers of environments;
    env_steps compares sample efficiency. `area` is the mean height of the curve over the range that
    all curves cover; `of-goal` is the area of `gymnast show`. A group of seeds, named by its id or
    name, or several runs joined with +, is compared by its statistics over seeds: is one group better
    than the other, and by more than the noise between seeds?

    A side may also be a run that another program made: a path of a TensorBoard directory, of SB3's
    progress.csv or of a W&B offline run, or wandb:ENTITY/PROJECT/RUN. Then the x-axis is env_steps, and
    if it has no evaluations, training returns are compared (docs/foreign-runs.md).

    \b
    gymnast compare k3jx 7fqa
    gymnast compare @best:CartPole-v1 @last --x env_steps
    gymnast compare g1f3a9c02 wide             groups of --seeds
    gymnast compare try-1+try-2 try-3+try-4    runs as groups
    gymnast compare logs/ppo_sb3/ @last        a run of Stable-Baselines3
    """
    comparison = api.compare(refs, x, env=env, runs_dir=runs_dir)
    if as_json:
        echo_json(comparison)
    else:
        from gymnast.insight.comparison_text import comparison_page

        click.echo(comparison_page(comparison))
