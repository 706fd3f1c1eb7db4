"""Ratings of the entrants of a run, computed from its evaluations."""

from __future__ import annotations

from gymnast.errors import RunError
from gymnast.league.ratings import Ratings, fit_ratings
from gymnast.league.results import Entrant, Results
from gymnast.runs import checkpoint
from gymnast.runs.run import Run

ANCHOR, ANCHORED = "scripted:medium", 1000.0
"""The entrant with a fixed rating, and that rating; it makes ratings of different runs comparable."""


def anchored_ratings(results: Results) -> Ratings:
    """Returns the ratings of all entrants, with the scripted player ANCHOR of each role fixed."""
    rows, columns = results.rows(), results.columns()
    anchors = {Entrant(results.row_role, ANCHOR): ANCHORED} if ANCHOR in rows else {}
    if ANCHOR in columns:
        anchors[Entrant(results.column_role, ANCHOR)] = ANCHORED
    return fit_ratings(results, anchors)


def read_results(run: Run) -> Results:
    """Returns the results of all evaluations of a run up to its last checkpoint. Raises RunError if it has no
    ratings, CheckpointError without a checkpoint."""
    league = checkpoint.find(run.path, "latest").document("state").get("league") or {}
    if league.get("results") is None:
        what = f"{run.id} has no ratings: they need two roles, one of which wins the match"
        raise RunError(what, fix="train such an environment: gymnast train tag:selfplay")
    return Results.from_json(league["results"])
