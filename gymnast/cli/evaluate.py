"""`gymnast eval`."""

from __future__ import annotations

from contextlib import closing

import click

from gymnast.cli.options import echo_json, json_option, runs_option
from gymnast.env_output import kept_apart
from gymnast.text import wording


@click.command("eval")
@click.argument("run", metavar="RUN[:CHECKPOINT]", default="@last")
@click.option(
    "--episodes", type=click.IntRange(min=1), help="How many; default as confirmed in training."
)
@click.option("--seed", type=click.IntRange(min=0), help="Root of the episode seeds.")
@click.option("--sampled", is_flag=True, help="Draw actions instead of taking the most likely.")
@click.option(
    "--roles",
    metavar="ROLE=PLAYER,...",
    help="Who plays each role: learner, scripted:NAME, random, step:N or RUN[:CHECKPOINT].",
)
@runs_option
@json_option
def eval_(
    run: str,
    episodes: int | None,
    seed: int | None,
    sampled: bool,
    roles: str | None,
    runs_dir: str | None,
    as_json: bool,
) -> None:
    """Score a run's policy on fixed, held-out seeds. Without a checkpoint: the best one.

    \b
    gymnast eval @last
    gymnast eval @last:best --episodes 100 --json
    gymnast eval 3f2a:120k --sampled
    gymnast eval @last --roles seeker=@last:best,hider=scripted:medium --episodes 200

    Where roles play each other, each is scored against scripted opponents unless --roles says who plays;
    those that are not named are played by the run's own policies.
    """
    from gymnast.training.rescore import has_roles, rescore

    if roles is not None or has_roles(run, runs_dir):
        _eval_roles(run, roles, episodes, seed, sampled, runs_dir, as_json=as_json)
        return
    with kept_apart():
        result = rescore(
            run,
            episodes=episodes,
            seed=seed,
            sampled=sampled,
            runs_dir=runs_dir,
            tell=_tell,
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
        f"mean length {result['length']:.5g}, {wording.episodes_of(result)}"
    )
    threshold = result["threshold"]
    if threshold is not None and result["low"] is not None:
        solved = result["sound"] and result["low"] >= threshold
        click.echo(f"{'solved' if solved else 'not solved'}: the threshold is {threshold:g}")


def _tell(line: str) -> None:
    click.echo(line, err=True)


def _report(done: int, total: int, seconds: float) -> None:
    from gymnast.training.progress import progress_text

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
    from gymnast.training.crossplay import open_tournament, parse_cast, play_cast, play_opponents

    given = {"seed": seed, "sampled": sampled, "runs_dir": runs_dir, "report": _report}
    with kept_apart(), closing(open_tournament(run, **given)) as tournament:
        cast = None if roles is None else parse_cast(roles)
        every = (
            play_opponents(tournament, episodes)
            if cast is None
            else [play_cast(tournament, cast, episodes)]
        )
    if as_json:
        echo_json(every if cast is None else every[0])
        return
    for told in every:
        sides = " against ".join(f"{role} {one['plays']}" for role, one in told["roles"].items())
        click.echo(f"{told['run']}, checkpoint {told['checkpoint']:,} of {told['env']}: {sides}")
        for role, one in told["roles"].items():
            wins = ""
            if "win_rate" in one:
                ends = f"95 % interval {one['low']:.1%} to {one['high']:.1%}"
                wins = f"wins {one['win_rate']:.1%}  ({ends}), "
            click.echo(f"  {role:<8} {wins}mean return {one['mean_return']:.4g}")
        numbers = told["numbers"]
        shares = {k[6:-6]: v for k, v in numbers.items() if k.endswith("_share") and v}
        ended = ", ".join(f"{name} {share:.1%}" for name, share in shares.items())
        ended = f", ended by {ended}" if ended else ""
        steps = f"mean length {numbers['match/duration']:.4g}"
        count = wording.counted(told["episodes"], "match", "matches")
        if "planned" in told:
            count += f" of {told['planned']} ({told['missing']})"
        click.echo(f"  {count}, {steps}{ended}")
