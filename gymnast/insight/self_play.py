"""Describes how the roles of a self-play run developed: returns, ratings, win rates, outcomes, lengths of
matches."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gymnast.clock import CLOCKS, DEFAULT_CLOCK
from gymnast.config.families import is_multi_agent
from gymnast.config.sections.league import LEARNER
from gymnast.errors import CheckpointError, RunError, UsageError
from gymnast.insight.lengths import count_lengths, length_edges
from gymnast.league.matrix import CrossPlayReport
from gymnast.league.ratings import RatingTable
from gymnast.league.results import Results
from gymnast.league.run_ratings import anchored_ratings, read_results
from gymnast.league.stored_cross_play import read_cross_play
from gymnast.metrics.downsample import downsample
from gymnast.metrics.specs import split_key
from gymnast.runs.curve import SCORED_STEPS_KEY, interpolate
from gymnast.runs.episodes import list_episodes
from gymnast.runs.run import Run

POINTS = 800
"""Maximum number of points of a curve; the extremes stay."""


@dataclass(frozen=True)
class RatingCurve:
    """The rating of a role at every evaluation, on the Elo scale: scripted:medium is 1000."""

    role: str
    x: list[float]
    """Positions of the versions that were evaluated, on the clock of the record."""
    rating: list[float]
    low: list[float]
    """Lower ends of the 95 % intervals."""
    high: list[float]
    """Upper ends of the intervals."""


@dataclass(frozen=True)
class RoleCurve:
    """A number over time, from the side of a role."""

    role: str
    """The role; empty for the outcomes and lengths of training matches, which all roles share."""
    label: str
    """The opponent of a win rate, or the outcome; for returns and lengths `training` or `evaluation`."""
    x: list[float]
    y: list[float]
    """Returns, lengths in steps, or shares, 0..1. Matches with an unknown outcome count for no side; their
    share is an outcome of its own."""
    low: list[float]
    """Lower ends of the 95 % intervals; empty if there are none."""
    high: list[float]
    """Upper ends of the intervals."""


@dataclass(frozen=True)
class DurationHistogram:
    """The lengths of the stored matches of a role: of each evaluation, the first few against each
    opponent."""

    role: str
    """The role that a learning policy had; empty for the matches of training."""
    edges: list[float]
    """Edges of the bins in steps, one more than bins; a bin includes its upper edge."""
    counts: list[int]
    """Number of matches in each bin."""


@dataclass(frozen=True)
class SelfPlay:
    """The development of the roles of a self-play run."""

    run: str
    """Id of the run."""
    x: str
    """The clock that the x values count."""
    roles: list[str]
    returns: list[RoleCurve]
    """Mean returns per match, in training and in evaluations."""
    ratings: list[RatingCurve]
    """Ratings from the evaluations against scripted opponents; empty if the environment has none."""
    win_rates: list[RoleCurve]
    """Win rates against each kind of opponent."""
    outcomes: list[RoleCurve]
    """Shares of the outcomes; those of a role and those of training each add up to 1."""
    lengths: list[RoleCurve]
    """Mean lengths of matches, in training and in evaluations."""
    durations: list[DurationHistogram]
    matrix: CrossPlayReport | None
    """The cross-play matrix, if it was played (`gymnast league RUN --matrix`)."""
    players: RatingTable
    """Ratings of all players, from the evaluations up to the last checkpoint."""


def describe_self_play(run: Run, x: str = DEFAULT_CLOCK) -> SelfPlay:
    """Returns the development of a run's roles over the clock `x`. Raises UsageError if the run has no roles,
    or for an unknown clock."""
    if x not in CLOCKS:
        raise UsageError(f"{x!r} is not a clock", fix=f"use {', '.join(CLOCKS)}")
    env = run.info["env"]
    if not is_multi_agent(env):
        raise UsageError(
            f"run {run.id} has no roles, because {env} has a single agent",
            fix="choose a self-play run, or train one: gymnast train tag:selfplay",
        )
    columns = _Columns(run, x)
    results = _results(run)
    return SelfPlay(
        run=run.id,
        x=x,
        roles=columns.roles,
        returns=[*_returns(columns)],
        ratings=[*_ratings(columns)],
        win_rates=[*_win_rates(columns)],
        outcomes=[*_outcomes(columns)],
        lengths=[*_lengths(columns)],
        durations=[*_durations(run, columns.roles)],
        matrix=None if results is None else read_cross_play(run, results),
        players=RatingTable((), None) if results is None else anchored_ratings(results).table(),
    )


Points = tuple[list[float], list[float]]
RETURN, LENGTH = "episode/return", "match/duration"


class _Columns:
    """The metrics of matches and the league, by key."""

    def __init__(self, run: Run, x: str) -> None:
        self.keys, columns = _read_columns(run, x)
        self._columns = columns
        # all clocks start together
        self._steps = [0.0, *columns["clock/env_steps"]]
        self._clock = [0.0, *columns[f"clock/{x}"]]
        scopes = [split_key(key)[0] for key in self.keys]
        own = [scope[0] for scope in scopes if scope and scope[0] != "eval"]
        evaluated = [scope[1] for scope in scopes if len(scope) > 1 and scope[0] == "eval"]
        self.roles = list(dict.fromkeys([*own, *evaluated]))

    def points(self, key: str) -> Points:
        """Returns the positions and values of a metric. An evaluation is at the clock of the version that it
        scored."""
        values = self._columns.get(key, [])
        recorded = [i for i, value in enumerate(values) if not math.isnan(value)]
        if not key.startswith("eval"):
            return [self._clock[i + 1] for i in recorded], [values[i] for i in recorded]
        versions = self._columns[SCORED_STEPS_KEY]
        found = sorted({versions[i]: values[i] for i in recorded}.items())
        return [interpolate(at, self._steps, self._clock) for at, _ in found], [y for _, y in found]


def _read_columns(run: Run, x: str) -> tuple[list[str], dict[str, list[float]]]:
    """Returns the keys of the metrics of matches and of the returns, and these, the clocks and the evaluated
    versions as key -> values, one per row; NaN where a row lacks it."""
    with run.metrics() as store:
        keys = [key for key in store.names() if _is_read(split_key(key)[1])]
        wanted = ["clock/env_steps", f"clock/{x}", SCORED_STEPS_KEY, *keys]
        columns = store.read(list(dict.fromkeys(wanted)))
    return keys, {key: column.tolist() for key, column in columns.items()}


def _is_read(metric: str) -> bool:
    return metric == RETURN or metric.startswith(("match/", "league/"))


def _results(run: Run) -> Results | None:
    """Returns the results of all evaluations; None before the first checkpoint, and without ratings."""
    try:
        return read_results(run)
    except (RunError, CheckpointError):
        return None


def _returns(columns: _Columns) -> Iterator[RoleCurve]:
    for role in columns.roles:
        for key, label in (
            (f"{role}:{RETURN}", "training"),
            (f"eval/{role}:{RETURN}", "evaluation"),
        ):
            if key in columns.keys:
                yield _curve(columns, key, role, label)


def _lengths(columns: _Columns) -> Iterator[RoleCurve]:
    if LENGTH in columns.keys:
        yield _curve(columns, LENGTH, "", "training")
    for role in columns.roles:
        if (key := f"eval/{role}:{LENGTH}") in columns.keys:
            yield _curve(columns, key, role, "evaluation")


def _ratings(columns: _Columns) -> Iterator[RatingCurve]:
    for role in columns.roles:
        xs, ratings = columns.points(f"eval/{role}:league/rating")
        low, high = (
            columns.points(f"eval/{role}:league/rating_{end}")[1] for end in ("low", "high")
        )
        if xs:
            yield RatingCurve(role, xs, ratings, low, high)


def _win_rates(columns: _Columns) -> Iterator[RoleCurve]:
    for key in columns.keys:
        scopes, name = split_key(key)
        if name == "league/win_rate":
            yield _curve(columns, key, scopes[-1], "learning opponent", "league/win")
        elif name == "league/past_win_rate":
            yield _curve(columns, key, scopes[-1], "past versions")
        elif name == "match/win_rate" and len(scopes) > 1:
            opponent = f"scripted:{scopes[2]}" if len(scopes) > 2 else "all scripted opponents"
            yield _curve(columns, key, scopes[1], opponent, "match/win")


def _outcomes(columns: _Columns) -> Iterator[RoleCurve]:
    points: dict[str, list[int]] = {}
    for key in columns.keys:
        scopes, name = split_key(key)
        if name.startswith("match/") and name.endswith("_share"):
            role = scopes[1] if len(scopes) > 1 else ""
            # The first outcome chooses the points of all, so that the shares add up to 1 everywhere.
            kept = points.setdefault(role, downsample(columns.points(key)[1], POINTS))
            label = name.removeprefix("match/").removesuffix("_share")
            yield _curve(columns, key, role, label, kept=kept)


def _curve(
    columns: _Columns,
    key: str,
    role: str,
    label: str,
    interval: str = "",
    kept: Sequence[int] | None = None,
) -> RoleCurve:
    """Returns a curve with at most POINTS points. `interval`: start of the names of the metrics with the ends
    of its interval, empty if it has none; `kept`: the indices of the points, by default all extremes
    are kept."""
    xs, ys = columns.points(key)
    scope = key.rpartition(":")[0]
    ends = (
        columns.points(f"{scope}:{interval}_{end}")[1] if interval else []
        for end in ("low", "high")
    )
    kept = downsample(ys, POINTS) if kept is None else kept
    low, high = ([values[i] for i in kept] if len(values) == len(ys) else [] for values in ends)
    return RoleCurve(role, label, [xs[i] for i in kept], [ys[i] for i in kept], low, high)


def _durations(run: Run, roles: Sequence[str]) -> Iterator[DurationHistogram]:
    """Yields a histogram per role, with common edges, from the stored matches."""
    lengths: dict[str, list[int]] = {"": [], **{role: [] for role in roles}}
    for match in list_episodes(run):
        learners = [role for role, player in match.cast.items() if player == LEARNER]
        if match.kind == "train":
            lengths[""].append(match.length)
        elif match.kind in ("eval", "confirm") and len(learners) == 1 and learners[0] in lengths:
            lengths[learners[0]].append(match.length)
    longest = max((length for of_role in lengths.values() for length in of_role), default=0)
    edges = length_edges(longest)
    for role, of_role in lengths.items():
        if of_role:
            yield DurationHistogram(role, edges, count_lengths(of_role, edges))
