"""How the players of a run stand: ratings from its evaluations."""

from __future__ import annotations

from gymnast.errors import RunError
from gymnast.league.ratings import Ratings, rate
from gymnast.league.results import Entrant, Results
from gymnast.runs import checkpoint
from gymnast.runs.run import Run

ANCHOR, ANCHORED = "scripted:medium", 1000.0
"""Who is not rated but given, so that ratings of different runs can be compared."""


def ratings_of(results: Results) -> Ratings:
    rows, columns = results.rows(), results.columns()
    anchors = {Entrant(results.row, ANCHOR): ANCHORED} if ANCHOR in rows else {}
    if ANCHOR in columns:
        anchors[Entrant(results.column, ANCHOR)] = ANCHORED
    return rate(results, anchors)


def results_of(run: Run) -> Results:
    """Of all its evaluations, up to its last checkpoint."""
    league = checkpoint.find(run.path, "latest").document("state").get("league") or {}
    if league.get("results") is None:
        what = f"{run.id} has no ratings: its environment has no two roles of which one wins"
        raise RunError(what, fix="gymnast train tag:selfplay")
    return Results.from_json(league["results"])
