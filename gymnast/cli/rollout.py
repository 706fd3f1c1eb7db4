"""`gymnast rollout`: plays a fresh episode with a stored policy, and stores it with the run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from gymnast import api
from gymnast.cli.evaluate import parse_cast
from gymnast.cli.options import allow_code_option, echo_json, json_option, runs_option
from gymnast.cli.tasks import wait_for
from gymnast.text import formatting

if TYPE_CHECKING:
    from gymnast.runs.episodes import EpisodeInfo


@click.command()
@click.argument("run", metavar="RUN[:CHECKPOINT]", default="@last")
@click.option(
    "--seed", type=click.IntRange(min=0), help="Seed of the environment. Default: random."
)
@click.option("--sample", is_flag=True, help="Sample actions from the policy, as in training.")
@click.option(
    "--steps", type=click.IntRange(min=1), metavar="N", help="Stop the episode after N steps."
)
@click.option(
    "--set",
    "assignments",
    multiple=True,
    metavar="env.KEY=VALUE",
    help="Change a setting of the environment for this episode. Repeatable.",
)
@click.option(
    "--roles",
    metavar="ROLE=PLAYER,...",
    help="The player of each role: learner, scripted:NAME, random, step:N or RUN[:CHECKPOINT].",
)
@runs_option
@allow_code_option
@json_option
def rollout(
    run: str,
    seed: int | None,
    sample: bool,
    steps: int | None,
    assignments: tuple[str, ...],
    roles: str | None,
    runs_dir: str | None,
    as_json: bool,
) -> None:
    """Play one episode with a run's policy and store it with the run, as an episode of kind `fresh`.

    Without a checkpoint, the best one is used, or the latest if there is no best one yet. The same seed and
    settings as those of an evaluation give the same episode.

    \b
    gymnast rollout @last
    gymnast rollout @last:120k --seed 7 --sample
    gymnast rollout @last --steps 200 --set env.noise.obs=0.1 --set env.kwargs.gravity=-8
    gymnast rollout @last --roles seeker=scripted:medium

    Settings of the environment (env.*) can be changed for the episode: kwargs, noise, randomization. A run
    keeps its 50 newest fresh episodes.
    """
    task = api.roll_out(
        run,
        seed=seed,
        sampled=sample,
        max_steps=steps,
        overrides=list(assignments),
        roles=None if roles is None else parse_cast(roles),
        runs_dir=runs_dir,
    )
    episode = wait_for(task, "rolling out")
    if as_json:
        echo_json(episode)
        return
    click.echo(_text(episode))
    which = f"{run} --kind fresh --episode {episode.number}"
    click.echo(f"inspect it: gymnast inspect {which} --text")
    click.echo(f"film it: gymnast video {which}")


def _text(episode: EpisodeInfo) -> str:
    """Returns a line about an episode or a match."""
    if episode.raw_return is None:
        result = ", ".join(f"{role} {value:.6g}" for role, value in episode.returns.items())
    else:
        result = f"{episode.raw_return:.6g}"
    steps = formatting.count_noun(episode.length, "step")
    ending = f", {episode.outcome}" if episode.outcome else ""
    of = f"of the policy after {episode.version:,} env steps"
    return (
        f"fresh episode {episode.number} {of}: return {result} in {steps}{ending} "
        f"(seed {episode.seed})"
    )
