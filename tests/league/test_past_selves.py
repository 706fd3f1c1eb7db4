"""The pool of past selves: which of them it keeps, and how often each is drawn."""

from __future__ import annotations

import json
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gymnast.errors import GymnastError
from gymnast.league.opponents import (
    OpponentSampling,
    Scheme,
    loss_probabilities,
    recency_probabilities,
)
from gymnast.league.pool import SnapshotPool
from gymnast.seeds import stream

SCHEMES: tuple[Scheme, ...] = ("uniform", "recent", "loss")
property_test = settings(deadline=None, max_examples=60)

records = st.lists(
    st.integers(0, 60).flatmap(
        lambda known: st.tuples(st.integers(0, 2 * known).map(lambda w: w / 2), st.just(known))
    ),
    min_size=1,
    max_size=12,
)
"""(matches won, where a draw is half; matches with a known outcome) against each past self, oldest first."""


def pool_of(*steps: int, keep: int = 100, window: int = 50) -> SnapshotPool:
    pool = SnapshotPool(keep, window)
    for step in steps:
        pool.add(step)
    return pool


@property_test
@given(st.sets(st.integers(0, 10**7), min_size=1, max_size=60).map(sorted), st.integers(2, 12))
def test_the_first_and_the_newest_stay_and_removed_ones_are_returned(steps: list[int], keep: int):
    pool, removed = SnapshotPool(keep, 10), []
    for step in steps:
        removed += pool.add(step)
        assert (pool.steps[0], pool.steps[-1]) == (steps[0], step)
        assert len(pool.steps) <= keep
    assert sorted(removed + pool.steps) == steps
    assert pool.steps == sorted(pool.steps)


@pytest.mark.parametrize("keep", [3, 5, 10, 30])
def test_the_pool_covers_history_evenly(keep: int):
    pool = SnapshotPool(keep, 10)
    for n in range(300):
        pool.add(1000 * n)
        # without the newest gap, which still grows
        gaps = [b - a for a, b in pairwise(pool.steps)][:-1]
        if n >= keep:
            assert max(gaps) <= 3 * min(gaps)
            assert max(gaps) <= 3 * pool.steps[-1] / (keep - 1)


@property_test
@given(records, st.sampled_from(SCHEMES), st.floats(0.01, 1), st.floats(0, 5000))
def test_probabilities_are_not_negative_and_sum_to_1(
    met: list[tuple[float, int]], by: Scheme, decay: float, power: float
):
    won, known = zip(*met, strict=True)
    found = OpponentSampling(by, decay, power).probabilities(won, known)
    assert found.shape == (len(met),)
    assert (found >= 0).all()
    assert found.sum() == pytest.approx(1)


@pytest.mark.parametrize("decay", [0.3, 0.8, 1.0])
def test_recent_opponents_are_geometrically_more_likely(decay: float):
    found = recency_probabilities(7, decay)
    assert found[:-1] / found[1:] == pytest.approx(np.full(6, decay))


@property_test
@given(records, st.floats(0.1, 4))
def test_the_more_often_the_learner_loses_the_more_likely_the_opponent(
    met: list[tuple[float, int]], power: float
):
    won, known = (np.array(column, float) for column in zip(*met, strict=True))
    found = loss_probabilities(won, known, power)
    lost = (known - won + 1) / (known + 2)
    order = np.argsort(lost)
    assert (np.diff(found[order]) >= -1e-12).all()
    assert (found > 0).all(), "no opponent is ever excluded"
    assert found / found.sum() == pytest.approx(lost**power / (lost**power).sum())


def test_an_opponent_that_was_never_met_is_drawn_more_often_than_a_beaten_one():
    pool = pool_of(1, 2, 3)
    for _ in range(20):
        pool.record_score(1, 1.0)
        pool.record_score(2, 0.0)
        pool.record_score(2, None)
    beaten, lost_to, new = pool.probabilities(OpponentSampling("loss")).values()
    assert beaten < new < lost_to
    assert new / beaten == pytest.approx((0.5 / (1 / 22)) ** 2)


def test_only_the_last_matches_against_an_opponent_count():
    pool = pool_of(1, 2, window=10)
    for score in [0.0] * 500 + [1.0] * 10:
        pool.record_score(1, score)
    for _ in range(10):
        pool.record_score(2, 1.0)
    assert pool.probabilities(OpponentSampling("loss")) == {1: 0.5, 2: 0.5}


@pytest.mark.parametrize("by", SCHEMES)
def test_draws_follow_their_probabilities_and_depend_on_the_stream_only(by: Scheme):
    pool, sampling = pool_of(10, 20, 30, 40), OpponentSampling(by)
    for step, score in ((10, 1.0), (10, 1.0), (20, 0.0), (30, 0.5)):
        pool.record_score(step, score)
    noise = stream(3, "opponent")
    drawn = [pool.sample(sampling, noise) for _ in range(4000)]
    again = stream(3, "opponent")
    assert [pool.sample(sampling, again) for _ in range(50)] == drawn[:50]
    for step, chance in pool.probabilities(sampling).items():
        deviation = np.sqrt(chance * (1 - chance) / 4000)
        assert drawn.count(step) / 4000 == pytest.approx(chance, abs=4 * deviation)


def test_a_restored_pool_continues_exactly():
    pool = pool_of(*range(0, 900, 100), keep=6, window=5)
    for number in range(40):
        pool.record_score(pool.steps[number % 6], (0.0, 0.5, 1.0, None)[number % 4])
    other = pool_of(7, keep=6, window=5)
    assert other.load(json.loads(json.dumps(pool.state()))) == []
    assert other.state() == pool.state()
    sampling = OpponentSampling("loss")
    assert other.probabilities(sampling) == pool.probabilities(sampling)
    assert other.add(1000) == pool.add(1000)
    assert other.state() == pool.state()


def test_a_smaller_pool_loads_as_many_past_selves_as_it_keeps():
    smaller = SnapshotPool(3, 2)
    wide = pool_of(0, 10, 20, 30, 40)
    for _ in range(5):
        wide.record_score(40, 1.0)
    removed = smaller.load(wide.state())
    assert len(smaller.steps) == 3
    assert sorted(removed + smaller.steps) == wide.steps
    assert {0, 40} <= set(smaller.steps)
    assert smaller.win_records[40].n_known == 2


def test_results_against_removed_past_selves_are_ignored():
    pool = pool_of(0, 1, 2, keep=2)
    before = pool.state()
    pool.record_score(1, 1.0)
    assert pool.state() == before


def test_invalid_settings_are_rejected_with_the_reason():
    with pytest.raises(GymnastError, match="at least 2"):
        SnapshotPool(1, 10)
    with pytest.raises(GymnastError, match="uniform, recent, loss"):
        OpponentSampling("best")  # type: ignore[arg-type]
    for wrong in ({"decay": 0.0}, {"decay": 1.1}, {"power": -1.0}, {"power": float("nan")}):
        with pytest.raises(GymnastError, match=next(iter(wrong))):
            OpponentSampling(**wrong)
    with pytest.raises(ValueError, match="not after 5"):
        pool_of(5, 5)
    with pytest.raises(ValueError, match="no opponents to sample"):
        SnapshotPool(2, 10).sample(OpponentSampling(), stream(0))
