"""`gymnast league`: ratings of self-play policies and the cross-play matrix."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from gymnast.cli.options import echo_json, json_option, runs_option
from gymnast.processes.env_output import separate_env_output
from gymnast.runs import layout


@click.command()
@click.argument("run", metavar="RUN", default="@last")
@click.option(
    "--matrix", is_flag=True, help="Play every pair of players; print a table and write a PNG."
)
@click.option(
    "--episodes",
    type=click.IntRange(min=1),
    default=50,
    show_default=True,
    help="Matches per pair.",
)
@click.option(
    "--max-snapshots",
    type=click.IntRange(min=2),
    default=8,
    show_default=True,
    help="Maximum number of past policies per role in the matrix, spread evenly over the run.",
)
@runs_option
@json_option
def league(
    run: str,
    matrix: bool,
    episodes: int,
    max_snapshots: int,
    runs_dir: str | None,
    as_json: bool,
) -> None:
    """Show the ratings of a run's roles with their uncertainty, and the cross-play matrix.

    Ratings come from the run's evaluations against scripted opponents, on the Elo scale: scripted:medium
    is 1000, and a difference of 400 points means odds of 10 to 1. The matrix is played now, on held-out
    seeds; earlier results are reused.

    \b
    gymnast league @last
    gymnast league @last --matrix --episodes 100
    gymnast league @last --json
    """
    from gymnast.league.run_ratings import anchored_ratings, read_results
    from gymnast.runs import store

    stored_run, _ = store.resolve(run, store.runs_dir(runs_dir))
    ratings = anchored_ratings(read_results(stored_run))
    result: dict[str, Any] = {"run": stored_run.id, "ratings": ratings.to_json()}
    if not as_json:
        click.echo(f"{stored_run.id}: ratings from its evaluations\n{_table(result['ratings'])}")
    if matrix:
        cross_play_matrix, picture = _matrix(run, episodes, max_snapshots, runs_dir)
        result |= {"matrix": cross_play_matrix.to_json(), "picture": str(picture)}
        if not as_json:
            click.echo(f"\n{cross_play_matrix.text()}\n{picture}")
    if as_json:
        echo_json(result)


def _matrix(run: str, episodes: int, max_snapshots: int, runs_dir: str | None) -> tuple[Any, Path]:
    """Plays the missing pairs; returns the matrix and the file of its picture."""
    from gymnast.cli.progress import progress
    from gymnast.league.heatmap import heatmap_png
    from gymnast.league.matrix import CrossPlayMatrix
    from gymnast.runs import durable
    from gymnast.selfplay.crossplay import cross_play, open_tournament

    tournament = open_tournament(run, n_matches=min(episodes, 64), runs_dir=runs_dir)
    try:
        with separate_env_output(), progress("cross-play") as bar:
            results = cross_play(
                tournament, max_snapshots=max_snapshots, episodes=episodes, progress=bar
            )
    finally:
        tournament.close()
    matrix = CrossPlayMatrix.from_results(results)
    file = layout.LEAGUE.path(tournament.run.path) / "matrix.png"
    durable.replace(file, heatmap_png(matrix))
    return matrix, file


def _table(ratings: dict[str, Any]) -> str:
    """Returns the ratings as a table with a line per player and role."""
    from gymnast.text import formatting

    lines = [
        (
            entrant["role"],
            entrant["name"],
            f"{entrant['rating']:.0f}",
            f"{entrant['low']:.0f} to {entrant['high']:.0f}",
            formatting.count(entrant["matches"]),
        )
        for entrant in ratings["entrants"]
    ]
    return formatting.table(
        ("role", "player", "rating", "95 %", "matches"), lines, "rating matches"
    )
