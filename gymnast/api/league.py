"""Ratings of the players of a self-play run, and cross-play."""

from __future__ import annotations

from dataclasses import dataclass

from gymnast.insight.self_play import SelfPlay, describe_self_play
from gymnast.league.matrix import CrossPlayReport
from gymnast.league.ratings import RatingTable
from gymnast.league.run_ratings import anchored_ratings, read_results
from gymnast.runs import store
from gymnast.runs.store import RunsDir
from gymnast.settings import view_clock
from gymnast.tasks import Task, start


@dataclass(frozen=True)
class LeagueRatings:
    """The ratings of a run, from its evaluations against scripted opponents."""

    run: str
    """Id of the run."""
    ratings: RatingTable
    """The ratings on the Elo scale: scripted:medium is 1000, and 400 points mean odds of 10 to 1."""


def league(ref: str = "@last", *, runs_dir: RunsDir = None) -> LeagueRatings:
    """Returns the ratings of the players of a self-play run with their uncertainty, from its
    evaluations."""
    run, _ = store.resolve_readable(ref, store.runs_dir(runs_dir))
    return LeagueRatings(run.id, anchored_ratings(read_results(run)).table())


def self_play(ref: str = "@last", *, x: str = "", runs_dir: RunsDir = None) -> SelfPlay:
    """Returns how the roles of a self-play run developed over the clock `x`: ratings with their uncertainty,
    win rates, outcomes, lengths of matches, and the cross-play matrix if it was played. Raises UsageError for
    a run with a single agent."""
    run, _ = store.resolve_readable(ref, store.runs_dir(runs_dir))
    return describe_self_play(run, view_clock(x))


def cross_play(
    ref: str = "@last",
    *,
    episodes: int = 50,
    max_snapshots: int = 8,
    deadline: float | None = None,
    runs_dir: RunsDir = None,
) -> Task[CrossPlayReport]:
    """Plays every pair of players of a self-play run, past policies and scripted ones, on held-out seeds, and
    draws the matrix of win rates; earlier results are reused. `episodes`: matches per pair;
    `max_snapshots`: maximum number of past policies per role, spread evenly over the run."""
    arguments = {"ref": ref, "episodes": episodes, "max_snapshots": max_snapshots}
    return start(
        "gymnast.selfplay.task:cross_play",
        arguments | {"runs_dir": store.runs_dir(runs_dir)},
        CrossPlayReport,
        title=f"cross-play of {ref}",
        deadline=deadline,
    )
