"""`gymnast reproduce`: trains a preset again and compares with its stored result."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from gymnast.api import foreground
from gymnast.cli.options import echo_json, jobs_option, json_option, runs_option, track_option
from gymnast.text.formatting import count_noun

if TYPE_CHECKING:
    from gymnast.insight.reproduction import Reproduction

if TYPE_CHECKING:
    pass


@click.command()
@click.argument("preset", metavar="ENV[:VARIANT]")
@click.option(
    "--seeds",
    type=click.IntRange(min=1),
    help="Number of seeds. Default: all of the stored result.",
)
@jobs_option
@click.option(
    "--store",
    "store_it",
    is_flag=True,
    help="Store the new result; requires a clean git work tree.",
)
@track_option
@runs_option
@json_option
def reproduce(
    preset: str,
    seeds: int | None,
    jobs: int,
    store_it: bool,
    trackers: tuple[str, ...],
    runs_dir: str | None,
    as_json: bool,
) -> int:
    """Train a preset again with the seeds of its stored result, and report whether it holds.

    \b
    gymnast reproduce CartPole-v1:ppo
    gymnast reproduce LunarLander-v3 --seeds 1

    On the same CPU type with the same package versions, the scores are identical to the last digit.
    """
    result = foreground.reproduce_here(
        preset,
        seeds=seeds,
        jobs=jobs,
        store_result=store_it,
        trackers=trackers,
        report=None if as_json else click.echo,
        runs_dir=runs_dir,
    )
    for seed, text in result.errors.items():
        click.echo(f"seed {seed}: {text}", err=True)
    if as_json:
        echo_json(result)
    elif result.stored_in is not None:
        click.echo(f"stored in {result.stored_in}")
    elif result.comparison is not None:
        click.echo(reproduction_text(result))
    if not result.ok:
        return 130 if result.interrupted else 1
    return 0 if result.comparison is None or result.comparison.holds else 1


def reproduction_text(result: Reproduction) -> str:
    """Returns whether the stored result holds, and the stored and the new mean over the same seeds; other
    seeds would not be comparable."""
    against = result.comparison
    assert against is not None
    word = "holds" if against.holds else "does NOT hold"
    same = ", identical to the last digit" if against.identical else ""
    repeated, every = (count_noun(n, "seed") for n in (len(result.seeds), against.stored_seeds))
    rest = "" if repeated == every else f" (over all {every}: {against.stored.mean:.5g})"
    return (
        f"{result.preset}: the stored result {word}{same}\n"
        f"  stored  {against.stored_same_seeds:.5g} over the same {repeated}{rest}\n"
        f"  now     {result.now.mean:.5g} over {repeated}"
    )
