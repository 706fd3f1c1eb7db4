"""`gymnast play`: shows a policy, random actions, or lets you play."""

from __future__ import annotations

import click

from gymnast.api import foreground
from gymnast.cli.options import allow_code_option, echo_json, json_option, runs_option
from gymnast.errors import UsageError


@click.command()
@click.argument("target", metavar="ENV[:VARIANT]|RUN[:CHECKPOINT]")
@click.option(
    "--random", "random_actions", is_flag=True, help="Random actions (the default for an ENV)."
)
@click.option("--human", is_flag=True, help="Play yourself; the keys are shown first.")
@click.option("--sample", is_flag=True, help="Sample actions from the policy, as in training.")
@click.option("--checkpoint", metavar="N", help="best, latest, or env steps: 120k. Default: best.")
@click.option("--episodes", type=click.IntRange(min=1), default=1, show_default=True)
@click.option(
    "--seed", type=click.IntRange(min=0), help="Seed of the first episode. Default: random."
)
@click.option("--fps", type=click.FloatRange(min=0, min_open=True), help="Frames per second.")
@click.option("--record", metavar="FILE.mp4", help="Record a video; works without a display.")
@click.option(
    "--step",
    is_flag=True,
    help="Advance one step per key or Enter, and print the numbers of each step.",
)
@runs_option
@allow_code_option
@json_option
def play(
    target: str,
    random_actions: bool,
    human: bool,
    sample: bool,
    checkpoint: str | None,
    episodes: int,
    seed: int | None,
    fps: float | None,
    record: str | None,
    step: bool,
    runs_dir: str | None,
    as_json: bool,
) -> None:
    """Watch a trained policy or random actions, or play yourself.

    \b
    gymnast play @last                          the best policy of the newest run
    gymnast play CartPole-v1 --human --fps 15
    gymnast play @last:120k --sample --episodes 3
    gymnast play LunarLander-v3 --random --record random.mp4

    Needs a display, except with --record or --step. Ctrl-C, escape or q ends it; a video in progress
    is completed.
    """
    if random_actions and human:
        raise UsageError("--random and --human exclude each other", fix="use one of them")
    request = foreground.PlayRequest(
        target,
        "human" if human else "random" if random_actions else None,
        sampled=sample,
        checkpoint=checkpoint,
        episodes=episodes,
        seed=seed,
        fps=fps,
        record=record,
        step_by_step=step,
    )
    echo = _echo_error if as_json else None  # stdout has only the JSON
    result = foreground.play_here(request, echo=echo, runs_dir=runs_dir)
    if as_json:
        echo_json(result)
    elif record is not None:
        click.echo(result.record or "nothing was recorded")


def _echo_error(line: str) -> None:
    click.echo(line, err=True)
