"""Objectives: one number from an evaluation curve, checked against closed forms."""

from __future__ import annotations

import math

import pytest

from gymnast.sweep.objective import Objective

LINE = [(0.0, 0.0), (50.0, 50.0), (100.0, 100.0)]
BAD = [[], [(0.0, math.nan)], [(0.0, 1.0), (50.0, math.inf)]]


def value(
    objective: Objective, points: list[tuple[float, float]], horizon: float = 100.0
) -> float | None:
    return objective.value(points, horizon, budget=100.0)


def test_the_area_is_the_mean_height_of_the_curve():
    assert value(Objective(), LINE) == pytest.approx(50.0)
    assert value(Objective(), LINE, 50.0) == pytest.approx(25.0)
    assert value(Objective(), [(0.0, 3.0)]) == pytest.approx(3.0)


def test_a_run_that_ended_early_keeps_its_last_return():
    assert value(Objective(), [(0.0, 0.0), (50.0, 100.0)]) == pytest.approx(75.0)


def test_points_beyond_the_horizon_change_nothing():
    for kind in ("area", "score", "cost"):
        objective = Objective(kind, weight=1.0)
        known = [point for point in LINE if point[0] <= 50]
        assert value(objective, LINE, 50.0) == value(objective, known, 50.0)


def test_returns_are_normalized_between_two_bounds():
    assert value(Objective(low=-50, high=150), LINE) == pytest.approx(0.5)


def test_the_score_is_the_mean_return_of_the_last_tenth():
    assert value(Objective("score"), LINE) == pytest.approx(95.0)


def test_a_threshold_that_is_reached_earlier_is_better_and_any_reached_one_beats_a_missed_one():
    objective = Objective("threshold", threshold=50.0)
    early, late = [(0.0, 0.0), (20.0, 60.0)], [(0.0, 0.0), (90.0, 60.0)]
    missed, far = [(0.0, 0.0), (90.0, 40.0)], [(0.0, 0.0), (90.0, -40.0)]
    values = [value(objective, points) for points in (early, late, missed, far)]
    assert values == sorted(values, reverse=True)  # pyright: ignore[reportArgumentType]
    assert values[0] == pytest.approx(0.8)
    assert values[1] == pytest.approx(0.1)
    assert values[2] is not None
    assert values[2] < 0


def test_cost_subtracts_what_was_used():
    cheap, costly = [(0.0, 0.0), (25.0, 100.0)], [(0.0, 0.0), (100.0, 100.0)]
    objective = Objective("cost", weight=10.0)
    assert value(objective, cheap) == pytest.approx(100.0 - 2.5)
    assert value(objective, costly) == pytest.approx(95.0 - 10.0)
    in_seconds = Objective("cost", weight=10.0, clock="seconds")
    assert in_seconds.value(costly, 100.0, budget=100.0, seconds=30.0) == pytest.approx(95.0 - 5.0)


@pytest.mark.parametrize("points", BAD)
@pytest.mark.parametrize("kind", ["area", "score", "cost"])
def test_a_curve_without_finite_values_has_no_value(points: list[tuple[float, float]], kind: str):
    assert value(Objective(kind), points) is None  # pyright: ignore[reportArgumentType]
