"""How good each entrant is, with an interval, from nothing but the table of results.

Bradley and Terry's model: the log-odds that a row beats a column is the difference of their ratings,
plus, if asked for, what the game itself gives the row role. Each rating has a weak Gaussian prior, so
whoever never lost has a finite one. The mode is found by Newton's method; intervals are those of a
normal distribution with the curvature there (Laplace). A drawn match counts half for each side.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from gymnast.errors import GymnastError
from gymnast.league.logistic import mode, sigmoid
from gymnast.league.results import Entrant, Results, natural
from gymnast.rl.statistics import Z95, Interval

SCALE = 400 / math.log(10)
"""Elo points per unit of log-odds: 400 points ahead means odds of ten to one."""
CENTRE = 1000.0
"""Where ratings lie without an anchor."""
PRIOR = 800.0
"""Standard deviation of the prior, in points: it weighs a fifth of one even match."""
Array = np.ndarray


@dataclass(frozen=True)
class Rating:
    value: float
    """Elo points."""
    error: float
    """Standard error; 0 of an anchor."""
    matches: int
    """Known outcomes it rests on."""

    @property
    def interval(self) -> Interval:
        """Where it lies with 95 % confidence."""
        return _interval(self.value, self.error)

    def to_json(self) -> dict[str, Any]:
        low, high = self.interval.low, self.interval.high
        return {
            "rating": self.value,
            "error": self.error,
            "low": low,
            "high": high,
            "matches": self.matches,
        }


@dataclass(frozen=True)
class Ratings:
    entrants: Mapping[Entrant, Rating]
    """Rows, then columns, in natural order of their names."""
    advantage: Rating | None
    """Points that the game gives the row role, where this was asked for."""
    row: str
    """The role in rows."""
    covariance: Array
    """[n, n] of the ratings, in points squared, in the order of `entrants`."""

    def difference(self, better: Entrant, worse: Entrant) -> Interval:
        """By how much one is rated above another. Errors that both share cancel out, so this may be
        sure where their intervals overlap."""
        order = list(self.entrants)
        weight = np.zeros(len(order))
        weight[order.index(better)] += 1
        weight[order.index(worse)] -= 1
        variance = float(weight @ self.covariance @ weight)
        value = self.entrants[better].value - self.entrants[worse].value
        return _interval(value, math.sqrt(max(variance, 0.0)))

    def chance(self, row: Entrant, column: Entrant) -> float:
        """That the row beats the column, by their ratings."""
        ahead = self.entrants[row].value - self.entrants[column].value
        if self.advantage is not None:
            ahead += self.advantage.value
        return float(sigmoid(np.array(ahead / SCALE)))

    def to_json(self) -> dict[str, Any]:
        rated = [
            {"role": entrant.role, "name": entrant.name} | rating.to_json()
            for entrant, rating in self.entrants.items()
        ]
        given = None if self.advantage is None else {"role": self.row} | self.advantage.to_json()
        return {"entrants": rated, "advantage": given}


def rate(
    results: Results,
    anchors: Mapping[Entrant, float] | None = None,
    *,
    advantage: bool = False,
    prior: float = PRIOR,
) -> Ratings:
    """Everybody in the table, and the anchors, whose ratings are given and stay as they are.

    Without an anchor, ratings and intervals are relative to the mean of all entrants, which is CENTRE.
    Matches between two roles cannot tell a favoured role from better players of it: with `advantage`,
    anchor an entrant of each role; else nearly all of it is taken for the game's.
    """
    anchors = dict(anchors or {})
    _check(results, anchors, prior)
    order = _everybody(results, anchors)
    place = {entrant: i for i, entrant in enumerate(order)}
    played = [
        (place[Entrant(results.row, row)], place[Entrant(results.column, column)], tally)
        for row, column, tally in results.ordered()
        if tally.known
    ]
    n = len(order)
    rows = np.array([row for row, _, _ in played], np.intp)
    columns = np.array([column for _, column, _ in played], np.intp)
    # one line per pair that met, one column per rating, then the advantage
    design = np.zeros((len(played), n + 1))
    lines = np.arange(len(played))
    design[lines, rows], design[lines, columns], design[:, n] = 1.0, -1.0, 1.0

    centre = sum(anchors.values()) / len(anchors) if anchors else CENTRE
    known = np.array([(anchors.get(who, centre) - centre) / SCALE for who in order] + [0.0])
    free = np.array([who not in anchors for who in order] + [advantage])
    score = np.array([tally.score for _, _, tally in played], np.float64)
    matches = np.array([tally.known for _, _, tally in played], np.float64)
    precision = (SCALE / prior) ** 2
    moved, spread = mode(design[:, free], design @ known, score, matches, precision)

    value, covariance = known.copy(), np.zeros((n + 1, n + 1))
    value[free] += moved
    covariance[np.ix_(free, free)] = spread
    if not anchors and n:
        _centre(covariance, n)
    error = SCALE * np.sqrt(np.maximum(covariance.diagonal(), 0.0))
    value = SCALE * value + np.array([centre] * n + [0.0])
    each = np.abs(design).T @ matches
    *rated, given = (Rating(float(value[i]), float(error[i]), int(each[i])) for i in range(n + 1))
    return Ratings(
        dict(zip(order, rated, strict=True)),
        given if advantage else None,
        results.row,
        SCALE**2 * covariance[:n, :n],
    )


def _centre(covariance: Array, n: int) -> None:
    """Of the first n, relative to their mean: where all of them lie is not a matter of results."""
    apart = np.eye(len(covariance))
    apart[:n, :n] -= 1 / n
    covariance[:] = apart @ covariance @ apart.T


def _everybody(results: Results, anchors: Mapping[Entrant, float]) -> list[Entrant]:
    roles = (results.row, results.column)
    found = {Entrant(results.row, name) for name in results.rows()}
    found |= {Entrant(results.column, name) for name in results.columns()} | anchors.keys()
    return sorted(found, key=lambda who: (roles.index(who.role), natural(who.name)))


def _check(results: Results, anchors: Mapping[Entrant, float], prior: float) -> None:
    for entrant, rating in anchors.items():
        if entrant.role not in (results.row, results.column):
            raise GymnastError(
                f"nobody plays {entrant.role}",
                at=f"anchor {entrant}",
                fix=f"{results.row}:NAME or {results.column}:NAME",
            )
        if not math.isfinite(rating):
            raise GymnastError(f"a rating of {rating}", at=f"anchor {entrant}", fix="a number")
    if not 0 < prior < math.inf:
        raise GymnastError(f"a prior of {prior} points", fix=f"a number above 0, as {PRIOR:.0f}")


def _interval(value: float, error: float) -> Interval:
    return Interval(value, value - Z95 * error, value + Z95 * error)
