"""Strength of the scripted players over 400 matches each: a clear ladder, and sides of equal strength."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from numpy.random import default_rng as rng

from gymnast.envs.matches.tag import TagMatches
from gymnast.envs.matches.tag.scripted import SCRIPTED
from tests.envs.tag.playing import scripted_players, start_matches

MATCHES = 400


@cache
def tagged(seeker: str, hider: str) -> float:
    """Returns the fraction of matches that end with a tag."""
    matches, by, chance = (
        start_matches(MATCHES, first_seed=5000),
        scripted_players(seeker, hider),
        rng(1),
    )
    running, tags = np.arange(MATCHES), 0
    while running.size:
        actions = {role: np.ones((MATCHES, 1, 3), int) for role in by}
        for role, player in by.items():
            actions[role][running, 0] = player(
                matches.obs[role][running, 0], chance.random(running.size)
            )
        step = matches.step(actions, running)
        tags += int((step.outcome == 0).sum())
        running = running[~step.over[running]]
    return tags / MATCHES


def test_a_medium_seeker_tags_a_random_hider_in_nine_of_ten_matches():
    assert tagged("medium", "random") >= 0.9


def test_medium_against_medium_is_even():
    assert 0.4 <= tagged("medium", "medium") <= 0.6


def test_strong_seekers_are_clearly_better_than_medium_ones_and_weak_ones_worse():
    weak, medium, strong = (tagged(level, "medium") for level in ("weak", "medium", "strong"))
    assert weak + 0.2 <= medium <= strong - 0.2


def test_strong_hiders_are_clearly_better_than_medium_ones_and_weak_ones_worse():
    weak, medium, strong = (tagged("medium", level) for level in ("weak", "medium", "strong"))
    assert strong + 0.2 <= medium <= weak - 0.2


def test_both_roles_win_some_matches_of_strong_against_strong():
    assert 0.1 < tagged("strong", "strong") < 0.9


@pytest.mark.parametrize(("role", "name"), [(r, n) for r, of in SCRIPTED.items() for n in of])
def test_scripted_players_are_pure_functions_of_observation_and_noise(role: str, name: str):
    player, obs = SCRIPTED[role][name], start_matches(20).obs[role][:, 0]
    noise = rng(0).random(20)
    one, again = player(obs, noise), player(obs.copy(), noise.copy())
    assert np.array_equal(one, again)
    assert np.array_equal(one[7:8], player(obs[7:8], noise[7:8]))
    assert one.shape == (20, 3)
    assert ((one >= 0) & (one < TagMatches(1).roles[role].action.n)).all()
