"""Ratings of the entrants of a run, computed from its evaluations."""

from __future__ import annotations

from gymnast.errors import RunError
from gymnast.league.ratings import Ratings, rate
from gymnast.league.results import Entrant, Results
from gymnast.runs import checkpoint
from gymnast.runs.run import Run

ANCHOR, ANCHORED = "scripted:medium", 1000.0
"""The entrant with a fixed rating, and that rating; it makes ratings of different runs comparable."""


def ratings_of(results: Results) -> Ratings:
    rows, columns = results.rows(), results.columns()
    anchors = {Entrant(results.row, ANCHOR): ANCHORED} if ANCHOR in rows else {}
    if ANCHOR in columns:
        anchors[Entrant(results.column, ANCHOR)] = ANCHORED
    return rate(results, anchors)


def results_of(run: Run) -> Results:
    """Returns the results of all evaluations of a run up to its last checkpoint."""
    league = checkpoint.find(run.path, "latest").document("state").get("league") or {}
    if league.get("results") is None:
        what = f"{run.id} has no ratings: they need two roles, one of which wins the match"
        raise RunError(what, fix="train such an environment: gymnast train tag:selfplay")
    return Results.from_json(league["results"])
