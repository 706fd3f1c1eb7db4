"""`gymnast trajectories`: episodes and matches as JSON lines, and what is made from them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from gymnast import api
from gymnast.api.episodes import KINDS, Kind
from gymnast.cli.options import data_option, echo_json, json_option, runs_option
from gymnast.cli.tasks import wait_for
from gymnast.errors import UsageError
from gymnast.text import formatting

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gymnast.trajectories.record import (
        RebuiltEvaluation,
        SkippedEpisode,
        TrajectoryFiles,
        TrajectoryMetrics,
    )


@click.command()
@click.argument("source", metavar="RUN[:CHECKPOINT]|DIR", default="@last")
@click.option("--metrics", is_flag=True, help="Compute metrics from the trajectories.")
@click.option("--paths", is_flag=True, help="Draw the paths of agents, as PNG files.")
@click.option("--replay", is_flag=True, help="Make films of the trajectories.")
@click.option(
    "--kind",
    type=click.Choice(KINDS),
    default="eval",
    show_default=True,
    help="Which stored episodes of the run.",
)
@click.option(
    "--number",
    type=click.IntRange(min=0),
    metavar="N",
    help="With --paths or --replay: only episode or match N.",
)
@click.option(
    "--out",
    metavar="DIR",
    help="With --paths or --replay: where the files go. Default: next to the trajectories.",
)
@data_option
@runs_option
@json_option
def trajectories(
    source: str,
    metrics: bool,
    paths: bool,
    replay: bool,
    kind: Kind,
    number: int | None,
    out: str | None,
    data: str | None,
    runs_dir: str | None,
    as_json: bool,
) -> None:
    """Write the stored episodes or matches of a run as JSON lines, with the positions of agents.

    The files are DATA/trajectories/RUN/KIND-VERSION.jsonl, with a line per episode; their format is described
    in docs/trajectories.md. Episodes are replayed from their seed and actions. One whose replay differs is
    reported and not written. DIR: files that were written before, by gymnast or by another program.

    \b
    gymnast trajectories @last
    gymnast trajectories @last --metrics
    gymnast trajectories @last:best --paths --out pictures
    gymnast trajectories @last --replay --number 0
    """
    if metrics + paths + replay > 1:
        problem = "--metrics, --paths and --replay cannot be combined"
        raise UsageError(problem, fix="run the command once for each of them")
    if not (paths or replay) and (out is not None or number is not None):
        option = "--out" if out is not None else "--number"
        raise UsageError(f"{option} has no effect here", fix="add --paths or --replay")
    if metrics:
        task = api.trajectory_metrics(source, kind=kind, data=data, runs_dir=runs_dir)
        rebuilt = wait_for(task, "writing")
        _print(rebuilt, _metrics_text(rebuilt), rebuilt.skipped, as_json)
    elif paths:
        drawing = api.trajectory_paths(
            source, kind=kind, number=number, out=out, data=data, runs_dir=runs_dir
        )
        drawn = wait_for(drawing, "drawing")
        lines = [picture.path for picture in drawn.pictures]
        _print(drawn, "\n".join(lines), drawn.skipped, as_json)
    elif replay:
        filming = api.trajectory_replay(
            source, kind=kind, number=number, out=out, data=data, runs_dir=runs_dir
        )
        filmed = wait_for(filming, "filming")
        _print(filmed, "\n".join(film.path for film in filmed.films), filmed.skipped, as_json)
        for film in filmed.films:
            if not film.exact:
                click.echo(f"warning: {film.path}: {film.note}", err=True)
    else:
        writing = api.trajectories(source, kind=kind, data=data, runs_dir=runs_dir)
        files = wait_for(writing, "writing")
        _print(files, _files_text(files), files.skipped, as_json)


def _print(result: object, text: str, skipped: Sequence[SkippedEpisode], as_json: bool) -> None:
    """Prints the result, and a warning for episodes without a trajectory."""
    if as_json:
        echo_json(result)
    else:
        click.echo(text)
    for one in skipped[:3]:
        name = f"{one.kind} {one.version:,} number {one.number}"
        click.echo(f"warning: {name} was not written: {one.why}", err=True)
    if len(skipped) > 3:
        click.echo(f"warning: {len(skipped) - 3} more were not written (--json)", err=True)


def _files_text(found: TrajectoryFiles) -> str:
    head = ["kind", "version", "episodes", "steps", "positions", "file"]
    lines = [
        [
            file.kind,
            f"{file.version:,}",
            f"{file.episodes:,}",
            f"{file.steps:,}",
            "yes" if file.has_positions else "no",
            file.path,
        ]
        for file in found.files
    ]
    return formatting.table(head, lines, right="version episodes steps")


def _metrics_text(rebuilt: TrajectoryMetrics) -> str:
    return "\n\n".join(_evaluation_text(one) for one in rebuilt.evaluations)


def _evaluation_text(one: RebuiltEvaluation) -> str:
    """Returns the table of one evaluation, below a line that says whether it agrees with the record."""
    compared = [metric.equal for metric in one.metrics if metric.equal is not None]
    if one.note:
        verdict = one.note
    elif not compared:
        verdict = "nothing was recorded to compare with"
    elif all(compared):
        verdict = f"all {len(compared)} metrics are equal to the recorded ones"
    else:
        verdict = (
            f"{compared.count(False)} of {len(compared)} metrics differ from the recorded ones"
        )
    count = formatting.count_noun(one.episodes, "trajectory", "trajectories")
    head = f"{one.run} {one.kind} {one.version:,}, {count}: {verdict}"
    lines = [
        [
            metric.name,
            f"{metric.value:.6g}",
            "" if metric.recorded is None else f"{metric.recorded:.6g}",
            {None: "", True: "equal", False: "differs"}[metric.equal],
        ]
        for metric in one.metrics
    ]
    table = formatting.table(
        ["metric", "trajectories", "recorded", ""], lines, right="trajectories recorded"
    )
    return f"{head}\n{table}"
