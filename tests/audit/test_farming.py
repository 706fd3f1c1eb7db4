"""Planted rewards that can be farmed are found, the shipped ones are not, and why."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import cache, partial

import numpy as np
import pytest

from gymnast.audit.farming import (
    EVEN,
    FEWEST,
    HONEST,
    TOGETHER,
    TermVerdict,
    Trial,
    difference,
    farm,
    judged,
    tries,
)
from gymnast.collect.casting import scripted_player
from gymnast.envs.matches.tag.arena import TagMatches
from gymnast.envs.matches.tag.exploiters import EXPLOITERS, circle
from gymnast.envs.matches.tag.rewards import WEIGHTS
from gymnast.envs.matches.tag.rules import DIAGONAL, HIDER, ROLES, SEEKER
from gymnast.seeds import episode_seed

GAMMA, SEED, N = 0.99, 0, 12
PLANTED = ("seeing", "nearness", "moving")


@cache
def played(role: str) -> list[Trial]:
    """With every term, the planted ones at a weight of 0.05: how anybody plays does not depend on it."""
    terms = {role: dict.fromkeys(PLANTED, 0.05)}
    farmers = {name: scripted_player(rules) for name, rules in EXPLOITERS[role].items()}
    return tries(
        lambda n: TagMatches(n, terms=terms), role, farmers, discount=GAMMA, seed=SEED, n=N
    )


def found(role: str, weights: Mapping[str, float] = {}, **factors: float) -> dict[str, TermVerdict]:
    """Under the rewards that ship, times factors; other weights of planted terms, which are else left
    out."""
    factors = {term: factors.get(term, 1.0) for term in WEIGHTS[role]} | {
        term: weight / 0.05 for term, weight in weights.items()
    }
    weighed = [
        replace(one, totals={term: factor * one.totals[term] for term, factor in factors.items()})
        for one in played(role)
    ]
    honest = [one for one in weighed if one.player in HONEST]
    farmers = [one for one in weighed if one.player not in HONEST]
    return {one.term: one for one in judged(role, "goal", farmers, honest)}


@pytest.mark.parametrize("term", PLANTED)
def test_a_bonus_per_step_is_found(term: str):
    judged = found(SEEKER, {term: 0.05})
    assert {name: one.verdict for name, one in judged.items()} == {
        "time": "sound",
        "closing": "sound",
        term: "farmable",
        TOGETHER: "farmable",
    }
    farmed = judged[term].farmed
    assert farmed is not None
    assert farmed.low > 1, "even sure victory is worth less"


def test_a_hider_that_is_paid_for_seeing_looks_at_who_comes():
    assert found(HIDER, {"seeing": 0.2})["seeing"].verdict == "farmable"


@pytest.mark.parametrize("role", ROLES)
def test_the_rewards_that_ship_cannot_be_farmed(role: str):
    verdicts = found(role)
    assert set(verdicts) == {"time", "closing", TOGETHER}
    for one in verdicts.values():
        assert one.verdict == "sound", one
        assert one.farmed is not None
        assert one.farmed.share < 0.5 * EVEN, "nowhere near"


def test_a_price_of_time_that_makes_losing_early_pay_is_found():
    """A hider that pays for every step is better off tagged."""
    assert found(HIDER, time=-15.0)["time"].verdict == "farmable"


def test_several_terms_may_be_farmable_only_together():
    judged = found(SEEKER, dict.fromkeys(PLANTED, 0.006))
    assert {judged[term].verdict for term in PLANTED} == {"sound"}
    assert judged[TOGETHER].verdict == "farmable"


@pytest.mark.parametrize("role", ROLES)
def test_a_potential_comes_to_the_same_however_one_plays(role: str):
    matches = TagMatches(N)
    matches.reset(range(N), [episode_seed(SEED, "audit", i) for i in range(N)])
    begin = matches.state()["nearest"][:, ROLES.index(role)]
    expected = WEIGHTS[role]["closing"] * begin / DIAGONAL
    assert np.allclose([one.totals["closing"] for one in played(role)], expected, atol=1e-9)


def test_the_whole_check_finds_the_same_and_lets_a_run_s_own_player_try():
    settings = {"terms": {SEEKER: {"moving": 1.0}}, "time_limit": 60, "handicaps": {SEEKER: 3.0}}
    asked: list[int] = []

    def mine(obs: np.ndarray, _noise: np.ndarray, even: np.ndarray) -> np.ndarray:
        asked.append(len(obs))
        return circle(obs, even)

    open_ = partial(TagMatches, **settings)
    verdicts = farm(open_, SEEKER, discount=GAMMA, seed=SEED, own={"mine": mine}, n=8)
    assert {one.term: one.verdict for one in verdicts} == {
        "time": "sound",
        "closing": "sound",
        "moving": "farmable",
        TOGETHER: "farmable",
    }
    assert set(asked) == {8}
    told = verdicts[2].plain()
    assert told["low"] <= told["share"] == told["gain"]["mean"] / told["goal"]["mean"]


@pytest.mark.parametrize("role", ROLES)
def test_players_that_farm_take_actions_that_exist_and_need_no_chance(role: str):
    matches = TagMatches(64)
    matches.reset(range(64), range(64))
    obs = matches.obs[role].reshape(64, -1)
    for rules in EXPLOITERS[role].values():
        actions = rules(obs, np.zeros(64))
        assert actions.shape == (64, 3)
        assert (actions >= 0).all()
        assert (actions < np.array([3, 3, 2])).all()
        assert np.array_equal(actions, rules(obs, np.ones(64)))


# ---- how it is judged, by made-up matches ----------------------------------------------------


def tried(player: str, won: float, *, term: tuple[float, float], n: int = 20) -> Trial:
    """Who won a share of n matches: goal 1 or -1, and the term's mean where won and where not."""
    wins = np.arange(n) < won * n
    wobble = np.where(np.arange(n) % 2, 0.01, -0.01)
    totals = {"goal": np.where(wins, 1.0, -1.0), "term": np.where(wins, *term) + wobble}
    return Trial(player, "medium", wins, totals)


def verdict(farmer: Trial, *honest: Trial) -> TermVerdict:
    (one, _) = judged("seeker", "goal", [farmer], honest)
    return one


def test_what_pays_half_of_a_victory_without_one_is_farmable():
    winner = tried("honest", 0.5, term=(0.2, 0.2))
    assert verdict(tried("farmer", 0.0, term=(0.0, 1.3)), winner).verdict == "farmable"
    assert verdict(tried("farmer", 0.0, term=(0.0, 1.1)), winner).verdict == "sound"
    share = verdict(tried("farmer", 0.0, term=(0.0, 1.3)), winner).farmed
    assert share is not None
    assert share.share == pytest.approx((1.3 - 0.2) / 2)
    assert share.low < share.share


def test_what_winners_get_as_well_is_no_reason_not_to_win():
    farmer = tried("farmer", 0.0, term=(0.0, 5.0))
    poor, rich = tried("poor", 0.5, term=(0.0, 0.0)), tried("rich", 0.5, term=(5.0, 0.0))
    assert verdict(farmer, poor).verdict == "farmable"
    both = verdict(farmer, poor, rich)
    assert both.verdict == "sound"
    assert both.farmed is not None
    assert both.farmed.honest == "rich"


def test_a_player_that_wins_farms_nothing():
    winner = tried("honest", 0.5, term=(0.0, 0.0))
    assert verdict(tried("farmer", 0.5, term=(5.0, 5.0)), winner).verdict == "unknown"
    assert verdict(tried("farmer", 0.45, term=(5.0, 5.0)), winner).verdict == "farmable"


def test_without_enough_matches_nothing_is_said():
    farmer = tried("farmer", 0.0, term=(0.0, 5.0))
    seldom = tried("honest", (FEWEST - 1) / 20, term=(0.0, 0.0))
    assert verdict(farmer, seldom).verdict == "unknown"
    assert verdict(farmer).verdict == "unknown"


def test_where_winning_pays_nothing_any_gain_outweighs_it():
    def worthless(one: Trial) -> Trial:
        totals = {**one.totals, "goal": np.zeros(len(one.won))}
        return Trial(one.player, one.opponent, one.won, totals)

    farmer, winner = tried("f", 0.0, term=(0.0, 0.1)), tried("h", 1.0, term=(0.0, 0.0))
    one = verdict(worthless(farmer), worthless(winner))
    assert one.verdict == "farmable"
    assert one.farmed is not None
    assert one.farmed.low == math.inf


def test_a_gain_that_chance_may_have_made_is_not_farmed():
    winner = tried("honest", 0.5, term=(0.0, 0.0))
    farmer = tried("farmer", 0.0, term=(0.0, 0.0))
    lucky = {**farmer.totals, "term": np.array([30.0] + [0.0] * 19)}
    one = verdict(Trial("farmer", "medium", farmer.won, lucky), winner)
    assert one.verdict == "sound"
    assert one.farmed is not None
    assert one.farmed.share > EVEN


def test_the_interval_of_a_difference_holds_the_truth_as_often_as_it_says():
    draws = np.random.default_rng(0)
    inside = 0
    for _ in range(400):
        interval = difference(draws.normal(1.0, 2.0, 12), draws.normal(0.0, 0.5, 30))
        inside += interval.low <= 1.0 <= interval.high
    assert 0.93 <= inside / 400 <= 0.99
