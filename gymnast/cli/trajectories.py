"""`gymnast trajectories`: episodes and matches as JSON lines, and what is made from them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gymnast import api
from gymnast.api.episodes import KINDS, Kind
from gymnast.cli.options import allow_code_option, data_option, echo_json, json_option, runs_option
from gymnast.cli.tasks import wait_for
from gymnast.cli.trajectory_tables import files_text, metrics_text
from gymnast.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gymnast.trajectories.record import SkippedEpisode


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
@allow_code_option
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
    if os.sep not in source and Path(source).exists():
        source = os.path.join(os.curdir, source)  # a directory here, not a run of that name
    if metrics:
        task = api.trajectory_metrics(source, kind=kind, data=data, runs_dir=runs_dir)
        rebuilt = wait_for(task, "writing")
        _print(rebuilt, metrics_text(rebuilt), rebuilt.skipped, as_json)
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
        _print(files, files_text(files), files.skipped, as_json)


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
