"""Observations are correct about visible opponents and reveal nothing about hidden ones."""

from __future__ import annotations

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from gymnast.envs.matches.tag import TagMatches
from gymnast.envs.matches.tag.rules import DIAGONAL, FIELD_OF_VIEW, HEADINGS, SIGHT
from gymnast.envs.matches.tag.sight import COMPONENT_INDEX, NAMES
from tests.envs.tag.playing import play_steps, scripted_players, start_matches

STRONG = scripted_players("strong", "medium")


def put(matches: TagMatches, **columns: np.ndarray) -> TagMatches:
    """Returns the same matches with these state columns replaced."""
    state = matches.state() | columns
    other = TagMatches(matches.n_matches)
    other.load(state)
    return other


def only_turning(matches: TagMatches) -> dict[str, np.ndarray]:
    """Steps once with every agent turning left on the spot, and returns the observations."""
    left = np.tile([0, 1, 0], (matches.n_matches, 1, 1))
    matches.step({"seeker": left, "hider": left})
    return {role: obs.copy() for role, obs in matches.obs.items()}


def sees(state: dict[str, np.ndarray], who: int) -> bool:
    """Returns whether agent `who` of the only match sees the other, by angle, range and sampled points of
    the line between them."""
    at, other = state["position"][0, who], state["position"][0, 1 - who]
    line = other - at
    heading = state["heading"][0, who] * 2 * np.pi / HEADINGS
    off = (np.arctan2(line[1], line[0]) - heading + np.pi) % (2 * np.pi) - np.pi
    points = at + np.linspace(0, 1, 600)[:, None] * line
    boxed = (np.abs(points[:, None] - state["middle"][0]) < state["half"][0]).all(-1).any()
    return bool(np.hypot(*line) <= SIGHT and abs(off) <= FIELD_OF_VIEW / 2 and not boxed)


@settings(max_examples=40)
@given(
    st.integers(0, 10**6),
    st.sampled_from([0, 1]),
    st.tuples(st.floats(-9, 9), st.floats(-9, 9)),
    st.tuples(st.floats(-0.2, 0.2), st.floats(-0.2, 0.2)),
    st.integers(0, 60),
)
def test_observations_do_not_depend_on_a_hidden_opponent(
    seed: int,
    who: int,
    place: tuple[float, float],
    speed: tuple[float, float],
    steps: int,
):
    """Position, velocity, heading and cooldown of a hidden opponent change nothing, not even the memory of
    its last sighting."""
    matches = start_matches(1, seed)
    for step in play_steps(matches, STRONG, seed, steps):
        assume(not step.over[0])
    here, there = matches.state(), matches.state()
    other = 1 - who
    there["position"][0, other], there["velocity"][0, other] = place, speed
    there["heading"][0, other] = (there["heading"][0, other] + 7) % HEADINGS
    there["cooldown"][0, other] = 3
    role = ("seeker", "hider")[who]
    shown = []
    for state in (here, there):
        one = put(matches, **state)
        shown.append(only_turning(one)[role])
        after = one.state()
        assume(after["in_play"].all() and not sees(after, who))
    assert np.array_equal(*shown)


def test_the_visible_opponent_agrees_with_a_point_by_point_search():
    checked = 0
    for seed in range(12):
        matches = start_matches(1, seed)
        for number, step in enumerate(
            play_steps(matches, scripted_players("medium", "medium"), seed), 1
        ):
            if step.over[0]:
                break
            if number % 8:
                continue
            state = matches.state()
            for who, role in enumerate(("seeker", "hider")):
                obs = dict(zip(NAMES, step.obs[role][0, 0].tolist(), strict=True))
                assert (obs["seen"] == 1) == sees(state, who)
                if not obs["seen"]:
                    assert not any(obs[f"seen {x}"] for x in ("ahead", "aside", "speed ahead"))
                    continue
                angle = state["heading"][0, who] * 2 * np.pi / HEADINGS
                turned = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
                line = turned @ (state["position"][0, 1 - who] - state["position"][0, who])
                speed = turned @ (state["velocity"][0, 1 - who] - state["velocity"][0, who])
                found = np.array([obs["seen ahead"], obs["seen aside"]]) * SIGHT
                assert np.allclose(found, line, atol=1e-4)
                last = np.array([obs["last ahead"], obs["last aside"]]) * DIAGONAL
                assert np.allclose(last, line, atol=1e-4)
                assert obs["last fresh"] == 1
                for way, wanted in zip(("ahead", "aside"), speed, strict=True):
                    assert np.sign(obs[f"seen speed {way}"]) == np.sign(np.float32(wanted))
                checked += 1
    assert checked > 60


def test_the_last_sighting_stays_in_place_and_ages_linearly():
    matches = start_matches(60)
    seen_last = matches.state()["position"][:, 0]
    age = np.where(matches.obs["hider"][:, 0, COMPONENT_INDEX["seen"]] > 0, 0, -1)
    over, checked = np.zeros(60, bool), 0
    for step in play_steps(matches, STRONG):
        state, obs = matches.state(), step.obs["hider"][:, 0]
        over |= step.over
        now = (obs[:, COMPONENT_INDEX["seen"]] > 0) & ~over
        seen_last[now] = state["position"][now, 0]
        age = np.where(now, 0, np.where(age >= 0, age + 1, age))
        fresh = np.where(age >= 0, 1 - age / matches.time_limit, 0)
        assert np.allclose(obs[~over, COMPONENT_INDEX["last fresh"]], fresh[~over], atol=1e-6)
        angle = state["heading"][:, 1] * 2 * np.pi / HEADINGS
        line = seen_last - state["position"][:, 1]
        ahead = (line * np.stack([np.cos(angle), np.sin(angle)], -1)).sum(-1) / DIAGONAL
        known = ~over & (age > 0)
        checked += int(known.sum())
        assert np.allclose(obs[known, COMPONENT_INDEX["last ahead"]], ahead[known], atol=1e-6)
        assert not obs[~over & (age < 0)][:, COMPONENT_INDEX["last ahead"] :].any()
    assert checked > 500


def test_the_field_of_view_turns_with_the_agent():
    """A full turn on the spot shows the same rays again, and half a turn shows others."""
    matches = start_matches(1, 3)
    state = matches.state()
    state["velocity"][:] = 0
    matches.load(state)
    shown = [
        only_turning(matches)["seeker"][0, 0, : COMPONENT_INDEX["speed ahead"]]
        for _ in range(2 * HEADINGS)
    ]
    assert np.array_equal(shown[0], shown[HEADINGS])
    assert not np.array_equal(shown[0], shown[HEADINGS // 2])


def test_a_seeker_sees_the_nearest_visible_hider_and_forgets_tagged_ones():
    matches = start_matches(80, hiders=3)
    checked, forgot = 0, 0
    for step in play_steps(matches, scripted_players("strong", "weak")):
        state, obs = matches.state(), step.obs["seeker"][:, 0]
        playing = state["in_play"][:, 0]
        who = state["seen_who"][:, 0]
        rows = np.arange(80)
        known = playing & (obs[:, COMPONENT_INDEX["last fresh"]] > 0)
        assert state["in_play"][rows, who][known].all()
        seen = playing & (obs[:, COMPONENT_INDEX["seen"]] > 0)
        found = (
            np.hypot(obs[:, COMPONENT_INDEX["seen ahead"]], obs[:, COMPONENT_INDEX["seen aside"]])
            * SIGHT
        )
        line = state["position"][:, 1:] - state["position"][:, :1]
        distance = np.where(state["in_play"][:, 1:], np.hypot(line[..., 0], line[..., 1]), np.inf)
        nearest = distance.min(1)
        assert (found[seen] >= nearest[seen] - 1e-3).all()
        assert (np.abs(found[seen][:, None] - distance[seen]).min(1) < 1e-3).all()
        checked += int(seen.sum())
        forgot += int((playing & ~known & step.terminated["hider"].any(1)).sum())
    assert checked > 300
    assert forgot > 3
