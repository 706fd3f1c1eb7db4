"""Changes of series: planted ones are found where they are, and noise is not taken for a change."""

from __future__ import annotations

import numpy as np
import pytest

from gymnast.rl.trend import (
    change_of_ends,
    fitted_change,
    independent_values,
    largest_jump,
)

N = 120
XS = [float(x) for x in range(N)]


def noise(seed: int, n: int = N, correlation: float = 0.0) -> np.ndarray:
    """Returns a stationary first-order autoregressive series with standard deviation 1."""
    rng = np.random.default_rng(seed)
    values = [rng.standard_normal()]
    for shock in rng.standard_normal(n - 1):
        values.append(correlation * values[-1] + np.sqrt(1 - correlation**2) * shock)
    return np.array(values)


@pytest.mark.parametrize("correlation", [0.0, 0.5, 0.8])
@pytest.mark.parametrize("estimate", [fitted_change, change_of_ends])
def test_noise_is_rarely_taken_for_a_change(estimate: object, correlation: float):
    assert callable(estimate)
    found = [estimate(XS, noise(seed, correlation=correlation).tolist()) for seed in range(200)]
    assert np.mean([change.exceeds_noise for change in found]) <= 0.08


@pytest.mark.parametrize("sign", [1, -1])
def test_a_change_well_above_the_noise_is_found_with_its_size(sign: int):
    ramp = sign * np.linspace(0, 10, N)
    changes = [fitted_change(XS, (ramp + noise(seed)).tolist()) for seed in range(50)]
    assert all(change is not None and change.exceeds_noise for change in changes)
    sizes = [change.size for change in changes if change is not None]
    assert np.mean(sizes) == pytest.approx(10 * sign, abs=0.3)
    # The standard error describes the spread of the estimates.
    errors = [change.error for change in changes if change is not None]
    assert np.mean(errors) == pytest.approx(np.std(sizes), rel=0.4)


def test_a_learning_curve_that_rises_early_and_stays_has_changed_between_its_ends():
    curve = 500 / (1 + np.exp(-(np.arange(N) - 30) / 4)) + 5 * noise(3)
    ends = change_of_ends(XS, curve.tolist())
    assert ends is not None
    assert ends.exceeds_noise
    assert ends.size == pytest.approx(500, abs=10)
    late = fitted_change(XS[90:], curve[90:].tolist())
    assert late is not None
    assert not late.exceeds_noise


def test_the_fitted_line_is_that_of_least_squares():
    ys = noise(1) + 0.1 * np.arange(N)
    change = fitted_change(XS, ys.tolist())
    assert change is not None
    assert change.size == pytest.approx(np.polyfit(XS, ys, 1)[0] * (N - 1))


@pytest.mark.parametrize("at", [10, 60, 110])
@pytest.mark.parametrize("width", [1, 4])
def test_a_sudden_fall_is_found_where_it_is(at: int, width: int):
    level = np.interp(np.arange(N), [at - width / 2, at + width / 2], [100, 10])
    jump = largest_jump((level + noise(at)).tolist())
    assert jump is not None
    assert jump.exceeds_noise
    assert abs(jump.place - at) <= max(1, width)
    assert (jump.before, jump.after) == (pytest.approx(100, abs=15), pytest.approx(10, abs=15))


def test_the_direction_of_a_jump_can_be_chosen():
    ys = [*np.full(40, 0.0), *np.full(40, 100.0), *np.full(40, 70.0)]
    rise, fall = largest_jump(ys, sign=1), largest_jump(ys, sign=-1)
    assert rise is not None
    assert fall is not None
    assert (rise.place, fall.place) == (40, 80)
    assert largest_jump(ys) == rise
    assert largest_jump(sorted(ys), sign=-1) is None


def test_noise_and_steady_rises_have_no_jump_above_noise():
    assert largest_jump(np.linspace(0, 1, N).tolist()).exceeds_noise is False  # pyright: ignore[reportOptionalMemberAccess]
    found = [largest_jump(noise(seed).tolist()) for seed in range(100)]
    assert np.mean([jump is not None and jump.exceeds_noise for jump in found]) <= 0.05


@pytest.mark.parametrize("n", [0, 1, 3])
def test_too_few_points_show_nothing(n: int):
    assert fitted_change(XS[:n], XS[:n]) is None
    assert change_of_ends(XS[:n], XS[:n]) is None
    assert largest_jump(XS[:n]) is None


def test_a_constant_series_has_not_moved_whatever_its_rounding_errors():
    ys = [0.1 + 0.2 if i % 2 else 0.3 for i in range(N)]
    for change in (fitted_change(XS, ys), change_of_ends(XS, ys)):
        assert change is not None
        assert change.size == 0
        assert not change.exceeds_noise
    assert largest_jump(ys) is None


def test_correlated_values_count_as_fewer_independent_ones():
    # The variance of the mean is (1 + r) / (1 - r) times that of the mean of independent values.
    estimates = [independent_values(noise(s, 2000, 0.8).tolist()) for s in range(10)]
    assert np.mean(estimates) == pytest.approx(2000 * 0.2 / 1.8, rel=0.15)
    assert independent_values(noise(0, 2000).tolist()) > 1800
