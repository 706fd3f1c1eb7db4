"""Ratings against their definition computed slowly, closed forms and simulated truths."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gymnast.errors import GymnastError
from gymnast.league.ratings import CENTER, PRIOR_STD, Rating, Ratings, RatingTable, fit_ratings
from gymnast.league.results import DRAW, Entrant, Results, Tally

S = {name: Entrant("seeker", name) for name in ("a", "b", "c", "never")}
H = {name: Entrant("hider", name) for name in ("x", "y", "z")}
POINTS = 400 / math.log(10)


def small_table() -> Results:
    results = Results("seeker", "hider")
    results.pairs = {
        ("a", "x"): Tally(7, 3),
        ("a", "y"): Tally(2, 6, draws=3, unknown=9),
        ("b", "x"): Tally(5, 0),
        ("b", "z"): Tally(1, 4, draws=1),
        ("c", "y"): Tally(0, 8),
        ("c", "z"): Tally(3, 3, unknown=1),
    }
    return results


def log_posterior(
    results: Results,
    points: dict[Entrant, float],
    advantage: float,
    center: float,
    free: set[Entrant],
) -> float:
    """Returns the log posterior from its definition: 400 points are odds of ten to one, match by match."""
    total = -((advantage / PRIOR_STD) ** 2) / 2
    for (row, column), tally in results.pairs.items():
        ahead = points[Entrant("seeker", row)] - points[Entrant("hider", column)] + advantage
        p = 1 / (1 + 10 ** (-ahead / 400))
        total += (tally.row_wins + tally.draws / 2) * math.log(p)
        total += (tally.column_wins + tally.draws / 2) * math.log(1 - p)
    return total - sum(((points[entrant] - center) / PRIOR_STD) ** 2 / 2 for entrant in free)


def coordinate_ascent(
    results: Results, found: Ratings, anchors: dict[Entrant, float], center: float
):
    """Returns the names, the mode and the covariance (advantage last), found by coordinate ascent."""
    names = [entrant for entrant in found.entrants if entrant not in anchors]
    with_advantage = found.advantage is not None
    x = [center] * len(names) + [0.0] * with_advantage

    def height(x: list[float]) -> float:
        points = dict(zip(names, x, strict=False)) | anchors
        advantage = x[-1] if with_advantage else 0.0
        return log_posterior(results, points, advantage, center, set(names))

    def moved(*by: tuple[int, float]) -> float:
        y = list(x)
        for i, far in by:
            y[i] += far
        return height(y)

    step = 200.0
    while step > 1e-4:
        best = height(x)
        for i in range(len(x)):
            for far in (step, -step):
                if moved((i, far)) > height(x):
                    x[i] += far
        if with_advantage:  # along the ridge that trades better players for a favored role
            for far in (step, -step):
                all_rows = [(i, far) for i, entrant in enumerate(names) if entrant.role == "seeker"]
                if moved(*all_rows, (len(x) - 1, -far)) > height(x):
                    for i, by in (*all_rows, (len(x) - 1, -far)):
                        x[i] += by
        if height(x) - best < 1e-13:
            step /= 2

    def mixed(i: int, j: int, d: float = 2.0) -> float:
        """Returns the second derivative, by finite differences."""
        alike = moved((i, d), (j, d)) + moved((i, -d), (j, -d))
        return (alike - moved((i, d), (j, -d)) - moved((i, -d), (j, d))) / (4 * d * d)

    second = [[mixed(i, j) for j in range(len(x))] for i in range(len(x))]
    return names, x, np.linalg.inv(-np.array(second))


@pytest.mark.parametrize("advantage", [False, True])
@pytest.mark.parametrize("anchored", [False, True])
def test_ratings_agree_with_the_mode_and_curvature_of_coordinate_ascent(
    advantage: bool, anchored: bool
):
    anchors = {H["x"]: 1200.0, S["c"]: 900.0} if anchored else {}
    center = 1050.0 if anchored else CENTER
    results = small_table()
    found = fit_ratings(results, anchors, advantage=advantage)
    names, x, covariance = coordinate_ascent(results, found, anchors, center)
    if not anchored:  # relative to the mean of all
        apart = np.eye(len(x))
        apart[: len(names), : len(names)] -= 1 / len(names)
        covariance = apart @ covariance @ apart.T
    all_found = [found.entrants[entrant] for entrant in names]
    if found.advantage is not None:
        all_found.append(found.advantage)
    assert [rating.value for rating in all_found] == pytest.approx(x, abs=0.05)
    errors = np.sqrt(covariance.diagonal())
    assert [rating.std_error for rating in all_found] == pytest.approx(errors, rel=1e-3)
    for entrant, points in anchors.items():
        assert found.entrants[entrant].value == pytest.approx(points, abs=1e-9)
        assert found.entrants[entrant].std_error == 0


def test_one_anchored_opponent_gives_the_formula_of_elo():
    results = Results("seeker", "hider", {("a", "x"): Tally(30, 10)})
    rating = fit_ratings(results, {H["x"]: 1000}, prior=1e6).entrants[S["a"]]
    assert rating.value == pytest.approx(1000 + 400 * math.log10(3), abs=1e-3)
    assert rating.std_error == pytest.approx(POINTS / math.sqrt(40 * 0.75 * 0.25), rel=1e-4)
    assert rating.interval.high - rating.value == pytest.approx(1.96 * rating.std_error, rel=1e-4)
    assert rating.matches == 40


def simulated(rng: np.random.Generator, truth: dict[Entrant, float], n: int) -> Results:
    results = Results("seeker", "hider")
    for row in truth:
        for column in truth:
            if (row.role, column.role) == ("seeker", "hider"):
                p = 1 / (1 + 10 ** ((truth[column] - truth[row]) / 400))
                won = int(rng.binomial(n, p))
                results.pairs[row.name, column.name] = Tally(won, n - won)
    return results


@pytest.mark.parametrize("anchored", [False, True])
def test_95_percent_of_the_intervals_contain_the_truth(anchored: bool):
    rng, hits, narrow = np.random.default_rng(1), [], []
    for _ in range(300):
        truth = {entrant: float(rng.normal(1000, 250)) for entrant in (*S.values(), *H.values())}
        anchors = {H["x"]: truth[H["x"]]} if anchored else {}
        # without an anchor, only differences from the mean are identifiable
        shift = 0.0 if anchored else float(np.mean(list(truth.values()))) - CENTER
        found = fit_ratings(simulated(rng, truth, 20), anchors)
        for entrant, rating in found.entrants.items():
            if entrant not in anchors:
                off = abs(rating.value - truth[entrant] + shift)
                hits.append(off <= rating.interval.high - rating.value)
                narrow.append(off <= rating.std_error)
    assert np.mean(hits) == pytest.approx(0.95, abs=0.02)
    assert np.mean(narrow) == pytest.approx(0.683, abs=0.04)


def test_intervals_of_differences_contain_the_truth_and_are_narrower_than_independent_ones():
    rng, hits = np.random.default_rng(2), []
    for _ in range(300):
        truth = {entrant: float(rng.normal(1000, 200)) for entrant in (*S.values(), *H.values())}
        # all ratings are relative to an anchor with few matches, an error that they share
        results = simulated(rng, truth, 40)
        for name in S:
            results.pairs[name, "x"] = Tally(1, 1)
        found = fit_ratings(results, {H["x"]: truth[H["x"]]})
        between = found.difference(S["a"], S["b"])
        hits.append(between.low <= truth[S["a"]] - truth[S["b"]] <= between.high)
        apart = [found.entrants[S[name]].std_error for name in "ab"]
        assert (between.high - between.mean) / 1.96 < 0.8 * math.hypot(*apart)
    assert np.mean(hits) == pytest.approx(0.95, abs=0.04)


def test_twice_the_matches_reduce_the_error_by_the_root_of_two():
    results = small_table()
    results.pairs = {
        pair: Tally(10 * t.row_wins + 5, 10 * t.column_wins + 5)
        for pair, t in results.pairs.items()
    }
    once, twice = fit_ratings(results), fit_ratings(results.merge(results))
    for entrant, rating in once.entrants.items():
        assert twice.entrants[entrant].value == pytest.approx(rating.value, abs=2)
        assert rating.std_error / twice.entrants[entrant].std_error == pytest.approx(
            math.sqrt(2), rel=0.01
        )


def test_ratings_do_not_depend_on_the_order_of_matches_to_the_last_bit():
    results = small_table()
    other = Results("seeker", "hider", dict(reversed(results.pairs.items())))
    assert (
        fit_ratings(other, advantage=True).table() == fit_ratings(results, advantage=True).table()
    )


def test_ratings_do_not_depend_on_names_or_on_which_role_is_in_the_rows():
    results, found = small_table(), fit_ratings(small_table())
    renamed = {"a": "9", "b": "1", "c": "5"}
    other = Results(
        "seeker", "hider", {(renamed[row], column): t for (row, column), t in results.pairs.items()}
    )
    mirrored = Results(
        "hider",
        "seeker",
        {
            (c, r): Tally(t.column_wins, t.row_wins, t.draws, t.unknown)
            for (r, c), t in results.pairs.items()
        },
    )
    for entrant, rating in found.entrants.items():
        again = fit_ratings(mirrored).entrants[entrant]
        assert (again.value, again.std_error) == pytest.approx((rating.value, rating.std_error))
        if entrant.role == "seeker":
            same = fit_ratings(other).entrants[Entrant("seeker", renamed[entrant.name])]
            assert (same.value, same.std_error) == pytest.approx((rating.value, rating.std_error))


def test_unknown_outcomes_change_nothing_and_a_draw_is_half_a_win_for_each():
    results = small_table()
    known = {pair: Tally(t.row_wins, t.column_wins, t.draws) for pair, t in results.pairs.items()}
    assert fit_ratings(Results("seeker", "hider", known)).table() == fit_ratings(results).table()
    split = Results("seeker", "hider", {("a", "x"): Tally(5, 5)})
    drawn = Results("seeker", "hider")
    drawn.add("a", "x", DRAW, n=10)
    assert fit_ratings(drawn).table() == fit_ratings(split).table()


def test_an_entrant_that_never_lost_has_a_finite_rating_that_grows_with_its_wins():
    found = [
        fit_ratings(Results("seeker", "hider", {("a", "x"): Tally(n, 0)}), {H["x"]: 1000}).entrants[
            S["a"]
        ]
        for n in (1, 10, 1000, 10**6)
    ]
    values = [rating.value for rating in found]
    assert values == sorted(values)
    assert 1000 < values[0] < values[-1] < 5000
    assert all(0 < rating.std_error <= PRIOR_STD for rating in found)


def test_an_entrant_without_matches_has_the_uncertainty_of_the_prior():
    results = small_table()
    results.add("never", "x", None)
    found = fit_ratings(results, {H["x"]: 1000, H["y"]: 1000})
    rating = found.entrants[S["never"]]
    assert rating == Rating(1000, pytest.approx(PRIOR_STD), 0)
    assert found.entrants[H["y"]].matches == 19


def test_two_anchors_distinguish_a_favored_role_from_better_players():
    """The game gives seekers 120 points; the seeker `a` is 80 better than the hider `x`."""

    def tally(ahead: float) -> Tally:
        p = 1 / (1 + 10 ** (-ahead / 400))
        return Tally(round(100_000 * p), 100_000 - round(100_000 * p))

    pairs = {("a", "x"): tally(200), ("c", "x"): tally(120), ("a", "z"): tally(200)}
    results = Results("seeker", "hider", {**pairs, ("c", "z"): tally(120)})
    found = fit_ratings(results, {S["c"]: 1000, H["z"]: 1000}, advantage=True)
    assert found.advantage is not None
    assert found.advantage.value == pytest.approx(120, abs=1)
    assert found.entrants[S["a"]].value == pytest.approx(1080, abs=1)
    unanchored = fit_ratings(results, advantage=True).advantage
    assert unanchored is not None
    assert unanchored.std_error > 200, "matches between roles alone cannot distinguish them"


def test_without_results_only_anchors_are_rated():
    empty = Results("seeker", "hider")
    assert fit_ratings(empty).table() == RatingTable((), None)
    assert fit_ratings(empty, {H["x"]: 1234}).entrants == {H["x"]: Rating(1234, 0, 0)}


def test_invalid_anchors_and_priors_are_rejected():
    with pytest.raises(GymnastError, match=r"anchor referee:x: there is no role referee"):
        fit_ratings(small_table(), {Entrant("referee", "x"): 1000})
    with pytest.raises(GymnastError, match="anchor hider:x"):
        fit_ratings(small_table(), {H["x"]: math.nan})
    for prior in (0, -1, math.inf, math.nan):
        with pytest.raises(GymnastError, match="prior"):
            fit_ratings(small_table(), prior=prior)
