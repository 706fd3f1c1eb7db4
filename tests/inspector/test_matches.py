"""A stored match is inspected seat by seat, from its replay and from the stored policies."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from gymnast.collect.matchmaking import LEARNER, greedy_player, sampling_player, scripted_player
from gymnast.config.resolve import resolve
from gymnast.envs.matches.open import open_matches
from gymnast.envs.matches.tag.sight import NAMES
from gymnast.errors import EnvError, UsageError
from gymnast.inspector.frames import frames
from gymnast.inspector.inspection import inspect
from gymnast.inspector.open_episodes import OpenEpisodes
from gymnast.inspector.role_config import config_of_role
from gymnast.inspector.seat import OpenSeat
from gymnast.inspector.table import scale_of
from gymnast.inspector.what_if import what_if
from gymnast.policy.policy import Policy
from gymnast.runs.match_trace import MatchTrace
from gymnast.seeds import stream
from gymnast.selfplay.play import play_matches
from gymnast.selfplay.snapshots import Snapshots
from tests.inspector.match_runs import VERSION, coop_instead_of_tag, open_match, play, store_run
from tests.match_games import FOX, HEN, ROLES, SEATS, end_of, make_policies, scripted_fox


@pytest.fixture(autouse=True)
def coop(monkeypatch: pytest.MonkeyPatch) -> None:
    coop_instead_of_tag(monkeypatch)


@pytest.fixture(scope="module")
def policies() -> dict[str, Policy]:
    return make_policies()


def greedy_matches(policies: dict[str, Policy]) -> list[MatchTrace]:
    return play({role: greedy_player(policy) for role, policy in policies.items()})[0]


def test_every_seat_shows_what_its_agent_observed_did_and_got(
    runs_dir: Path, policies: dict[str, Policy]
):
    players = {role: greedy_player(policy) for role, policy in policies.items()}
    matches, game = play(players)
    run = store_run(runs_dir, matches, policies)
    for number, stored in enumerate(matches):
        match = open_match(run, number)
        assert match.replay.is_exact
        assert match.seats == {FOX: 2, HEN: 3}
        for role, place in SEATS:
            seat = match.seat(role, place)
            steps, terminated, truncated = end_of((role, place), stored.seed)
            recorded = [
                game.recorded_steps[stored.seed, t + 1, (role, place)] for t in range(steps)
            ]
            assert np.array_equal(seat.obs[:-1], [obs for obs, _ in recorded])
            assert np.array_equal(seat.trace.action, [action for _, action in recorded])
            assert np.array_equal(seat.trace.reward, stored.rewards[role][:steps, place])
            assert not stored.rewards[role][steps:, place].any()
            # An agent that is terminated and truncated in one step counts as terminated.
            ended = seat.trace.terminated, seat.trace.truncated
            assert ended == (terminated, truncated and not terminated)
        match.close()


def test_probabilities_and_values_are_those_of_the_role_s_policy(
    runs_dir: Path, policies: dict[str, Policy]
):
    run = store_run(runs_dir, greedy_matches(policies), policies)
    match = open_match(run)
    for role, place in SEATS:
        seat = match.seat(role, place)
        assert seat.policy_note == ""
        for t, obs in enumerate(seat.obs[: len(seat.trace)]):
            expected = policies[role].dist(np.asarray(obs)[None])[0]
            np.testing.assert_allclose(seat.trace.dist[t], expected, rtol=1e-4, atol=1e-5)
            value = policies[role].value(np.asarray(obs)[None])[0]
            assert seat.trace.value[t] == pytest.approx(value, rel=1e-4, abs=1e-5)


def test_sampled_actions_follow_from_the_stored_policy_and_the_noise_of_the_match(
    runs_dir: Path, policies: dict[str, Policy]
):
    matches, _ = play({role: sampling_player(policy) for role, policy in policies.items()})
    run = store_run(runs_dir, matches, policies, settings={"eval.deterministic": False})
    match = open_match(run, 2)
    for role, kind in ROLES.items():
        head = policies[role].head
        noise = head.noise(stream(matches[2].seed, "match noise", role), (64, kind.seats))
        for place in range(kind.seats):
            trace = match.seat(role, place).trace
            sampled = head.for_env(head.sample(trace.dist, noise[: len(trace), place]))
            np.testing.assert_allclose(trace.action.reshape(sampled.shape), sampled, atol=1e-5)
            assert match.seat(role, place).policy_note == ""


def test_actions_that_are_not_greedy_are_reported(runs_dir: Path, policies: dict[str, Policy]):
    matches = greedy_matches(policies)
    other = make_policies()
    for role, policy in other.items():
        policy.initialize(1, role)
    run = store_run(runs_dir, matches, other)
    seat = open_match(run).seat(HEN, 0)
    steps = len(seat.trace)
    assert f"{steps} of {steps} actions are not the most likely ones" in seat.policy_note
    assert "the first at step 0" in seat.policy_note


def test_past_selves_guests_and_scripted_players_have_the_policy_that_is_stored_of_them(
    runs_dir: Path, policies: dict[str, Policy]
):
    fox, hen = (greedy_player(policies[role]) for role in (FOX, HEN))
    scripts, _ = play(
        {FOX: scripted_player(lambda obs, uniform: scripted_fox(obs, uniform, uniform)), HEN: hen},
        {FOX: "scripted:rules", HEN: LEARNER},
    )
    past, _ = play({FOX: fox, HEN: hen}, {FOX: "step:64", HEN: "step:128"})
    guest, _ = play({FOX: fox, HEN: hen}, {FOX: LEARNER, HEN: "other:best"})
    person, _ = play({FOX: fox, HEN: hen}, {FOX: "person", HEN: "gone:best"})
    run = store_run(
        runs_dir,
        [scripts[0], past[0], guest[0], person[0]],
        {FOX: policies[FOX]},
        settings={"roles": {HEN: {"plays": ["random", "other:best"]}}},
    )
    Snapshots(run.path).write(64, {FOX: policies[FOX]})
    Snapshots(run.path).write("hen-1", {HEN: policies[HEN]})

    assert open_match(run).first_learner == HEN
    scripted = open_match(run).seat(FOX)
    assert scripted.policy is None
    assert "scripted:rules played the fox" in scripted.policy_note
    assert scripted.trace.dist.shape == (len(scripted.trace), 0)
    assert np.isnan(scripted.trace.value).all()
    expected = policies[FOX].arrays()
    found = open_match(run, 1).seat(FOX).policy
    assert found is not None
    assert all(np.array_equal(found.arrays()[name], array) for name, array in expected.items())
    assert "step:128 played the hen" in open_match(run, 1).seat(HEN).policy_note
    found = open_match(run, 2).seat(HEN).policy
    assert found is not None
    assert np.array_equal(found.parameters.flat, policies[HEN].parameters.flat)
    to_compare = open_match(run, 3).seat(FOX)
    assert to_compare.policy is not None
    assert "a person played" in to_compare.policy_note
    assert "gone:best played the hen" in open_match(run, 3).seat(HEN).policy_note


def test_a_policy_that_is_not_stored_leaves_observations_and_rewards(
    runs_dir: Path, policies: dict[str, Policy]
):
    run = store_run(runs_dir, greedy_matches(policies), policies)
    Snapshots(run.path).file(VERSION).unlink()
    seat = open_match(run).seat(FOX, 1)
    assert seat.policy is None
    assert "the policy after 2,048 env steps is not stored" in seat.policy_note
    assert len(seat.obs) == len(seat.trace) + 1


def test_a_replay_that_differs_ends_at_the_first_difference(
    runs_dir: Path, policies: dict[str, Policy]
):
    stored = max(greedy_matches(policies), key=len)
    at, total = 3, len(stored)
    rewards = {role: array.copy() for role, array in stored.rewards.items()}
    seed = stored.seed
    role, place = max(SEATS, key=lambda seat: end_of(seat, seed)[0])
    rewards[role][at, place] += 1e-9
    run = store_run(runs_dir, [replace(stored, rewards=rewards)], policies)
    match = open_match(run)
    assert match.replay.mismatch == at
    seat = match.seat(role, place)
    assert seat.replay.mismatch == at
    assert "differs from the recorded match, from step 4" in seat.replay.note
    assert len(seat.obs) == at + 1
    assert len(seat.trace) == total
    assert np.isfinite(seat.trace.value[:at]).all()
    assert np.isnan(seat.trace.value[at + 1 :]).all()
    for other, other_place in SEATS:
        if end_of((other, other_place), seed)[0] <= at:
            assert match.seat(other, other_place).replay.mismatch is None


def test_training_matches_say_that_several_versions_may_have_played(
    runs_dir: Path, policies: dict[str, Policy]
):
    run = store_run(runs_dir, greedy_matches(policies), policies, kind="train")
    note = open_match(run, kind="train").seat().policy_note
    assert "several versions of the policy" in note


@pytest.mark.parametrize(("role", "seat"), [("foks", 0), (FOX, 2), (HEN, -1)])
def test_unknown_roles_and_seats_are_refused(
    runs_dir: Path, policies: dict[str, Policy], role: str, seat: int
):
    run = store_run(runs_dir, greedy_matches(policies), policies)
    with pytest.raises(UsageError, match=r"no (role|seat)"):
        open_match(run).seat(role, seat)


def test_roles_have_the_names_of_the_environment_and_their_own_settings():
    own = {"facts.actions": [], "roles": {"hider": {"set": {"algo.gamma": 0.5}}}}
    cfg = resolve("tag", own).config
    matches = open_matches(cfg, 1)
    hider = config_of_role(cfg, "hider", matches)
    seeker = config_of_role(cfg, "seeker", matches)
    assert tuple(component.name for component in hider.facts.observations) == NAMES
    assert hider.facts.actions == resolve("tag").config.facts.actions
    assert (hider.algo.gamma, seeker.algo.gamma) == (0.5, cfg.algo.gamma)
    named = resolve("tag", {"facts.actions": ["a", "b", "c"]}).config
    assert config_of_role(named, "hider", matches).facts.actions == ("a", "b", "c")


def test_the_record_of_a_seat_lists_all_agents_and_names_the_one_that_is_shown(
    runs_dir: Path, policies: dict[str, Policy]
):
    stored = greedy_matches(policies)[1]
    run = store_run(runs_dir, [stored], policies)
    with closing(open_match(run)) as match:
        record = inspect(match.seat(HEN, 2))
    assert (record.address.role, record.address.seat) == (HEN, 2)
    assert record.roles == [FOX, HEN]
    assert [(seat.role, seat.seat) for seat in record.seats] == SEATS
    for seat in record.seats:
        steps, terminated, _ = end_of((seat.role, seat.seat), stored.seed)
        assert seat.length == steps
        assert seat.outcome == ("terminated" if terminated else "truncated")
        assert seat.raw_return == stored.rewards[seat.role][:, seat.seat].sum()
    assert len(record.table["reward_raw"]) == record.seats[4].length
    assert record.info.length == len(stored) >= record.seats[4].length


def test_pictures_of_every_seat_cover_the_whole_match(runs_dir: Path, policies: dict[str, Policy]):
    matches = greedy_matches(policies)
    run = store_run(runs_dir, matches, policies)
    for number, stored in enumerate(matches):
        with closing(open_match(run, number)) as match:
            found = [frames(seat, 0, 99, 1, 60)[0].count for seat in match.all_seats()]
        assert found == [len(stored) + 1] * len(SEATS)


def test_a_worker_opens_a_match_once_for_all_of_its_seats(
    runs_dir: Path, policies: dict[str, Policy]
):
    run = store_run(runs_dir, greedy_matches(policies), policies)
    opened = OpenEpisodes(maximum=1)
    address = open_match(run).address
    fox, hen = (opened.open(replace(address, role=role, seat=1)) for role in (FOX, HEN))
    assert isinstance(fox, OpenSeat)
    assert isinstance(hen, OpenSeat)
    assert fox.match is hen.match
    assert (fox.role, hen.role, hen.seat) == (FOX, HEN, 1)
    opened.close()


def test_an_environment_that_cannot_be_opened_leaves_actions_and_rewards(
    runs_dir: Path, policies: dict[str, Policy], monkeypatch: pytest.MonkeyPatch
):
    def fail(*_: object) -> None:
        raise EnvError("the coop is closed")

    stored = greedy_matches(policies)[0]
    run = store_run(runs_dir, [stored], policies)
    monkeypatch.setattr("gymnast.film.matches.replay.open_matches", fail)
    record = inspect(open_match(run).seat(FOX, 1))
    assert "the coop is closed" in record.replay.note
    assert "the coop is closed" in record.frames_note
    assert record.table["reward_raw"] == stored.rewards[FOX][:, 1].tolist()


def test_values_returns_and_advantages_of_every_seat_equal_a_recomputation(
    runs_dir: Path, policies: dict[str, Policy]
):
    settings = {"algo.gae_lambda": 0.7, "roles": {FOX: {"set": {"algo.gamma": 0.5}}}}
    run = store_run(runs_dir, greedy_matches(policies), policies, settings=settings)
    gamma = {FOX: 0.5, HEN: 0.995}
    truncations = 0
    for number in range(5):
        match = open_match(run, number)
        for role, place in SEATS:
            seat = match.seat(role, place)
            steps, terminated, _ = end_of((role, place), match.trace.seed)
            truncations += not terminated
            value = [float(policies[role].value(np.asarray(o)[None])[0]) for o in seat.replay.obs]
            value[steps] = 0.0 if terminated else value[steps]
            advantage, to_go = 0.0, 0.0
            for t in reversed(range(steps)):
                reward = float(match.trace.rewards[role][t, place])
                td_error = reward + gamma[role] * value[t + 1] - value[t]
                advantage = td_error + gamma[role] * 0.7 * advantage
                to_go += reward
                expected = {
                    "value_learned": value[t],
                    "value_raw": value[t],
                    "td_error_learned": td_error,
                    "advantage_learned": advantage,
                    "return_learned": advantage + value[t],
                    "return_to_go_raw": to_go,
                    "terminated": terminated and t == steps - 1,
                    "truncated": not terminated and t == steps - 1,
                }
                for name, due in expected.items():
                    assert seat.table[name][t] == pytest.approx(due, rel=1e-4, abs=1e-4), name
            assert all(len(column) == steps for column in seat.table.values())
    assert truncations  # both ends occurred


def test_what_if_asks_the_policy_of_the_seat_s_role(runs_dir: Path, policies: dict[str, Policy]):
    run = store_run(runs_dir, greedy_matches(policies), policies)
    for role in ROLES:
        seat = open_match(run, 3).seat(role, 1)
        answer = what_if(seat, step=1, changes={"obs/0": 2.5})
        changed = np.array(seat.replay.obs[1:2])
        changed[0, 0] = 2.5
        for decision, obs in ((answer.original, seat.replay.obs[1:2]), (answer.changed, changed)):
            assert decision.value == pytest.approx(float(policies[role].value(obs)[0]), rel=1e-5)
            if role == FOX:
                expected = policies[role].head.probabilities(policies[role].dist(obs))[0][0]
                assert decision.probabilities == pytest.approx(expected.tolist(), rel=1e-5)


def test_a_scripted_player_has_observations_but_no_decisions(
    runs_dir: Path, policies: dict[str, Policy]
):
    matches, _ = play(
        {FOX: scripted_fox, HEN: greedy_player(policies[HEN])},
        {FOX: "scripted:rules", HEN: LEARNER},
    )
    run = store_run(runs_dir, matches, {HEN: policies[HEN]})
    scripted, learner = (open_match(run).seat(role) for role in (FOX, HEN))
    assert np.array_equal(scripted.table["obs/1"], scripted.replay.obs[:-1, 1])
    assert {"reward_raw", "action"} <= set(scripted.table)
    decisions = {"greedy", "logprob", "entropy", "value_learned", "value_raw", "td_error_learned"}
    assert not decisions & set(scripted.table)
    assert decisions - {"greedy"} <= set(learner.table)
    assert len(inspect(scripted).moments) > 0


def test_columns_of_decisions_say_that_they_were_computed(
    runs_dir: Path, policies: dict[str, Policy]
):
    run = store_run(runs_dir, greedy_matches(policies), policies)
    docs = {column.name: column.doc for column in inspect(open_match(run).seat(FOX)).columns}
    computed = {name for name, doc in docs.items() if "from the replayed observations" in doc}
    assert {"greedy", "logprob", "value_learned", "p/1"} <= computed
    assert not {"action", "reward_raw", "obs/0", "terminated"} & computed


def test_the_outcome_scale_of_a_role_comes_from_its_returns_not_from_win_rates(
    runs_dir: Path, policies: dict[str, Policy]
):
    matches = greedy_matches(policies)
    run = store_run(runs_dir, matches, policies)
    seat = open_match(run).seat(HEN)
    returns = [match.rewards[HEN].sum(0).mean() for match in matches]
    assert seat.evaluation_returns() == pytest.approx(returns)
    scale = scale_of(seat)
    assert scale is not None
    assert (scale.low, scale.high) == pytest.approx(np.percentile(returns, [5, 95]).tolist())


def test_the_reward_terms_of_tag_sum_to_the_reward(runs_dir: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.undo()  # tag itself
    monkeypatch.setenv("GYMNAST_RUNS", str(runs_dir))
    cfg = resolve("tag", {"env.kwargs": {"time_limit": 30, "seekers": 2}}).config
    players = {"seeker": "medium", "hider": "weak"}
    with closing(open_matches(cfg, 1)) as matches:
        scripts = {
            role: scripted_player(matches.scripted[role][name]) for role, name in players.items()
        }
        cast = {role: f"scripted:{name}" for role, name in players.items()}
        (played,) = play_matches(matches, scripts, cast, [3], version=VERSION)
    run = store_run(runs_dir, [played.trace], {}, settings={"env.kwargs": cfg.env.kwargs})
    match = open_match(run)
    assert match.replay.is_exact
    for seat in match.all_seats():
        terms = {name: column for name, column in seat.table.items() if name.startswith("term/")}
        assert set(terms) == {"term/goal", "term/time", "term/closing"}
        np.testing.assert_allclose(sum(terms.values()), seat.table["reward_raw"], atol=1e-12)
        expected = played.term_rewards[seat.role]["closing"][: len(seat.trace), seat.seat]
        assert np.array_equal(terms["term/closing"], expected)
        assert {"obs/seen", "action/dash"} <= set(seat.table)
