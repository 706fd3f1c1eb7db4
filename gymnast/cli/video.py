"""`gymnast video`: makes videos of recorded episodes and matches."""

from __future__ import annotations

import click

from gymnast import api
from gymnast.api.episodes import KINDS, Kind
from gymnast.cli.options import allow_code_option, echo_json, json_option, runs_option
from gymnast.cli.tasks import wait_for


@click.command()
@click.argument("run", metavar="RUN[:CHECKPOINT]", default="@last")
@click.option(
    "--episode",
    default="best",
    show_default=True,
    metavar="best|last|N",
    help="The best episode of the best checkpoint, the first of the last evaluation, or number N (from 0).",
)
@click.option(
    "--kind",
    type=click.Choice(KINDS),
    default="eval",
    show_default=True,
    help="Which recorded episodes.",
)
@click.option(
    "--learning",
    is_flag=True,
    help="Show learning progress: several evaluations in sequence, in 1080p.",
)
@click.option(
    "--grid", metavar="FILE.png", help="One picture with eight frames instead of a video."
)
@click.option("--out", metavar="FILE.mp4", help="Default: in the run, under videos/.")
@click.option("--fps", type=click.FloatRange(min=0, min_open=True), help="Frames per second.")
@runs_option
@allow_code_option
@json_option
def video(
    run: str,
    episode: str,
    kind: Kind,
    learning: bool,
    grid: str | None,
    out: str | None,
    fps: float | None,
    runs_dir: str | None,
    as_json: bool,
) -> None:
    """Make a video of a recorded episode from its trace. The policy is not run again.

    Videos of the best and the last evaluation of every run are made automatically when training ends
    (traces.film); `gymnast show RUN` lists them.

    For a run with several roles, videos of matches of the best (or last) checkpoint are made: for each
    role and opponent, a match that was won and one that was lost. With --episode N, and always with
    --out or --grid, it is one match: recorded match number N, from 0.

    \b
    gymnast video @last
    gymnast video @last:120k --episode 3 --out fourth.mp4
    gymnast video @last --learning
    gymnast video @last --grid episode.png
    """
    task = api.video(
        run,
        episode=episode,
        kind=kind,
        learning=learning,
        grid=grid,
        out=out,
        fps=fps,
        runs_dir=runs_dir,
    )
    report = wait_for(task, "filming")
    if as_json:
        echo_json(report)
        return
    for film in report.films:
        click.echo(film.path)
        if not film.exact:
            click.echo(f"warning: {film.note}", err=True)
    codec = report.films[0].codec
    if codec not in ("libx264", "libopenh264", "png"):
        click.echo(f"warning: no H.264 encoder found, the video is {codec}", err=True)


@click.command()
@click.option(
    "--clear", is_flag=True, help="Remove what waits. What is being made is not affected."
)
@runs_option
@json_option
def films(clear: bool, runs_dir: str | None, as_json: bool) -> None:
    """List the films and trajectories that wait to be made after training.

    One process makes them for all runs of a runs directory: trajectories first, then the shortest films.
    `gymnast video RUN` makes a film at once.

    \b
    gymnast films
    gymnast films --clear
    """
    requests = (api.clear_film_queue if clear else api.film_queue)(runs_dir=runs_dir)
    if as_json:
        echo_json(requests)
        return
    for request in requests:
        state = "removed" if clear else "being made" if request.running else "waits"
        click.echo(f"{request.run}  {request.part:12}  {state}")
    if not requests:
        click.echo("nothing waits")
