"""Tables of results count every match once and for the right side."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gymnast.errors import GymnastError
from gymnast.league.results import DRAW, Entrant, Results, Tally, match_score, natural_key

names = st.sampled_from(["0", "1000", "200", "scripted:easy"])
winners = st.sampled_from(["seeker", "hider", DRAW, None])
played = st.lists(st.tuples(names, names, winners), max_size=40)
property_test = settings(deadline=None, max_examples=80)


def table(matches: list[tuple[str, str, str | None]]) -> Results:
    results = Results("seeker", "hider")
    for match in matches:
        results.add(*match)
    return results


@property_test
@given(played)
def test_every_match_is_counted_once_and_for_its_winner(matches: list[tuple[str, str, str | None]]):
    results, expected = table(matches), Counter(matches)
    for row, column in {match[:2] for match in matches}:
        tally = results.pair_tally(row, column)
        ends = (expected[row, column, end] for end in ("seeker", "hider", DRAW, None))
        assert tally == Tally(*ends)
    ends = Counter(winner for _, _, winner in matches)
    assert results.total() == Tally(ends["seeker"], ends["hider"], ends[DRAW], ends[None])


@property_test
@given(played, played)
def test_merged_tables_equal_the_table_of_all_matches(
    first: list[tuple[str, str, str | None]], second: list[tuple[str, str, str | None]]
):
    one = table(first)
    assert one.merge(table(second)) == table(first + second)
    assert one == table(first), "merging does not change its parts"


@property_test
@given(played)
def test_json_round_trips_and_does_not_depend_on_the_order_of_matches(
    matches: list[tuple[str, str, str | None]],
):
    text = json.dumps(table(matches).to_json())
    assert Results.from_json(json.loads(text)) == table(matches)
    assert json.dumps(table(matches[::-1]).to_json()) == text


def test_unknown_outcomes_count_for_neither_side():
    results = table([("a", "b", "seeker"), ("a", "b", "hider"), ("a", "b", DRAW)])
    before = results.pair_tally("a", "b").win_rate()
    results.add("a", "b", None, n=100)
    tally = results.pair_tally("a", "b")
    assert (tally.n_known, tally.unknown, tally.score) == (3, 100, 1.5)
    assert tally.win_rate() == before


def test_the_scores_of_both_roles_add_up_to_1():
    for winner in ("seeker", "hider", DRAW):
        seeker, hider = match_score("seeker", winner), match_score("hider", winner)
        assert seeker is not None
        assert hider is not None
        assert seeker + hider == 1
    assert match_score("seeker", "seeker") == 1
    assert match_score("seeker", None) is None


def test_natural_order_sorts_numbers_by_size_and_before_words():
    assert sorted(["scripted:b", "1000", "200", "scripted:a", "0", "x10", "x9"], key=natural_key) == [
        "0", "200", "1000", "scripted:a", "scripted:b", "x9", "x10",
    ]  # fmt: skip


def test_an_entrant_survives_formatting_and_parsing():
    entrant = Entrant("hider", "scripted:medium")
    assert str(entrant) == "hider:scripted:medium"
    assert Entrant.parse(str(entrant)) == entrant


@pytest.mark.parametrize("text", ["seeker", ":200", "seeker:", ""])
def test_text_that_is_not_an_entrant_is_rejected(text: str):
    with pytest.raises(GymnastError, match="not an entrant"):
        Entrant.parse(text)


def test_invalid_results_are_rejected_with_the_reason():
    results = table([])
    with pytest.raises(GymnastError, match=r"seeker a against hider b.*'referee'"):
        results.add("a", "b", "referee")
    assert not results.pairs
    with pytest.raises(GymnastError, match="cannot be merged"):
        results.merge(Results("hider", "seeker"))
    with pytest.raises(GymnastError, match="both roles"):
        Results("agent", "agent")
    with pytest.raises(GymnastError, match="not a valid role name"):
        Results("see:ker", "hider")
    pair = {"row": "x", "column": "y", "won": [-1, 0], "drawn": 0, "unknown": 0}
    for pairs in ([pair], [{"row": "x"}], 3):
        with pytest.raises(GymnastError, match="not a table of results"):
            Results.from_json({"roles": ["a", "b"], "pairs": pairs})
