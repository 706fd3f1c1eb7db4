"""Rolling win rates, and gates that compare them with a threshold."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gymnast.errors import GymnastError
from gymnast.league.gates import Gate
from gymnast.league.results import Tally
from gymnast.league.wins import RecentWins
from gymnast.rl.statistics import wilson_interval

outcomes = st.lists(st.sampled_from([0.0, 0.5, 1.0, None]), max_size=60)
property_test = settings(deadline=None, max_examples=80)


def wins_from(scores: list[float | None], window: int) -> RecentWins:
    wins = RecentWins(window)
    for score in scores:
        wins.add(score)
    return wins


@property_test
@given(outcomes, st.integers(1, 30))
def test_a_win_rate_is_that_of_the_last_known_outcomes(scores: list[float | None], window: int):
    wins = wins_from(scores, window)
    last = [score for score in scores if score is not None][-window:]
    assert (wins.n_known, wins.score) == (len(last), sum(last))
    assert wins.unknown == scores.count(None)
    if last:
        assert wins.win_rate() == wilson_interval(sum(last), len(last))
    else:
        assert math.isnan(wins.win_rate().mean)


@property_test
@given(outcomes, outcomes, st.integers(1, 30))
def test_a_restored_win_rate_continues_exactly(
    before: list[float | None], after: list[float | None], window: int
):
    resumed = RecentWins(window)
    resumed.add(1.0)  # replaced by what is loaded
    resumed.load(json.loads(json.dumps(wins_from(before, window).state())))
    for score in after:
        resumed.add(score)
    assert resumed.state() == wins_from(before + after, window).state()


def test_a_win_rate_forgets_old_outcomes():
    assert wins_from([0.0] * 10_000 + [1.0] * 100, 100).win_rate().mean == 1


def test_invalid_scores_and_windows_are_rejected():
    with pytest.raises(ValueError, match="1/2"):
        RecentWins(3).add(2.0)
    with pytest.raises(GymnastError, match="window"):
        RecentWins(0)


def test_a_gate_decides_only_if_the_whole_interval_is_on_one_side():
    gate = Gate(0.6, min_matches=20)
    verdicts = [gate.verdict(Tally(won, 100 - won)) for won in range(101)]
    low = [wilson_interval(won, 100).low for won in range(101)]
    high = [wilson_interval(won, 100).high for won in range(101)]
    for won, verdict in enumerate(verdicts):
        assert (verdict == "above") == (low[won] > 0.6)
        assert (verdict == "below") == (high[won] < 0.6)
    assert verdicts[60] == "unsure"
    assert {*verdicts} == {"above", "below", "unsure"}


def test_a_gate_waits_for_enough_matches_with_a_known_outcome():
    gate = Gate(0.5, min_matches=20)
    assert gate.verdict(wins_from([1.0] * 19 + [None] * 50, 100)) == "unsure"
    assert gate.verdict(wins_from([1.0] * 20, 100)) == "above"
    assert gate.verdict(wins_from([0.0] * 20, 100)) == "below"


def test_at_its_threshold_a_gate_opens_by_chance_at_most_once_in_forty():
    """The test is one-sided, so it errs in half of the 5 % that the interval misses."""
    gate = Gate(0.5, min_matches=1)
    opened = math.fsum(
        math.comb(200, won) / 2**200
        for won in range(201)
        if gate.verdict(Tally(won, 200 - won)) == "above"
    )
    assert 0.01 < opened < 0.035


def test_a_gate_explains_its_verdict():
    gate = Gate(0.6, min_matches=50)
    assert gate.explain(Tally(80, 20)) == "above: wins 80% [71, 87] of 100 matches, threshold 60%"
    assert gate.explain(Tally(8, 2)) == "unsure: wins 80% [49, 94] of 10 matches, 50 are needed"
    assert gate.explain(Tally(unknown=4)) == "unsure: no known outcome, 50 are needed"


@pytest.mark.parametrize(("threshold", "matches"), [(1.2, 10), (-0.1, 10), (math.nan, 1), (0.5, 0)])
def test_invalid_gates_are_rejected(threshold: float, matches: int):
    with pytest.raises(GymnastError):
        Gate(threshold, matches)
