"""`gymnast league`: ratings of self-play policies and the cross-play matrix."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import click

from gymnast import api
from gymnast.cli.options import allow_code_option, echo_json, json_option, runs_option
from gymnast.cli.tasks import wait_for
from gymnast.text import formatting

if TYPE_CHECKING:
    from gymnast.league.matrix import CrossPlayReport
    from gymnast.league.ratings import RatingTable


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
@allow_code_option
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
    seeds; earlier results are reused. --json also has the ratings, win rates and outcomes over time, and the
    lengths of the stored matches.

    \b
    gymnast league @last
    gymnast league @last --matrix --episodes 100
    gymnast league @last --json
    """
    found = api.league(run, runs_dir=runs_dir)
    if not as_json:
        click.echo(f"{found.run}: ratings from its evaluations\n{_ratings(found.ratings)}")
    played = None
    if matrix:
        task = api.cross_play(
            run, episodes=episodes, max_snapshots=max_snapshots, runs_dir=runs_dir
        )
        played = wait_for(task, "cross-play")
        if not as_json:
            click.echo(f"\n{_matrix(played)}\n{played.picture}")
    if as_json:
        record = api.self_play(run, runs_dir=runs_dir)
        echo_json(record if played is None else replace(record, matrix=played))


def _ratings(ratings: RatingTable) -> str:
    """Returns the ratings as a table with a line per player and role."""
    lines = [
        (
            entrant.role,
            entrant.name,
            f"{entrant.rating:.0f}",
            f"{entrant.low:.0f} to {entrant.high:.0f}",
            formatting.count(entrant.matches),
        )
        for entrant in ratings.entrants
    ]
    return formatting.table(
        ("role", "player", "rating", "95 %", "matches"), lines, "rating matches"
    )


def _matrix(matrix: CrossPlayReport) -> str:
    """Returns the win rates of all pairs as a table, and an explanation of its numbers."""
    if not matrix.rows or not matrix.columns:
        return "(no matches yet)"
    head = (f"{matrix.row_role} \\ {matrix.column_role}", *matrix.columns)
    lines = [(name, *map(str, line)) for name, line in zip(matrix.rows, matrix.cells, strict=True)]
    table = formatting.table(head, lines, right=" ".join(matrix.columns))
    return f"{table}\n{matrix.legend()}"
