"""`gymnast league`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from gymnast.cli.options import echo_json, json_option, runs_option
from gymnast.processes.env_output import separate_env_output


@click.command()
@click.argument("run", metavar="RUN", default="@last")
@click.option(
    "--matrix", is_flag=True, help="Play everybody against everybody, as a table and PNG."
)
@click.option(
    "--episodes",
    type=click.IntRange(min=1),
    default=50,
    show_default=True,
    help="Matches of each pair.",
)
@click.option(
    "--most",
    type=click.IntRange(min=2),
    default=8,
    show_default=True,
    help="Past selves of each role in the matrix, evenly over the run.",
)
@runs_option
@json_option
def league(
    run: str, matrix: bool, episodes: int, most: int, runs_dir: str | None, as_json: bool
) -> None:
    """Ratings of a run's roles with their uncertainty, and who beats whom.

    Ratings are from the run's evaluations against scripted opponents; scripted:medium is 1000, and 400
    points more are odds of 10 to 1. The matrix is played now, on held-out seeds; what was played
    before is kept.

    \b
    gymnast league @last
    gymnast league @last --matrix --episodes 100
    gymnast league @last --json
    """
    from gymnast.league.standing import ratings_of, results_of
    from gymnast.runs import store

    found, _ = store.resolve(run, store.runs_dir(runs_dir))
    ratings = ratings_of(results_of(found))
    told: dict[str, Any] = {"run": found.id, "ratings": ratings.to_json()}
    if not as_json:
        click.echo(f"{found.id}: ratings by its evaluations\n{_table(told['ratings'])}")
    if matrix:
        crossed, picture = _matrix(run, episodes, most, runs_dir)
        told |= {"matrix": crossed.to_json(), "picture": str(picture)}
        if not as_json:
            click.echo(f"\n{crossed.text()}\n{picture}")
    if as_json:
        echo_json(told)


def _matrix(run: str, episodes: int, most: int, runs_dir: str | None) -> tuple[Any, Path]:
    from gymnast.cli.progress import progress
    from gymnast.league.heat import picture
    from gymnast.league.matrix import Matrix
    from gymnast.runs import durable
    from gymnast.selfplay.crossplay import cross_play, open_tournament

    tournament = open_tournament(run, n_matches=min(episodes, 64), runs_dir=runs_dir)
    try:
        with separate_env_output(), progress("cross-play") as bar:
            results = cross_play(tournament, most=most, episodes=episodes, progress=bar)
    finally:
        tournament.close()
    crossed = Matrix.of(results)
    file = tournament.run.path / "league" / "matrix.png"
    durable.replace(file, picture(crossed))
    return crossed, file


def _table(ratings: dict[str, Any]) -> str:
    from gymnast.text import wording

    lines = [
        (
            entrant["role"],
            entrant["name"],
            f"{entrant['rating']:.0f}",
            f"{entrant['low']:.0f} to {entrant['high']:.0f}",
            wording.count(entrant["matches"]),
        )
        for entrant in ratings["entrants"]
    ]
    return wording.table(("role", "player", "rating", "95 %", "matches"), lines, "rating matches")
