"""`gymnast play`: shows a policy, random actions, or lets you play."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gymnast.cli.options import echo_json, json_option, runs_option
from gymnast.errors import UsageError
from gymnast.processes.env_output import separate_env_output
from gymnast.text.formatting import count_noun

if TYPE_CHECKING:
    from gymnast.play.play import EpisodeOutcome
    from gymnast.play.session import PlayerKind


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
@json_option
def play(target: str, runs_dir: str | None, as_json: bool, **options: Any) -> None:
    """Watch a trained policy or random actions, or play yourself.

    \b
    gymnast play @last                          the best policy of the newest run
    gymnast play CartPole-v1 --human --fps 15
    gymnast play @last:120k --sample --episodes 3
    gymnast play LunarLander-v3 --random --record random.mp4

    Needs a display, except with --record or --step. Ctrl-C, escape or q ends it; a video in progress
    is completed.
    """
    from gymnast.play.session import PlayOptions
    from gymnast.play.session import play as play_episodes

    cfg, policy = _load(target, options["checkpoint"], runs_dir)
    player = _player_kind(options, trained=policy is not None)
    record = Path(options["record"]) if options["record"] else None
    play_options = PlayOptions(
        player,
        sampled=options["sample"],
        episodes=options["episodes"],
        seed=options["seed"],
        fps=options["fps"],
        record=record,
        step_by_step=options["step"],
    )
    outcomes: list[EpisodeOutcome] = []

    def echo(text: str) -> None:
        click.echo(text, file=sys.stderr if as_json else out)  # stdout has only the JSON

    def report_episode(outcome: EpisodeOutcome) -> None:
        outcomes.append(outcome)
        result = f"{outcome.total:.6g} in {count_noun(outcome.length, 'step')}, {outcome.ending}"
        echo(f"episode {len(outcomes)}: return {result} (seed {outcome.seed})")

    with separate_env_output() as out:
        play_episodes(cfg, policy, play_options, echo=echo, on_episode_end=report_episode)
    if as_json:
        episodes = [_as_json(outcome) for outcome in outcomes]
        echo_json({"player": player, "episodes": episodes, "record": options["record"]})
    elif record is not None:
        click.echo(f"{record}" if record.exists() else "nothing was recorded")


def _load(target: str, checkpoint: str | None, runs_dir: str | None) -> tuple[Any, Any]:
    """Returns the config and, for a run, the policy (else None)."""
    from gymnast.envs.build.defaults import resolve_for_spaces
    from gymnast.evaluation.rescore import find_checkpoint, load_policy
    from gymnast.runs import store

    run = store.find_run(target, store.runs_dir(runs_dir))
    if run is None:
        if checkpoint is not None:
            raise UsageError(f"{target} is not a run, so it has no checkpoint {checkpoint}")
        cfg = resolve_for_spaces(target).config
        _refuse_roles(cfg, f"gymnast train {target}, then gymnast video @last")
        return cfg, None
    # By path, because the target itself may already name a checkpoint.
    ref = target if checkpoint is None else f"{run.path.resolve()}:{checkpoint}"
    _, saved = find_checkpoint(ref, runs_dir)
    cfg = run.config()
    _refuse_roles(
        cfg, f"gymnast video {run.id} films its matches; gymnast eval {run.id} scores them"
    )
    return cfg, load_policy(saved)


def _refuse_roles(cfg: Any, fix: str) -> None:
    from gymnast.config.families import is_multi_agent

    if is_multi_agent(cfg.env.id):
        raise UsageError(f"{cfg.env.id} has several roles, which one player cannot play", fix=fix)


def _player_kind(options: dict[str, Any], *, trained: bool) -> PlayerKind:
    """Returns who plays: by default the policy if the target is a run (`trained`), else random
    actions. Raises UsageError for options that contradict each other."""
    if options["random_actions"] and options["human"]:
        raise UsageError("--random and --human exclude each other", fix="use one of them")
    if options["human"] or options["random_actions"] or not trained:
        if options["sample"]:
            raise UsageError("--sample needs the policy of a run")
        return "human" if options["human"] else "random"
    return "policy"


def _as_json(outcome: EpisodeOutcome) -> dict[str, Any]:
    fields = asdict(outcome)
    return {"return": fields.pop("total"), **fields}
