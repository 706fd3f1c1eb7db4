"""The audit finds planted terms that can be farmed, and does not flag the default rewards."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import cache, partial

import numpy as np
import pytest

from gymnast.audit.farming import (
    ALL_TERMS,
    FARMABLE_SHARE,
    HONEST,
    MIN_MATCHES,
    TermVerdict,
    Trial,
    audit_terms,
    judge_trials,
    play_trials,
    welch_interval,
)
from gymnast.collect.matchmaking import scripted_player
from gymnast.envs.matches.tag.arena import TagMatches
from gymnast.envs.matches.tag.exploiters import EXPLOITERS, circle
from gymnast.envs.matches.tag.rewards import WEIGHTS
from gymnast.envs.matches.tag.rules import DIAGONAL, HIDER, ROLES, SEEKER
from gymnast.seeds import episode_seed

GAMMA, SEED, N = 0.99, 0, 12
PLANTED = ("seeing", "nearness", "moving")


@cache
def played(role: str) -> list[Trial]:
    """Plays trials with all terms, the planted ones at a weight of 0.05. Scripted play does not depend on the
    weights, so other weights can be applied afterward."""
    terms = {role: dict.fromkeys(PLANTED, 0.05)}
    farmers = {name: scripted_player(rules) for name, rules in EXPLOITERS[role].items()}
    return play_trials(
        lambda n: TagMatches(n, terms=terms), role, farmers, discount=GAMMA, seed=SEED, n_matches=N
    )


def found(role: str, weights: Mapping[str, float] = {}, **factors: float) -> dict[str, TermVerdict]:
    """Returns the verdicts under the default rewards times `factors`, with planted terms at `weights`; other
    planted terms are left out."""
    factors = {term: factors.get(term, 1.0) for term in WEIGHTS[role]} | {
        term: weight / 0.05 for term, weight in weights.items()
    }
    weighed = [
        replace(one, totals={term: factor * one.totals[term] for term, factor in factors.items()})
        for one in played(role)
    ]
    honest = [one for one in weighed if one.player in HONEST]
    farmers = [one for one in weighed if one.player not in HONEST]
    return {one.term: one for one in judge_trials(role, "goal", farmers, honest)}


@pytest.mark.parametrize("term", PLANTED)
def test_a_farmable_bonus_per_step_is_found(term: str):
    verdicts = found(SEEKER, {term: 0.05})
    assert {name: one.verdict for name, one in verdicts.items()} == {
        "time": "sound",
        "closing": "sound",
        term: "farmable",
        ALL_TERMS: "farmable",
    }
    farmed = verdicts[term].evidence
    assert farmed is not None
    assert farmed.share_low > 1, "not even certain victory is worth as much"


def test_a_bonus_for_seeing_is_farmable_for_hiders_too():
    assert found(HIDER, {"seeing": 0.2})["seeing"].verdict == "farmable"


@pytest.mark.parametrize("role", ROLES)
def test_the_default_rewards_cannot_be_farmed(role: str):
    verdicts = found(role)
    assert set(verdicts) == {"time", "closing", ALL_TERMS}
    for one in verdicts.values():
        assert one.verdict == "sound", one
        assert one.evidence is not None
        assert one.evidence.share < 0.5 * FARMABLE_SHARE, "far below the threshold"


def test_a_time_cost_that_rewards_losing_early_is_found():
    """A hider with a high cost per step is better off tagged."""
    assert found(HIDER, time=-15.0)["time"].verdict == "farmable"


def test_terms_may_be_farmable_only_in_sum():
    verdicts = found(SEEKER, dict.fromkeys(PLANTED, 0.006))
    assert {verdicts[term].verdict for term in PLANTED} == {"sound"}
    assert verdicts[ALL_TERMS].verdict == "farmable"


@pytest.mark.parametrize("role", ROLES)
def test_a_potential_has_the_same_discounted_sum_for_every_player(role: str):
    matches = TagMatches(N)
    matches.reset(range(N), [episode_seed(SEED, "audit", i) for i in range(N)])
    begin = matches.state()["nearest"][:, ROLES.index(role)]
    expected = WEIGHTS[role]["closing"] * begin / DIAGONAL
    assert np.allclose([one.totals["closing"] for one in played(role)], expected, atol=1e-9)


def test_farm_includes_the_policy_of_the_run():
    settings = {"terms": {SEEKER: {"moving": 1.0}}, "time_limit": 60, "handicaps": {SEEKER: 3.0}}
    batch_sizes: list[int] = []

    def mine(obs: np.ndarray, _noise: np.ndarray, uniform: np.ndarray) -> np.ndarray:
        batch_sizes.append(len(obs))
        return circle(obs, uniform)

    open_ = partial(TagMatches, **settings)
    verdicts = audit_terms(
        open_, SEEKER, discount=GAMMA, seed=SEED, own_players={"mine": mine}, n_matches=8
    )
    assert {one.term: one.verdict for one in verdicts} == {
        "time": "sound",
        "closing": "sound",
        "moving": "farmable",
        ALL_TERMS: "farmable",
    }
    assert set(batch_sizes) == {8}
    data = verdicts[2].record()
    assert data.low is not None
    assert data.gain is not None
    assert data.goal is not None
    assert data.low <= data.share == data.gain.mean / data.goal.mean


@pytest.mark.parametrize("role", ROLES)
def test_exploiters_return_valid_actions_and_ignore_noise(role: str):
    matches = TagMatches(64)
    matches.reset(range(64), range(64))
    obs = matches.obs[role].reshape(64, -1)
    for rules in EXPLOITERS[role].values():
        actions = rules(obs, np.zeros(64))
        assert actions.shape == (64, 3)
        assert (actions >= 0).all()
        assert (actions < np.array([3, 3, 2])).all()
        assert np.array_equal(actions, rules(obs, np.ones(64)))


# ---- verdicts on made-up matches -------------------------------------------------------------


def trial(player: str, won: float, *, term: tuple[float, float], n: int = 20) -> Trial:
    """Returns n matches of a player that wins the fraction `won`; `term` is the mean in matches won and
    not won."""
    wins = np.arange(n) < won * n
    wobble = np.where(np.arange(n) % 2, 0.01, -0.01)
    totals = {"goal": np.where(wins, 1.0, -1.0), "term": np.where(wins, *term) + wobble}
    return Trial(player, "medium", wins, totals)


def verdict(farmer: Trial, *honest: Trial) -> TermVerdict:
    (one, _) = judge_trials("seeker", "goal", [farmer], honest)
    return one


def test_a_term_worth_half_a_win_without_winning_is_farmable():
    winner = trial("honest", 0.5, term=(0.2, 0.2))
    assert verdict(trial("farmer", 0.0, term=(0.0, 1.3)), winner).verdict == "farmable"
    assert verdict(trial("farmer", 0.0, term=(0.0, 1.1)), winner).verdict == "sound"
    share = verdict(trial("farmer", 0.0, term=(0.0, 1.3)), winner).evidence
    assert share is not None
    assert share.share == pytest.approx((1.3 - 0.2) / 2)
    assert share.share_low < share.share


def test_a_term_that_winners_collect_as_well_is_not_farmable():
    farmer = trial("farmer", 0.0, term=(0.0, 5.0))
    poor, rich = trial("poor", 0.5, term=(0.0, 0.0)), trial("rich", 0.5, term=(5.0, 0.0))
    assert verdict(farmer, poor).verdict == "farmable"
    both = verdict(farmer, poor, rich)
    assert both.verdict == "sound"
    assert both.evidence is not None
    assert both.evidence.honest == "rich"


def test_a_player_that_wins_half_of_its_matches_is_not_farming():
    winner = trial("honest", 0.5, term=(0.0, 0.0))
    assert verdict(trial("farmer", 0.5, term=(5.0, 5.0)), winner).verdict == "unknown"
    assert verdict(trial("farmer", 0.45, term=(5.0, 5.0)), winner).verdict == "farmable"


def test_without_enough_matches_the_verdict_is_unknown():
    farmer = trial("farmer", 0.0, term=(0.0, 5.0))
    seldom = trial("honest", (MIN_MATCHES - 1) / 20, term=(0.0, 0.0))
    assert verdict(farmer, seldom).verdict == "unknown"
    assert verdict(farmer).verdict == "unknown"


def test_any_gain_outweighs_a_goal_that_is_worth_nothing():
    def worthless(one: Trial) -> Trial:
        totals = {**one.totals, "goal": np.zeros(len(one.won))}
        return Trial(one.player, one.opponent, one.won, totals)

    farmer, winner = trial("f", 0.0, term=(0.0, 0.1)), trial("h", 1.0, term=(0.0, 0.0))
    one = verdict(worthless(farmer), worthless(winner))
    assert one.verdict == "farmable"
    assert one.evidence is not None
    assert one.evidence.share_low == math.inf


def test_a_gain_within_chance_is_not_farmable():
    winner = trial("honest", 0.5, term=(0.0, 0.0))
    farmer = trial("farmer", 0.0, term=(0.0, 0.0))
    lucky = {**farmer.totals, "term": np.array([30.0] + [0.0] * 19)}
    one = verdict(Trial("farmer", "medium", farmer.won, lucky), winner)
    assert one.verdict == "sound"
    assert one.evidence is not None
    assert one.evidence.share > FARMABLE_SHARE


def test_95_percent_of_the_difference_intervals_contain_the_truth():
    draws = np.random.default_rng(0)
    inside = 0
    for _ in range(400):
        interval = welch_interval(draws.normal(1.0, 2.0, 12), draws.normal(0.0, 0.5, 30))
        inside += interval.low <= 1.0 <= interval.high
    assert 0.93 <= inside / 400 <= 0.99
