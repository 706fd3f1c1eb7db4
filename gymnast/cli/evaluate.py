"""`gymnast eval`: evaluates a stored checkpoint on held-out seeds, or the current policy of a running run."""

from __future__ import annotations

from contextlib import closing
from typing import Any

import click

from gymnast import api
from gymnast.cli.control import echo_answer, timeout_option
from gymnast.cli.options import echo_json, json_option, runs_option
from gymnast.errors import UsageError
from gymnast.processes.env_output import separate_env_output
from gymnast.text import formatting


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
    "--sampled", is_flag=True, help="Sample actions instead of taking the most likely ones."
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
@json_option
def eval_(
    run: str,
    episodes: int | None,
    seed: int | None,
    sampled: bool,
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
    gymnast eval 3f2a:120k --sampled
    gymnast eval @last --roles seeker=@last:best,hider=scripted:medium --episodes 200
    gymnast eval @last --live          a run that is training; training waits for the result

    In environments with several roles, each learned role plays against scripted opponents. With --roles,
    you choose the players; roles that you do not name are played by the run's own policies.
    """
    if live:
        _refuse_with_live(episodes=episodes, seed=seed, sampled=sampled, roles=roles)
        answer = api.evaluate_live(run, timeout=timeout, runs_dir=runs_dir)
        score = formatting.score(answer.score and vars(answer.score))
        text = f"scored {score} at {answer.env_steps or 0:,} env steps"
        echo_answer(answer, text, as_json=as_json)
        return
    from gymnast.evaluation.rescore import is_multi_agent_run, rescore

    if roles is not None or is_multi_agent_run(run, runs_dir):
        _eval_roles(run, roles, episodes, seed, sampled, runs_dir, as_json=as_json)
        return
    with separate_env_output():
        result = rescore(
            run,
            episodes=episodes,
            seed=seed,
            sampled=sampled,
            runs_dir=runs_dir,
            on_output=_echo_error,
            report=_report,
        )
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
        f"mean length {result['length']:.5g}, {formatting.episode_count(result)}"
    )
    threshold = result["threshold"]
    if threshold is not None and result["low"] is not None:
        solved = result["sound"] and result["low"] >= threshold
        click.echo(f"{'solved' if solved else 'not solved'}: the threshold is {threshold:g}")


def _refuse_with_live(**options: Any) -> None:
    """Raises UsageError if one of these options (name -> value) was given together with --live."""
    given = [f"--{name}" for name, value in options.items() if value]
    if given:
        fix = "leave out --live to choose how a checkpoint is evaluated"
        raise UsageError(
            f"--live evaluates as the run's config says, so {given[0]} has no effect", fix=fix
        )


def _echo_error(line: str) -> None:
    click.echo(line, err=True)


def _report(done: int, total: int, seconds: float) -> None:
    from gymnast.evaluation.progress import progress_text

    click.echo(f"evaluating: finished {progress_text(done, total, seconds)}", err=True)


def _eval_roles(
    run: str,
    roles: str | None,
    episodes: int | None,
    seed: int | None,
    sampled: bool,
    runs_dir: str | None,
    *,
    as_json: bool,
) -> None:
    """Plays matches with the policies of a run and prints win rates and mean returns per role.

    `roles`: the players as given to --roles; None plays each learned role against the scripted
    opponents. `episodes`: matches per pairing; None means as in the final evaluation of training.
    `seed`: root seed of the episodes; None means `eval.seed`."""
    from gymnast.selfplay.crossplay import open_tournament, parse_cast, play_cast, play_opponents

    options = {"seed": seed, "sampled": sampled, "runs_dir": runs_dir, "report": _report}
    with separate_env_output(), closing(open_tournament(run, **options)) as tournament:
        cast = None if roles is None else parse_cast(roles)
        results = (
            play_opponents(tournament, episodes)
            if cast is None
            else [play_cast(tournament, cast, episodes)]
        )
    if as_json:
        echo_json(results if cast is None else results[0])
        return
    for result in results:
        sides = " against ".join(
            f"{role} {player['plays']}" for role, player in result["roles"].items()
        )
        click.echo(
            f"{result['run']}, checkpoint {result['checkpoint']:,} of {result['env']}: {sides}"
        )
        for role, player in result["roles"].items():
            wins = ""
            if "win_rate" in player:
                ends = f"95 % interval {player['low']:.1%} to {player['high']:.1%}"
                wins = f"wins {player['win_rate']:.1%}  ({ends}), "
            click.echo(f"  {role:<8} {wins}mean return {player['mean_return']:.4g}")
        numbers = result["numbers"]
        shares = {k[6:-6]: v for k, v in numbers.items() if k.endswith("_share") and v}
        ended = ", ".join(f"{name} {share:.1%}" for name, share in shares.items())
        ended = f", ended by {ended}" if ended else ""
        steps = f"mean length {numbers['match/duration']:.4g}"
        count = formatting.count_noun(result["episodes"], "match", "matches")
        if "planned" in result:
            count += f" of {result['planned']} ({result['missing']})"
        click.echo(f"  {count}, {steps}{ended}")
