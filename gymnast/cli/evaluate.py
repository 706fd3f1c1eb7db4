"""`gymnast eval`: evaluates a stored checkpoint on held-out seeds, or the current policy of a running run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from gymnast import api
from gymnast.cli.control import SENDER, echo_answer, timeout_option
from gymnast.cli.options import allow_code_option, echo_json, json_option, runs_option
from gymnast.cli.tasks import wait_for
from gymnast.errors import UsageError
from gymnast.text import formatting

if TYPE_CHECKING:
    from gymnast.evaluation.record import MatchScore, PolicyScore
    from gymnast.tasks import TaskProgress


@click.command("eval")
@click.argument("run", metavar="RUN[:CHECKPOINT]", default="@last")
@click.option(
    "--episodes",
    type=click.IntRange(min=1),
    help="Number of episodes. Default: as in the final evaluation of training.",
)
@click.option(
    "--seed", type=click.IntRange(min=0), help="Root seed from which the episode seeds are derived."
)
@click.option(
    "--sample", is_flag=True, help="Sample actions instead of taking the most likely ones."
)
@click.option(
    "--roles",
    metavar="ROLE=PLAYER,...",
    help="The player of each role: learner, scripted:NAME, random, step:N or RUN[:CHECKPOINT].",
)
@click.option(
    "--live",
    is_flag=True,
    help="Ask a run that is training to evaluate its current policy now, as at its evaluation points.",
)
@timeout_option
@runs_option
@allow_code_option
@json_option
def eval_(
    run: str,
    episodes: int | None,
    seed: int | None,
    sample: bool,
    roles: str | None,
    live: bool,
    timeout: float,
    runs_dir: str | None,
    as_json: bool,
) -> None:
    """Evaluate a run's policy on fixed, held-out seeds.

    Without a checkpoint, the best one is used, or the latest if there is no best one yet.

    \b
    gymnast eval @last
    gymnast eval @last:best --episodes 100 --json
    gymnast eval 3f2a:120k --sample
    gymnast eval @last --roles seeker=@last:best,hider=scripted:medium --episodes 200
    gymnast eval @last --live          a run that is training; training waits for the result

    In environments with several roles, each learned role plays against scripted opponents. With --roles,
    you choose the players; roles that you do not name are played by the run's own policies.
    """
    if live:
        _refuse_with_live(episodes=episodes, seed=seed, sample=sample, roles=roles)
        answer = api.evaluate_live(run, timeout=timeout, by=SENDER, runs_dir=runs_dir)
        score = answer.score
        scored = formatting.interval(score.mean, score.low, score.high) if score else "-"
        text = f"scored {scored} at {answer.env_steps or 0:,} env steps"
        echo_answer(answer, text, as_json=as_json)
        return
    cast = None if roles is None else parse_cast(roles)
    task = api.eval(
        run, episodes=episodes, seed=seed, sampled=sample, roles=cast, runs_dir=runs_dir
    )
    report = wait_for(task, on_progress=_print_progress)
    if report.score is not None:
        if as_json:
            echo_json(report.score)
        else:
            click.echo("\n".join(_score_page(report.score)))
    elif as_json:
        echo_json(report.matches if cast is None else report.matches[0])
    else:
        for matches in report.matches:
            click.echo("\n".join(_match_page(matches)))


def _refuse_with_live(**options: object) -> None:
    """Raises UsageError if one of these options (name -> value) was given together with --live."""
    given = [f"--{name}" for name, value in options.items() if value]
    if given:
        fix = "leave out --live to choose how a checkpoint is evaluated"
        raise UsageError(
            f"--live evaluates as the run's config says, so {given[0]} has no effect", fix=fix
        )


def _print_progress(update: TaskProgress) -> None:
    if update.text:
        click.echo(f"evaluating: finished {update.text}", err=True)


def parse_cast(text: str) -> dict[str, str]:
    """Parses `seeker=@last:best,hider=scripted:medium` into role -> player; raises UsageError for another
    form."""
    cast: dict[str, str] = {}
    for part in text.split(","):
        role, equals, name = part.strip().partition("=")
        if not equals or not role or not name:
            fix = "--roles seeker=@last:best,hider=scripted:medium"
            raise UsageError(f"`{part.strip()}` is not ROLE=PLAYER", fix=fix)
        cast[role] = name
    return cast


def _score_page(score: PolicyScore) -> Iterator[str]:
    """Yields the lines about the score of a policy."""
    yield f"{score.run}, checkpoint {score.checkpoint:,} of {score.env}"
    interval = "one episode has no interval"
    if score.low is not None:
        interval = f"95 % interval {score.low:.5g} to {score.high:.5g}"
    yield f"mean return {score.mean:.5g}  ({interval})"
    count = formatting.count_noun(score.episodes, "episode")
    if score.missing:
        count = f"{score.episodes:,} of {score.planned:,} episodes, because {score.missing}"
    yield (
        f"IQM {score.iqm:.5g}, worst {min(score.returns):.5g}, best {max(score.returns):.5g}, "
        f"mean length {score.length:.5g}, {count}"
    )
    if score.threshold is not None and score.low is not None:
        # Whether the run is solved also depends on its start (`runs.doubts`).
        reached = score.sound and score.low >= score.threshold
        side = "reaches" if reached else "does not reach"
        yield f"the lower bound {side} the threshold {score.threshold:g}"


def _match_page(result: MatchScore) -> Iterator[str]:
    """Yields the lines about the matches of one cast: win rate and mean return per role."""
    sides = " against ".join(f"{role} {player.plays}" for role, player in result.roles.items())
    yield f"{result.run}, checkpoint {result.checkpoint:,} of {result.env}: {sides}"
    for role, player in result.roles.items():
        wins = ""
        if player.win_rate is not None:
            ends = f"95 % interval {player.low:.1%} to {player.high:.1%}"
            wins = f"wins {player.win_rate:.1%}  ({ends}), "
        yield f"  {role:<8} {wins}mean return {player.mean_return:.4g}"
    shares = {k[6:-6]: v for k, v in result.numbers.items() if k.endswith("_share") and v}
    ended = ", ".join(f"{name} {share:.1%}" for name, share in shares.items())
    ended = f", ended by {ended}" if ended else ""
    steps = f"mean length {result.numbers['match/duration']:.4g}"
    count = formatting.count_noun(result.episodes, "match", "matches")
    if result.missing:
        count += f" of {result.planned} ({result.missing})"
    yield f"  {count}, {steps}{ended}"
