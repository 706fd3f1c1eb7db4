"""0 for copies that show the same, about 1 for independent ones, in between for what is shared."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from gymnast.rl.diversity import _chance_to_differ, diversity

RNG = np.random.default_rng(0)
T, N = 200, 8
WALK = RNG.normal(size=(T, N, 3)).cumsum(0)


def pixels(shape: tuple[int, ...]) -> np.ndarray:
    return RNG.integers(0, 256, shape).astype(np.uint8)


def records(n_kinds: int) -> np.ndarray:
    rows = np.zeros((T, n_kinds), [("at", np.float32, (2,)), ("kind", np.int64)])
    rows["at"], rows["kind"] = RNG.normal(size=(T, n_kinds, 2)), RNG.integers(0, 4, (T, n_kinds))
    return rows


INDEPENDENT = {
    "numbers": RNG.normal(size=(T, N, 3)) * [1, 100, 0.01],
    "categories": RNG.integers(0, 16, (T, N)),
    "pixels": pixels((T, N, 84, 84)),
    "records": records(N),
}


@pytest.mark.parametrize("kind", INDEPENDENT)
def test_independent_copies_are_diverse_and_identical_ones_are_not(kind: str):
    obs = INDEPENDENT[kind]
    assert diversity(obs) == pytest.approx(1, abs=0.05)
    assert diversity(np.repeat(obs[:, :1], N, 1)) == 0


def test_what_copies_share_is_not_diverse():
    shared = RNG.normal(size=(T, 1, 3))
    own = RNG.normal(size=(T, N, 3))
    for weight in (0.5, 1.0, 2.0):
        expected = weight**2 / (1 + weight**2)  # the share of the variance that is their own
        assert diversity(shared + weight * own) == pytest.approx(expected, abs=0.07)


def test_copies_in_two_camps_are_half_as_diverse_as_all_apart():
    obs = RNG.integers(0, 1000, (T, 2)).repeat(4, axis=1)
    assert diversity(obs) == pytest.approx(4 / 7, abs=0.01)  # of 7 others, 4 are in the other camp


def test_it_does_not_depend_on_units_or_on_the_order_of_copies():
    assert diversity(WALK * 7 + 3) == pytest.approx(diversity(WALK))
    assert diversity(WALK[:, ::-1]) == pytest.approx(diversity(WALK))


def test_nothing_to_compare_is_no_diversity():
    assert diversity(WALK[:, :1]) == 0
    assert diversity(np.zeros((T, N, 3))) == 0
    assert diversity(np.zeros((1, N, 3))) == 0


def test_the_chance_that_two_differ_is_counted_over_all_pairs():
    rolls = RNG.integers(0, 5, (9, 4))
    for column, found in zip(rolls.T, _chance_to_differ(rolls), strict=True):
        pairs = list(combinations(column, 2))
        assert found == pytest.approx(sum(a != b for a, b in pairs) / len(pairs))
