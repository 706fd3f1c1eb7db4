"""Tag keeps to the interface of matches: seeds, state, agents in play, rewards and match metrics."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gymnast.envs.matches.matches import UNKNOWN_OUTCOME, MatchStep
from gymnast.envs.matches.tag import TagMatches
from gymnast.envs.matches.tag.rules import DIAGONAL, REACH
from gymnast.envs.matches.tag.sight import SPACE
from gymnast.errors import CheckpointError, ConfigError
from tests.envs.tag.playing import play_steps, scripted_actions, scripted_players, start_matches

STRONG = scripted_players("strong", "medium")


def same(one: MatchStep, other: MatchStep, a: Any = slice(None), b: Any = slice(None)) -> bool:
    """Returns whether matches `a` of one step and `b` of the other are equal to the last bit."""
    pairs = [(one.over, other.over), (one.outcome, other.outcome)]
    pairs += [(one.metrics[k], other.metrics[k]) for k in one.metrics]
    for field in ("obs", "reward", "terminated", "truncated"):
        pairs += [(x, getattr(other, field)[role]) for role, x in getattr(one, field).items()]
    pairs += [(x, other.terms[t][role]) for t, by in one.terms.items() for role, x in by.items()]
    return all(np.array_equal(x[a], y[b]) for x, y in pairs)


@given(st.integers(0, 10**6), st.integers(0, 60))
@settings(max_examples=10)
def test_a_match_is_the_same_alone_and_in_a_batch_for_the_same_actions(seed: int, other: int):
    alone, many = start_matches(1, seed), TagMatches(5)
    many.reset(range(5), [other, other + 1, seed, other + 2, other + 3])
    rng = np.random.default_rng(seed)
    for _ in range(40):
        drawn = rng.integers(0, (3, 3, 2), (2, 5, 1, 3))
        actions = dict(zip(("seeker", "hider"), drawn, strict=True))
        one = alone.step({role: x[2:3] for role, x in actions.items()})
        assert same(one, many.step(actions), 0, 2)


def test_only_the_chosen_matches_are_stepped_and_they_step_as_in_a_full_batch():
    some, all_of = start_matches(6), start_matches(6)
    rng = np.random.default_rng(0)
    for _ in range(30):
        actions = scripted_actions(all_of, scripted_players(), rng)
        before = {role: x.copy() for role, x in some.obs.items()}
        part, whole = some.step(actions, [1, 4]), all_of.step(actions)
        assert same(part, whole, [1, 4], [1, 4])
        rest = [0, 2, 3, 5]
        assert all(np.array_equal(some.obs[role][rest], before[role][rest]) for role in before)
        assert not part.over[rest].any()
        assert (part.outcome[rest] == UNKNOWN_OUTCOME).all()


@settings(max_examples=10)
@given(st.integers(0, 10**6), st.integers(0, 150), st.integers(1, 3), st.integers(1, 3))
def test_loaded_matches_continue_exactly_as_the_saved_ones(
    seed: int, steps: int, seekers: int, hiders: int
):
    kinds = {"seekers": seekers, "hiders": hiders}
    one = start_matches(3, seed, **kinds)
    one.handicap("seeker", 1.2)
    one.set_weights("hider", {"time": 0.5})
    for _ in play_steps(one, STRONG, seed, steps):
        pass
    saved = one.state()
    first = [(s, one.state()) for s in play_steps(one, STRONG, seed + 1, 3)][-1]
    other = TagMatches(3, **kinds)
    other.load(saved)
    assert all(np.array_equal(x, saved[name]) for name, x in other.state().items())
    second = [(s, other.state()) for s in play_steps(other, STRONG, seed + 1, 3)][-1]
    assert same(first[0], second[0])
    assert all(np.array_equal(x, second[1][name]) for name, x in first[1].items())
    for matches in (one, other):
        matches.reset([1], [seed])
    assert all(np.array_equal(x, other.obs[role]) for role, x in one.obs.items())


def test_a_state_with_another_number_of_matches_is_rejected():
    with pytest.raises(CheckpointError, match=r"middle is \(2, 6, 2\), not \(3, 6, 2\)"):
        TagMatches(3).load(start_matches(2).state())


def test_a_match_ends_with_the_last_tag_or_at_the_time_limit_and_reports_which():
    matches = start_matches(60, time_limit=120)
    over = np.zeros(60, bool)
    for number, step in enumerate(play_steps(matches, STRONG), 1):
        distance = np.sqrt(
            ((matches.state()["position"][:, 0] - matches.state()["position"][:, 1]) ** 2).sum(-1)
        )
        touch = distance <= REACH
        assert np.array_equal(step.over, ~over & (touch | (number == 120)))
        wanted = np.where(step.over, np.where(touch, 0, 1), UNKNOWN_OUTCOME)
        assert np.array_equal(step.outcome, wanted)
        for role in ("seeker", "hider"):
            assert np.array_equal(step.terminated[role][:, 0], step.over)
            assert not step.truncated[role].any()
        assert (step.metrics["duration"][step.over] == number).all()
        over |= step.over
    assert over.all()
    assert 0 < (step.outcome == 0).sum() + (~step.over).sum() < 60
    assert list(matches.outcomes.items()) == [("tag", "seeker"), ("timeout", "hider")]


def test_a_finished_match_does_not_change():
    matches = start_matches(4, time_limit=5)
    steps = list(play_steps(matches, STRONG, steps=8))
    assert steps[4].over.all()
    before = matches.state()
    step = matches.step(scripted_actions(matches, STRONG, np.random.default_rng(0)))
    assert not step.over.any()
    assert not any(x.any() for x in (*step.reward.values(), *step.terminated.values()))
    assert all(np.array_equal(x, before[name]) for name, x in matches.state().items())


def test_match_metrics_agree_with_a_count_by_hand():
    matches = start_matches(30)
    total, seen, steps, reported = np.zeros(30), np.zeros(30), np.zeros(30), {}
    over = np.zeros(30, bool)
    for step in play_steps(matches, STRONG):
        at = matches.state()["position"]
        total += ~over * np.sqrt(((at[:, 0] - at[:, 1]) ** 2).sum(-1))
        caught = step.over & (step.outcome == 0)
        flag = step.obs["seeker"][:, 0, _place("seen")] > 0
        seen += ~over * (flag | caught)
        steps += ~over
        for i in np.flatnonzero(step.over):
            reported[i] = {name: x[i] for name, x in step.metrics.items()}
        over |= step.over
    for i, numbers in reported.items():
        if not matches.state()["tagged"][i].any():  # after a timeout no agent is left to be seen
            seen[i] = round(numbers["seen"] * steps[i])
        wanted = {"distance": total[i] / steps[i], "duration": steps[i], "seen": seen[i] / steps[i]}
        assert numbers == pytest.approx(wanted)


@pytest.mark.parametrize("kinds", [(1, 1), (2, 3)])
def test_terms_sum_to_the_reward_and_agents_out_of_play_get_none(kinds: tuple[int, int]):
    seekers, hiders = kinds
    extra = {"seeing": 0.1, "nearness": 0.2, "moving": 0.3}
    terms = {"seeker": extra, "hider": extra}
    matches = start_matches(40, seekers=seekers, hiders=hiders, terms=terms)
    playing = {"seeker": np.ones((40, seekers), bool), "hider": np.ones((40, hiders), bool)}
    ends = {role: np.zeros(x.shape, int) for role, x in playing.items()}
    for step in play_steps(matches, STRONG):
        for role, reward in step.reward.items():
            parts = sum(step.terms[term][role] for term in step.terms)
            assert np.allclose(reward, parts, atol=1e-12)
            assert not reward[~playing[role]].any()
            assert not step.terminated[role][~playing[role]].any()
            ends[role] += step.terminated[role]
            playing[role] &= ~step.terminated[role]
        assert not any(playing[role][step.over].any() for role in playing)
    assert all((times == 1).all() for times in ends.values())
    early = matches.state()["tagged"][:, seekers:].sum(1)
    if hiders > 1:
        assert (
            (early > 0) & (early < hiders)
        ).any()  # some hiders were out while others were still in play


def test_the_default_reward_is_exactly_zero_sum():
    matches = start_matches(40)
    for step in play_steps(matches, STRONG):
        assert np.array_equal(step.reward["seeker"], -step.reward["hider"])
        for by_role in step.terms.values():
            assert np.array_equal(by_role["seeker"], -by_role["hider"])


def test_goal_and_time_are_zero_sum_between_the_means_of_the_sides():
    for step in play_steps(start_matches(30, seekers=2, hiders=3), STRONG):
        for term in ("goal", "time"):
            seekers, hiders = (step.terms[term][role].mean(1) for role in ("seeker", "hider"))
            assert np.allclose(seekers, -hiders, atol=1e-12)


def test_no_default_term_can_be_farmed():
    """The term `time` sums to at most its weight, and the discounted sum of `closing` depends on
    the first distance only, whatever the agents did."""
    discount = 0.97
    for by in (STRONG, scripted_players(), scripted_players("weak", "strong")):
        matches = start_matches(30, discount=discount)
        at = matches.state()["position"]
        start = np.sqrt(((at[:, 0] - at[:, 1]) ** 2).sum(-1)) / DIAGONAL
        closing, time, goal = np.zeros(30), np.zeros(30), np.zeros(30)
        for number, step in enumerate(play_steps(matches, by)):
            closing += discount**number * step.terms["closing"]["seeker"][:, 0]
            time += step.terms["time"]["seeker"][:, 0]
            goal += step.terms["goal"]["seeker"][:, 0]
        assert np.allclose(closing, 0.2 * start)
        assert time.min() >= -0.2 - 1e-9
        assert np.array_equal(np.abs(goal), np.ones(30))


def test_terms_that_reward_a_state_outweigh_the_goal_and_are_off_by_default():
    matches = start_matches(20, terms={"seeker": {"nearness": 0.5}})
    total = sum(
        step.terms["nearness"]["seeker"].sum() for step in play_steps(matches, scripted_players())
    )
    assert total / 20 > 10
    default = start_matches(1).step(
        scripted_actions(start_matches(1), scripted_players(), np.random.default_rng(0))
    )
    assert list(default.terms) == ["goal", "time", "closing"]


def test_a_handicap_applies_from_the_next_match_on():
    def fastest(matches: TagMatches) -> float:
        ahead = np.tile([1, 2, 0], (8, 1, 1))
        speeds = [
            np.abs(step.obs["seeker"][..., _place("speed ahead")]).max()
            for step in (matches.step({"seeker": ahead, "hider": ahead}) for _ in range(12))
        ]
        return max(speeds)

    usual, slow = start_matches(8), start_matches(8, handicaps={"seeker": 0.5})
    assert fastest(slow) == pytest.approx(fastest(usual) / 2, rel=1e-5)
    slow.handicap("seeker", 1.0)
    assert (slow.state()["pace"][:, 0] == 0.5).all()
    slow.reset(range(8), range(8))
    usual.reset(range(8), range(8))
    assert fastest(slow) == fastest(usual)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"hiders": 0}, "hiders is 0"),
        ({"handicaps": {"seekr": 1.0}}, "no role 'seekr'"),
        ({"handicaps": {"seeker": 9.0}}, "handicap of the seeker is 9.0"),
        ({"terms": {"seeker": {"tiem": 1.0}}}, "no term 'tiem'; did you mean time"),
        ({"terms": {"finder": {"time": 1.0}}}, "no role 'finder'"),
    ],
)
def test_invalid_settings_are_rejected_by_name(settings: dict[str, Any], message: str):
    with pytest.raises(ConfigError, match=message):
        TagMatches(1, **settings)


def test_observations_stay_in_their_declared_ranges():
    matches = start_matches(50, seekers=2, hiders=2, handicaps={"seeker": 2.0})
    low, high = (np.array(x, np.float32) for x in (SPACE.low, SPACE.high))
    for step in play_steps(matches, STRONG):
        for obs in step.obs.values():
            assert obs.dtype == np.float32
            assert (obs >= low).all()
            assert (obs <= high).all()


def test_the_rendered_image_changes_with_the_match():
    matches = start_matches(2, hiders=2)
    first = matches.render(1)
    assert first.dtype == np.uint8
    assert first.ndim == 3
    assert first.shape[2] == 3
    assert np.array_equal(first, matches.render(1))
    assert not np.array_equal(first, matches.render(0))
    for _ in play_steps(matches, STRONG, steps=5):
        pass
    assert not np.array_equal(first, matches.render(1))


def _place(name: str) -> int:
    from gymnast.envs.matches.tag.sight import COMPONENT_INDEX

    return COMPONENT_INDEX[name]
