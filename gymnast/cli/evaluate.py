"""`gymnast eval`."""

from __future__ import annotations

import click

from gymnast.cli.options import echo_json, json_option, runs_option


@click.command("eval")
@click.argument("run", metavar="RUN[:CHECKPOINT]", default="@last")
@click.option(
    "--episodes", type=click.IntRange(min=1), help="How many; default as confirmed in training."
)
@click.option("--seed", type=click.IntRange(min=0), help="Root of the episode seeds.")
@click.option("--sampled", is_flag=True, help="Draw actions instead of taking the most likely.")
@runs_option
@json_option
def eval_(
    run: str,
    episodes: int | None,
    seed: int | None,
    sampled: bool,
    runs_dir: str | None,
    as_json: bool,
) -> None:
    """Score a run's policy on fixed, held-out seeds. Without a checkpoint: the best one.

    \b
    gymnast eval @last
    gymnast eval @last:best --episodes 100 --json
    gymnast eval 3f2a:120k --sampled
    """
    from gymnast.training.rescore import rescore

    result = rescore(run, episodes=episodes, seed=seed, sampled=sampled, runs_dir=runs_dir)
    if as_json:
        echo_json(result)
        return
    returns = result["returns"]
    click.echo(f"{result['run']}, checkpoint {result['checkpoint']:,} of {result['env']}")
    interval = "one episode has no interval"
    if result["low"] is not None:
        interval = f"95 % interval {result['low']:.5g} to {result['high']:.5g}"
    click.echo(f"mean return {result['mean']:.5g}  ({interval})")
    click.echo(
        f"IQM {result['iqm']:.5g}, worst {min(returns):.5g}, best {max(returns):.5g}, "
        f"{result['episodes']} episodes, mean length {result['length']:.5g}"
    )
    threshold = result["threshold"]
    if threshold is not None and result["low"] is not None:
        verdict = "solved" if result["low"] >= threshold else "not solved"
        click.echo(f"{verdict}: the threshold is {threshold:g}")
