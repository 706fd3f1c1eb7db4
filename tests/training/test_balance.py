"""Remedies for a dominated role are applied one after the other and withdrawn in reverse order."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gymnast.config.sections.league import BalanceConfig
from gymnast.league.wins import RecentWins
from gymnast.selfplay.balance import Balance

REMEDIES = ("alone", "handicap", "reward")
WINDOW = 8
STANDS = ("seeker", "hider", "", "too few")
"""The dominated role, "" if none is, or "too few" matches to decide."""


def balance(patience: int, remedies: tuple[str, ...] = REMEDIES) -> Balance:
    return Balance(BalanceConfig.model_validate({"patience": patience, "remedies": remedies}))


def wins(stands: str) -> dict[str, RecentWins]:
    """Returns win rates of 1/8 and 7/8, of one half each, or of only 3 matches."""
    found = {role: RecentWins(WINDOW) for role in ("seeker", "hider")}
    won = {"seeker": 1, "hider": 7, "": 4, "too few": 0}[stands]
    for match in range(3 if stands == "too few" else WINDOW):
        found["seeker"].add(float(match < won))
        found["hider"].add(float(match >= won))
    return found


@given(
    st.lists(st.sampled_from(STANDS), max_size=60),
    st.integers(1, 4),
    st.lists(st.sampled_from([*REMEDIES, "warm_start"]), unique=True),
)
def test_remedies_are_applied_in_order_and_withdrawn_in_reverse(history, patience, remedies):
    watched = balance(patience, tuple(remedies))
    in_a_row, last = 0, ""
    for stands in history:
        before, weaker = list(watched.applied), watched.weaker
        action = watched.update(wins(stands))
        now = "" if stands == "too few" else stands
        in_a_row, last = (in_a_row + 1 if now == last else 1), now
        assert watched.applied == remedies[: len(watched.applied)]
        assert abs(len(watched.applied) - len(before)) == (action is not None)
        if before:  # whoever is being helped stays the same until nothing helps it any more
            assert watched.weaker == weaker
        if action is None:
            continue
        assert action["win_rates"].keys() == {"seeker", "hider"}
        assert action["weaker"] == watched.weaker
        if action["what"] == "applied":
            assert action["remedy"] == remedies[len(before)]
            assert watched.weaker == now
            assert in_a_row == patience
        else:
            assert action["what"] == "withdrawn"
            assert action["remedy"] == before[-1]
            turned = now not in ("", weaker)
            assert turned or (now == "" and in_a_row == patience)
        in_a_row = 0


@given(st.lists(st.sampled_from(STANDS), max_size=40), st.integers(0, 40), st.integers(1, 3))
def test_a_restored_balance_continues_identically(history, at, patience):
    whole, first = balance(patience), balance(patience)
    for stands in history[:at]:
        assert whole.update(wins(stands)) == first.update(wins(stands))
    second = balance(patience)
    second.load(json.loads(json.dumps(first.state())))
    for stands in history[at:]:
        assert whole.update(wins(stands)) == second.update(wins(stands))
    assert whole.state() == second.state()


def test_patience_restarts_when_another_role_is_dominated():
    watched = balance(3)
    for stands in ("seeker", "seeker", "hider", "hider"):
        assert watched.update(wins(stands)) is None
    action = watched.update(wins("hider"))
    assert action is not None
    assert (action["what"], action["remedy"], action["weaker"]) == ("applied", "alone", "hider")


def test_a_single_learner_is_never_dominated():
    watched = balance(1)
    for _ in range(5):
        assert watched.update({"seeker": wins("seeker")["seeker"]}) is None


@pytest.mark.parametrize("remedy", REMEDIES)
def test_only_the_weaker_role_is_helped(remedy: str):
    watched = balance(1, (remedy,))
    watched.update(wins("hider"))
    assert watched.is_helping(remedy, "hider")
    assert not watched.is_helping(remedy, "seeker")
