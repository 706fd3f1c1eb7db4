"""`gymnast reproduce`: trains a preset again and compares with its stored result."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from gymnast.cli.options import echo_json, jobs_option, json_option, runs_option, track_option
from gymnast.errors import UsageError

if TYPE_CHECKING:
    from gymnast.insight.stored_result import StoredResult
    from gymnast.insight.verdict import ResultVerdict


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
    from pathlib import Path

    from gymnast.config.resolve import resolve
    from gymnast.insight import envelope, results
    from gymnast.insight.verdict import verdict as compare_with_stored
    from gymnast.jobs.groups import train_group
    from gymnast.metrics.tracking import require_packages
    from gymnast.runs import store
    from gymnast.runs.curve import read_rows
    from gymnast.runs.run import Run

    if store_it:
        results.require_committed_code()  # before hours of training, not after
    resolved = resolve(preset, {"track.to": list(trackers)} if trackers else {})
    require_packages(resolved.config.track.to)
    # With --store there is nothing to compare with: the new result replaces the old one.
    stored = None if store_it else results.load_result(resolved.preset)
    stored_seeds = results.n_seeds(resolved.preset) if stored is None else len(stored["seeds"])
    count = seeds or stored_seeds or 1
    if store_it and count < stored_seeds:
        # A result over fewer seeds would replace better evidence.
        problem = (
            f"the stored result of {resolved.preset} has {stored_seeds} seeds, "
            f"this one would have {count}"
        )
        raise UsageError(problem, fix=f"--seeds {stored_seeds} or more, or omit --store")
    group = train_group(
        resolved.preset,
        seeds=[e["seed"] for e in stored["seeds"][:count]] if stored else range(count),
        jobs=jobs,
        arguments=[word for name in trackers for word in ("--track", name)],
        runs_dir=store.runs_dir(runs_dir),
        report=None if as_json else click.echo,
    )
    for seed, text in group.errors.items():
        click.echo(f"seed {seed}: {text}", err=True)
    if not group.ok:
        return 130 if group.interrupted else 1
    if stored is None:
        threshold = resolved.config.facts.threshold
        result = results.build_result(resolved.preset, group.runs, threshold)
        click.echo(f"stored in {results.save_result(result)}")
        if len(group.runs) > 1:  # an envelope needs several runs
            records = [read_rows(Run(Path(run.path))) for run in group.runs]
            envelope.save_envelope(envelope.build_envelope(resolved.preset, records))
        return 0
    verdict = compare_with_stored(stored, group.runs)
    if as_json:
        echo_json(verdict)
    else:
        word = "holds" if verdict.holds else "does NOT hold"
        same = ", identical to the last digit" if verdict.identical else ""
        click.echo(f"{resolved.preset}: the stored result {word}{same}")
        click.echo(_means(stored, verdict))
    return 0 if verdict.holds else 1


def _means(stored: StoredResult, verdict: ResultVerdict) -> str:
    """Returns the stored and the new mean over the same seeds; other seeds would not be comparable."""
    from gymnast.text.formatting import count_noun

    repeated = count_noun(len(verdict.seeds), "seed")
    all_seeds = count_noun(len(stored["seeds"]), "seed")
    rest = "" if repeated == all_seeds else f" (over all {all_seeds}: {stored['mean']:.5g})"
    return (
        f"  stored  {verdict.stored_same_seeds:.5g} over the same {repeated}{rest}\n"
        f"  now     {verdict.now.mean:.5g} over {repeated}"
    )
