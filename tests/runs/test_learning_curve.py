"""The area under the evaluation curve and its companions, compared with NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from gymnast.runs.curve import summarize_learning

SCORES = {0: 20.0, 1000: 60.0, 3000: 220.0, 4000: 180.0}
"""Env steps of the evaluated policy -> mean return; the result is recorded 500 steps later."""


def record(scores: dict[int, float], last: int = 5000) -> list[dict[str, float]]:
    """Returns a row per 500 steps; 1000 steps take a second up to step 2000, then 250 steps do."""
    rows = []
    for steps in range(500, last + 1, 500):
        seconds = steps / 1000 if steps <= 2000 else 2 + (steps - 2000) / 250
        row = {"clock/env_steps": float(steps), "clock/seconds": seconds}
        row["episode/return"] = 10.0 if steps == 500 else 99.0
        if steps - 500 in scores:
            row |= {
                "eval:clock/env_steps": steps - 500.0,
                "eval:episode/return": scores[steps - 500],
            }
        rows.append(row)
    return rows


def trapezoid(xs: list[float], ys: list[float]) -> float:
    return float(np.trapezoid(ys, xs)) / xs[-1]


def test_the_area_is_numpys_trapezoid_normalized_by_first_training_return_and_threshold():
    found = summarize_learning(record(SCORES), threshold=200.0, budget=5000)
    assert found is not None
    steps = [0, 1000, 3000, 4000, 5000]
    mean = trapezoid(steps, [20, 60, 220, 180, 180])
    assert found.mean_return == pytest.approx(mean, rel=1e-12)
    at_most = trapezoid(steps, [20, 60, 200, 180, 180])  # returns are clipped to the threshold
    assert found.area == pytest.approx((at_most - 10) / (200 - 10), rel=1e-12)


def test_the_curve_starts_at_the_training_return_if_the_untrained_policy_was_not_evaluated():
    later = {steps: score for steps, score in SCORES.items() if steps > 0}
    found = summarize_learning(record(later), threshold=200.0, budget=5000)
    assert found is not None
    mean = trapezoid([0, 1000, 3000, 4000, 5000], [10, 60, 200, 180, 180])
    assert found.area == pytest.approx((mean - 10) / (200 - 10), rel=1e-12)


def test_the_threshold_is_reached_at_the_steps_of_the_evaluated_policy_not_of_its_result():
    found = summarize_learning(record(SCORES), threshold=200.0, budget=5000)
    assert found is not None
    assert found.steps_to_threshold == 3000
    assert found.seconds_to_threshold == pytest.approx(2 + 1000 / 250)


def test_the_last_value_extends_over_unused_budget_for_the_area_but_not_for_the_mean():
    found = summarize_learning(record(SCORES, last=4500), threshold=200.0, budget=20_000)
    assert found is not None
    taken = trapezoid([0, 1000, 3000, 4000, 4500], [20, 60, 220, 180, 180])
    assert found.mean_return == pytest.approx(taken, rel=1e-12)
    assert found.unused == pytest.approx(1 - 4500 / 20_000)
    budget = trapezoid([0, 1000, 3000, 4000, 20_000], [20, 60, 200, 180, 180])
    assert found.area == pytest.approx((budget - 10) / (200 - 10), rel=1e-12)
    sooner = summarize_learning(record({0: 20.0, 500: 220.0}, last=1000), 200.0, 20_000)
    assert sooner is not None
    assert sooner.area > found.area, "the run that reaches the threshold sooner has the larger area"


def test_the_area_is_at_most_one():
    found = summarize_learning(record({0: 500.0, 1000: 500.0}), threshold=475.0, budget=100_000)
    assert found is not None
    assert found.area == pytest.approx(1.0)


def test_the_threshold_is_reached_when_the_lower_bound_reaches_it():
    rows = record(SCORES | {4000: 230.0})
    for row in rows:
        if "eval:episode/return" in row:
            row["eval:episode/low"] = row["eval:episode/return"] - 25
    found = summarize_learning(rows, threshold=200.0, budget=5000)
    assert found is not None
    assert found.steps_to_threshold == 4000  # 220 - 25 was not enough


def test_without_a_threshold_there_is_a_mean_return_and_no_area():
    found = summarize_learning(record(SCORES), threshold=None, budget=None)
    assert found is not None
    assert found.area is None
    assert found.steps_to_threshold is found.seconds_to_threshold is None
    mean = trapezoid([0, 1000, 3000, 4000, 5000], [20, 60, 220, 180, 180])
    assert found.mean_return == pytest.approx(mean, rel=1e-12)


def test_a_threshold_that_was_never_reached_has_no_steps():
    found = summarize_learning(record(SCORES), threshold=300.0, budget=5000)
    assert found is not None
    assert found.steps_to_threshold is None
    assert found.area is not None


def test_without_evaluations_there_is_no_summary():
    assert summarize_learning(record({}), 200.0, 5000) is None


def test_a_run_with_nothing_but_the_untrained_policy_has_its_return():
    row = {"clock/env_steps": 0.0, "clock/seconds": 1.0}
    row |= {"eval:clock/env_steps": 0.0, "eval:episode/return": 7.0}
    found = summarize_learning([row], threshold=200.0, budget=None)
    assert found is not None
    assert (found.mean_return, found.area, found.unused) == (7.0, 0.0, 0.0)
