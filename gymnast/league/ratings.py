"""Elo ratings with confidence intervals, computed from the table of results alone.

This is the Bradley-Terry model: the log-odds that a row beats a column is the difference of their ratings,
plus, optionally, an advantage that the game gives to the row role. A weak Gaussian prior keeps the rating of
an entrant that never lost finite. The posterior mode is found by Newton's method; intervals come from the
curvature at the mode (Laplace approximation). A draw counts as half a win for each side.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from gymnast.errors import GymnastError
from gymnast.league.logistic import posterior_mode
from gymnast.league.results import Entrant, Results, natural_key
from gymnast.rl.interval import Interval
from gymnast.rl.statistics import Z95

SCALE = 400 / math.log(10)
"""Elo points per unit of log-odds: 400 points ahead means odds of ten to one."""
CENTER = 1000.0
"""Mean rating if there is no anchor."""
PRIOR_STD = 800.0
"""Standard deviation of the prior, in points: it has the weight of a fifth of one even match."""
Array = np.ndarray


@dataclass(frozen=True)
class Rating:
    value: float
    """Elo points."""
    std_error: float
    """Standard error; 0 for an anchor."""
    matches: int
    """Number of known outcomes it is based on."""

    @property
    def interval(self) -> Interval:
        """The 95 % confidence interval."""
        return _interval(self.value, self.std_error)


@dataclass(frozen=True)
class EntrantRating:
    """The rating of one player in one role."""

    role: str
    """The role that the player takes."""
    name: str
    """The player: `step:N` or `scripted:NAME`; empty for the advantage of a role."""
    rating: float
    """Elo points."""
    error: float
    """Standard error of the rating; 0 if the rating is fixed."""
    low: float
    """Lower end of the 95 % interval."""
    high: float
    """Upper end of the interval."""
    matches: int
    """Number of matches with a known outcome."""


@dataclass(frozen=True)
class RatingTable:
    """The ratings of all entrants."""

    entrants: tuple[EntrantRating, ...]
    """Ratings of the entrants of the first role, then of the second, each in natural order."""
    advantage: EntrantRating | None
    """Points by which the game favors a role; None if this was not estimated."""


@dataclass(frozen=True)
class Ratings:
    entrants: Mapping[Entrant, Rating]
    """Ratings of the row entrants, then of the column entrants, each in natural order."""
    advantage: Rating | None
    """Points by which the game favors the row role; None if this was not estimated."""
    row_role: str
    """The role in the rows."""
    covariance: Array
    """Covariance of the ratings in the order of `entrants`, in points squared, [n, n]."""

    def difference(self, better: Entrant, worse: Entrant) -> Interval:
        """Returns the rating of `better` minus that of `worse`, with its 95 % interval. Errors common to both
        cancel, so the difference can be significant although the intervals of the two overlap."""
        order = list(self.entrants)
        weight = np.zeros(len(order))
        weight[order.index(better)] += 1
        weight[order.index(worse)] -= 1
        variance = float(weight @ self.covariance @ weight)
        value = self.entrants[better].value - self.entrants[worse].value
        return _interval(value, math.sqrt(max(variance, 0.0)))

    def table(self) -> RatingTable:
        """Returns the ratings as a record."""
        entrants = tuple(
            _record(entrant.role, entrant.name, rating) for entrant, rating in self.entrants.items()
        )
        advantage = None if self.advantage is None else _record(self.row_role, "", self.advantage)
        return RatingTable(entrants, advantage)


def _record(role: str, name: str, rating: Rating) -> EntrantRating:
    low, high = rating.interval.low, rating.interval.high
    return EntrantRating(role, name, rating.value, rating.std_error, low, high, rating.matches)


def fit_ratings(
    results: Results,
    anchors: Mapping[Entrant, float] | None = None,
    *,
    advantage: bool = False,
    prior: float = PRIOR_STD,
) -> Ratings:
    """Rates all entrants in the table. `anchors` are entrants with a fixed, known rating, in Elo points;
    `prior`: standard deviation of the prior, in points. Raises GymnastError for invalid anchors or priors.

    Without an anchor, ratings and intervals are relative to the mean of all entrants, which is CENTER.
    Matches between two roles cannot distinguish a favored role from better players of that role. So with
    `advantage`, which estimates how much the game favors the row role, anchor an entrant of each role;
    otherwise nearly all of the difference goes to the advantage.
    """
    anchors = dict(anchors or {})
    _check(results, anchors, prior)
    order = _all_entrants(results, anchors)
    index = {entrant: i for i, entrant in enumerate(order)}
    played = [
        (index[Entrant(results.row_role, row)], index[Entrant(results.column_role, column)], tally)
        for row, column, tally in results.sorted_pairs()
        if tally.n_known
    ]
    n = len(order)
    rows = np.array([row for row, _, _ in played], np.intp)
    columns = np.array([column for _, column, _ in played], np.intp)
    # Design matrix: one line per pair that met, one column per rating, and the last for the advantage.
    design = np.zeros((len(played), n + 1))
    lines = np.arange(len(played))
    design[lines, rows], design[lines, columns], design[:, n] = 1.0, -1.0, 1.0

    # Work in units of log-odds relative to `center`, so that the prior N(0, prior) is around it. Anchors
    # have known values and enter as an offset; only the free parameters are estimated.
    center = sum(anchors.values()) / len(anchors) if anchors else CENTER
    known = np.array([(anchors.get(entrant, center) - center) / SCALE for entrant in order] + [0.0])
    free = np.array([entrant not in anchors for entrant in order] + [advantage])
    score = np.array([tally.score for _, _, tally in played], np.float64)
    matches = np.array([tally.n_known for _, _, tally in played], np.float64)
    precision = (SCALE / prior) ** 2
    estimate, free_covariance = posterior_mode(
        design[:, free], design @ known, score, matches, precision
    )

    value, covariance = known.copy(), np.zeros((n + 1, n + 1))
    value[free] += estimate
    covariance[np.ix_(free, free)] = free_covariance  # anchors have no error
    if not anchors and n:
        _center(covariance, n)
    error = SCALE * np.sqrt(np.maximum(covariance.diagonal(), 0.0))
    value = SCALE * value + np.array([center] * n + [0.0])
    # Every pair has an entry of +1 or -1 for both its entrants (and +1 for the advantage).
    n_matches = np.abs(design).T @ matches
    *rated, row_advantage = (
        Rating(float(value[i]), float(error[i]), int(n_matches[i])) for i in range(n + 1)
    )
    return Ratings(
        dict(zip(order, rated, strict=True)),
        row_advantage if advantage else None,
        results.row_role,
        SCALE**2 * covariance[:n, :n],
    )


def _center(covariance: Array, n: int) -> None:
    """Replaces, in place, the covariance of the first n ratings by that of their deviations from their mean:
    results say nothing about the common level of all ratings."""
    deviation = np.eye(len(covariance))
    deviation[:n, :n] -= 1 / n
    covariance[:] = deviation @ covariance @ deviation.T


def _all_entrants(results: Results, anchors: Mapping[Entrant, float]) -> list[Entrant]:
    """Returns the entrants in the table and the anchors: rows first, each role in natural order."""
    roles = (results.row_role, results.column_role)
    entrants = {Entrant(results.row_role, name) for name in results.rows()}
    entrants |= {Entrant(results.column_role, name) for name in results.columns()} | anchors.keys()
    return sorted(
        entrants, key=lambda entrant: (roles.index(entrant.role), natural_key(entrant.name))
    )


def _check(results: Results, anchors: Mapping[Entrant, float], prior: float) -> None:
    """Raises GymnastError for an anchor of a role that is not in the table, an anchor whose rating is not
    finite, or a prior that is not a positive number."""
    for entrant, rating in anchors.items():
        if entrant.role not in (results.row_role, results.column_role):
            raise GymnastError(
                f"there is no role {entrant.role}",
                at=f"anchor {entrant}",
                fix=f"use {results.row_role}:NAME or {results.column_role}:NAME",
            )
        if not math.isfinite(rating):
            raise GymnastError(
                f"the rating is {rating}", at=f"anchor {entrant}", fix="use a finite number"
            )
    if not 0 < prior < math.inf:
        raise GymnastError(
            f"the prior is {prior} points", fix=f"use a number above 0, such as {PRIOR_STD:.0f}"
        )


def _interval(value: float, error: float) -> Interval:
    return Interval(value, value - Z95 * error, value + Z95 * error)
