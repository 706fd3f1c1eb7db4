"""The model that estimates the mean of a trial from its own seeds and from its neighbors."""

from __future__ import annotations

import numpy as np
import pytest

from gymnast.sweep.surrogate import distances, estimate_means

GRID = [{"lr": 10.0**-i, "gamma": 0.9 + 0.02 * j} for i in range(6) for j in range(5)]


def truth() -> np.ndarray:
    """Returns a smooth mean for every assignment of the grid, the best in the middle."""
    return np.array(
        [-((np.log10(one["lr"]) + 3) ** 2) - (one["gamma"] - 0.94) ** 2 for one in GRID]
    )


def test_estimates_are_closer_to_the_truth_than_the_means_of_the_seeds() -> None:
    errors: list[tuple[float, float]] = []
    for number in range(5):
        rng = np.random.default_rng(number)
        seen = [(one + rng.normal(0, 1.0, 2)).tolist() for one in truth()]
        good = truth() > -2
        found = np.array([one.mean for one in estimate_means(GRID, seen)])
        means = np.array([np.mean(one) for one in seen])
        errors.append((np.abs(found - truth())[good].mean(), np.abs(means - truth())[good].mean()))
    ours, plain = np.mean(errors, axis=0)
    assert ours < 0.75 * plain


def test_without_noise_the_estimates_are_the_values() -> None:
    """Only of the better half: the values of the others are limited."""
    found = estimate_means(GRID, [[one] for one in truth()])
    good = truth() > np.median(truth())
    assert np.allclose(np.array([one.mean for one in found])[good], truth()[good], atol=0.3)


def test_an_untrained_trial_is_estimated_from_its_neighbors_and_is_less_certain() -> None:
    values = [[one, one] for one in truth()]
    hidden = 17  # next to the best
    known = estimate_means(GRID, values)[hidden]
    values[hidden] = []
    found = estimate_means(GRID, values)[hidden]
    assert found.mean == pytest.approx(truth()[hidden], abs=0.5)
    assert found.std > known.std


def test_units_and_logarithms_do_not_matter() -> None:
    scaled = [{"lr": 7 * np.log10(one["lr"]), "gamma": 100 * one["gamma"]} for one in GRID]
    values = [[one] for one in truth()]
    assert estimate_means(GRID, values) == estimate_means(scaled, values)


def test_words_absent_values_and_the_baseline_are_as_far_apart_as_possible() -> None:
    apart = distances([{"a": "x", "b": 1}, {"a": "y", "b": 3}, {"a": "x"}, None])
    assert apart[0, 0].tolist() == [0, 1, 0, 1]
    assert apart[1, 0].tolist() == [0, 1, 1, 1]
    assert apart[1, 2].tolist() == [1, 1, 0, 0]


def test_equal_values_give_equal_estimates() -> None:
    found = estimate_means(GRID, [[5.0]] * len(GRID))
    assert {round(one.mean, 9) for one in found} == {5.0}
