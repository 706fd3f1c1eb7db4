"""Rollouts of matches agree with a plain loop over the rules of a small game."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from gymnast.clock import Clock
from gymnast.collect.collector import CollectResult
from gymnast.collect.matches import MatchCollector
from gymnast.collect.matchmaking import LEARNER
from gymnast.config.section import RolloutLength
from gymnast.envs.backends.backend import Fault
from gymnast.errors import EnvError
from gymnast.rollout import Rollout
from gymnast.seeds import episode_seed, stream
from tests.match_games import (
    BREAKS_AT,
    FOX,
    HEN,
    OUTCOMES,
    ROLES,
    SEATS,
    Coop,
    RewardsInactive,
    ScriptedCasting,
    Seat,
    end_of,
    first_memory,
    has_fault,
    length_of,
    make_policies,
    next_memory,
    obs_of,
    outcome_of,
    random_hen,
    reward_of,
    scripted_fox,
)

N, SEED = 4, 3
LENGTHS = [5, 6, 7, 8]
Array = np.ndarray


def collector_of(matches: Coop, learners: tuple[str, ...] = (FOX, HEN), **more: Any):
    settings = {"should_trace": lambda _seed: True} | more
    collector = MatchCollector(matches, seed=SEED, learners=learners, **settings)
    collector.matchmaker = ScriptedCasting()
    return collector


def collect(
    collector: MatchCollector, policies: dict, lengths: list[int], done: int = 0, env_steps: int = 0
) -> list[CollectResult]:
    """Collects rollouts of these lengths one after the other, starting with rollout number `done`."""
    clock, found = Clock(rollouts=done, env_steps=env_steps), list[CollectResult]()
    for steps in lengths:
        found.append(collector.collect(policies, RolloutLength(steps), clock))
        clock.rollouts += 1
        clock.env_steps += found[-1].steps
    return found


# ---- the plain loop ----------------------------------------------------------------------------


@dataclass
class Place:
    """A slot in which one match is played after the other."""

    index: int
    number: int = -1
    seed: int = 0
    memory: int = 0
    t: int = 0
    cast: dict[str, str] = field(default_factory=dict)
    returns: dict[Seat, float] = field(default_factory=dict)

    def begin(self) -> None:
        self.number += 1
        self.seed = episode_seed(SEED, "episode", "match", self.index, self.number)
        self.memory, self.t = first_memory(self.seed), 0
        self.cast = ScriptedCasting().cast(self.index, self.number)
        self.returns = dict.fromkeys(SEATS, 0.0)

    def plays(self, seat: Seat) -> bool:
        return self.t < end_of(seat, self.seed)[0]

    def sees(self, seat: Seat) -> Array:
        return obs_of(seat, self.memory, self.t)


@dataclass
class Expected:
    """The expected step of one seat in the rollout of its role."""

    obs: Array
    action: Array
    dist: Array
    reward: float
    terminated: bool
    done: bool
    start: bool
    after: Array
    learned: bool


def played(policies: dict, lengths: list[int], *, faulty: bool = False):
    """Returns the steps of every seat, [rollout][t][(match, seat)], the ends of matches, and the episodes of
    their agents."""
    places = [Place(i) for i in range(N)]
    for place in places:
        place.begin()
    steps, ends, episodes = [], [], []
    for number, length in enumerate(lengths):
        noise, opponent_noise, uniform = {}, {}, {}
        for role, kind in ROLES.items():
            head, n = policies[role].head, N * kind.seats
            noise[role] = head.noise(stream(SEED, "action", role, number), (length, n))
            other = stream(SEED, "opponent", role, number)
            opponent_noise[role], uniform[role] = (
                head.noise(other, (length, n)),
                other.random((length, n)),
            )
        steps.append([])
        ends.append([])
        episodes.append([])
        for t in range(length):
            row: dict[tuple[int, Seat], Expected] = {}
            for place in places:
                actions = {}
                for seat in filter(place.plays, SEATS):
                    role, at = seat[0], place.index * ROLES[seat[0]].seats + seat[1]
                    obs, policy = place.sees(seat), policies[role]
                    dist = policy.dist(obs[None])
                    action = policy.head.sample(dist, noise[role][t, at : at + 1])
                    actions[seat] = policy.head.for_env(action)[0]
                    if place.cast[role] != LEARNER:
                        other = scripted_fox if role == FOX else random_hen
                        drawn = opponent_noise[role][t, at : at + 1], uniform[role][t, at : at + 1]
                        actions[seat] = other(obs[None], *drawn)[0]
                    opens, learned = place.t == 0, place.cast[role] == LEARNER
                    row[place.index, seat] = Expected(
                        obs, action[0], dist[0], 0.0, False, False, opens, obs, learned
                    )
                place.memory = next_memory(
                    place.memory, {s: float(np.ravel(a)[0]) for s, a in actions.items()}
                )
                place.t += 1
                broke = faulty and has_fault(place.seed) and place.t == BREAKS_AT
                for seat in actions:
                    step = row[place.index, seat]
                    step.reward = reward_of(seat, place.memory, place.t)
                    place.returns[seat] += step.reward
                    last, terminated, truncated = end_of(seat, place.seed)
                    step.done = place.t == last
                    step.terminated = step.done and terminated
                    step.after = place.sees(seat)
                    if step.done and not broke and step.learned:
                        cut = truncated and not terminated
                        summary = (place.returns[seat], place.t, place.index, place.seed, cut)
                        episodes[-1].append((seat, *summary))
                    if broke:
                        step.learned = False
                        for back in range(1, min(place.t - 1, t) + 1):
                            steps[-1][t - back][place.index, seat].learned = False
                if not broke and place.t == length_of(place.seed):
                    names = list(OUTCOMES)
                    index = outcome_of(place.seed)
                    ends[-1].append((place.seed, "" if index < 0 else names[index], place.t))
                if broke or place.t == length_of(place.seed):
                    place.begin()
            steps[-1].append(row)
    return steps, ends, episodes


def same(rollout: Rollout, role: str, expected: list[dict], policy: Any) -> int:
    """Asserts that every step of a role's rollout is as expected; returns the number of valid steps."""
    seats, learned = ROLES[role].seats, 0
    advantage, _ = rollout.advantages(0.9, 0.0)
    for t, row in enumerate(expected):
        for match in range(N):
            for place in range(seats):
                at, step = match * seats + place, row.get((match, (role, place)))
                assert rollout.valid[t, at] == (step is not None and step.learned)
                if step is None or not step.learned:
                    continue
                learned += 1
                assert np.array_equal(rollout.obs[t, at], step.obs)
                np.testing.assert_allclose(rollout.dist[t, at], step.dist, atol=1e-6)
                np.testing.assert_allclose(rollout.action[t, at], step.action, atol=1e-6)
                logprob = policy.head.logprob(step.dist[None], rollout.action[t, at][None])[0]
                assert rollout.logprob[t, at] == pytest.approx(logprob, abs=1e-5)
                assert rollout.reward[t, at] == pytest.approx(step.reward)
                ends = (rollout.terminated[t, at], rollout.done[t, at], rollout.start[t, at])
                assert ends == (step.terminated, step.done, step.start)
                value = policy.value(np.stack([step.obs, step.after]))
                assert rollout.value[t, at] == pytest.approx(value[0], abs=1e-5)
                if not step.terminated:
                    assert rollout.next_value[t, at] == pytest.approx(value[1], abs=1e-5)
                follows = 0.0 if step.terminated else 0.9 * value[1]
                assert advantage[t, at] == pytest.approx(step.reward + follows - value[0], abs=1e-4)
    return learned


@pytest.mark.parametrize("faulty", [False, True])
def test_every_step_of_every_agent_agrees_with_the_rules_of_the_game(faulty: bool):
    policies, lengths = make_policies(), [11, 1, 30, 17]
    collector = collector_of(RewardsInactive(N, faulty=faulty), max_faults=99)
    collector.start_episodes()
    found = collect(collector, policies, lengths)
    steps, ends, episodes = played(policies, lengths, faulty=faulty)
    assert any(has_fault(end[0]) for rollout in ends for end in rollout) != faulty
    for collected, rows, over, parts in zip(found, steps, ends, episodes, strict=True):
        assert collected.steps == N * len(rows)
        assert collected.episodes == len(over)
        for role in ROLES:
            rollout = collected.rollouts[role]
            assert same(rollout, role, rows, policies[role]) > 0
            mine = [part for part in parts if part[0][0] == role]
            assert [(e.env, e.length, e.seed, e.truncated) for e in rollout.episodes] == [
                (match * ROLES[role].seats + seat[1], length, seed, cut)
                for seat, _, length, match, seed, cut in mine
            ]
            returns = [e.raw_return for e in rollout.episodes]
            assert returns == pytest.approx([part[1] for part in mine])
        traces = [(trace.seed, trace.outcome, len(trace)) for trace in collected.match_traces]
        assert traces == over
        assert [(end.outcome, end.length) for end in collected.match_ends] == [
            end[1:] for end in over
        ]
        assert bool(collected.faults) <= faulty
    assert faulty == any(collected.faults for collected in found)
    assert sum(len(over) for over in ends) > 10


def test_valid_steps_pair_each_action_with_the_observation_of_the_same_agent():
    game, policies = Coop(N), make_policies()
    collector = collector_of(game)
    collector.start_episodes()
    for collected in collect(collector, policies, [40]):
        for role, rollout in collected.rollouts.items():
            pairs = {
                (obs.tobytes(), np.asarray(action).tobytes())
                for (_, _, seat), (obs, action) in game.recorded_steps.items()
                if seat[0] == role
            }
            actions = policies[role].head.for_env(rollout.action)
            for t, at in zip(*rollout.valid.nonzero(), strict=True):
                assert (rollout.obs[t, at].tobytes(), actions[t, at].tobytes()) in pairs


def test_a_trace_contains_the_actions_and_rewards_of_the_whole_match():
    game = RewardsInactive(N)
    collector = collector_of(game)
    collector.start_episodes()
    longest = 0
    for collected in collect(collector, make_policies(), [7, 7, 7, 7]):
        for trace in collected.match_traces:
            longest = max(longest, len(trace))
            for role, seat in SEATS:
                for t in range(1, end_of((role, seat), trace.seed)[0] + 1):
                    _, action = game.recorded_steps[trace.seed, t, (role, seat)]
                    assert np.array_equal(trace.actions[role][t - 1, seat], action)
                rewards = trace.rewards[role][end_of((role, seat), trace.seed)[0] :, seat]
                assert not rewards.any()
    assert longest > 7  # a match that started in an earlier rollout


def test_roles_that_do_not_learn_have_no_rollout_but_play():
    class Given(ScriptedCasting):
        def cast(self, match: int, number: int) -> dict[str, str]:
            return {FOX: LEARNER, HEN: "luck"}

    collector = collector_of(Coop(N), (FOX,))
    collector.matchmaker = Given()
    collector.start_episodes()
    assert collector.spaces.keys() == {FOX}
    (collected,) = collect(collector, make_policies(roles=[FOX]), [20])
    assert collected.rollouts.keys() == {FOX}
    assert collected.match_ends
    assert {end.cast[HEN] for end in collected.match_ends} == {"luck"}


def test_episodes_counts_matches_and_not_agents():
    collector = collector_of(Coop(N))
    collector.start_episodes()
    first, rest = collect(collector, make_policies(), [2, 3])
    parts = sum(len(rollout.episodes) for rollout in first.rollouts.values())
    assert parts > 0  # some agents finished early
    assert (first.episodes, len(first.match_ends)) == (0, 0)
    assert rest.episodes == len(rest.match_ends)


@pytest.mark.parametrize("restore", ["state", "replay"])
def test_a_restored_collector_continues_running_matches_exactly(restore):
    policies = make_policies()
    whole = collector_of(Coop(N, restore, faulty=True), max_faults=99)
    whole.start_episodes()
    expected = collect(whole, policies, LENGTHS)
    for done in (1, 2, 3):
        first = collector_of(Coop(N, restore, faulty=True), max_faults=99)
        first.start_episodes()
        collect(first, policies, LENGTHS[:done])
        saved = {name: array.copy() for name, array in first.state().items()}
        second = collector_of(Coop(N, restore, faulty=True), max_faults=99)
        assert second.load(saved) == {}
        again = second.state()
        assert again.keys() == saved.keys()
        for name, array in saved.items():
            if not name.endswith("/obs"):
                assert np.array_equal(again[name], array), name
        found = collect(second, policies, LENGTHS[done:], done, N * sum(LENGTHS[:done]))
        for one, other in zip(found, expected[done:], strict=True):
            same_collected(one, other)
    last = (second.state(), whole.state())
    for name in last[1]:
        if not name.endswith("/obs"):  # the observations of agents out of play are undefined
            assert np.array_equal(last[0][name], last[1][name]), name


def same_collected(one: CollectResult, other: CollectResult) -> None:
    assert one.match_ends == other.match_ends
    assert one.rollouts.keys() == other.rollouts.keys()
    for role, rollout in one.rollouts.items():
        arrays, others = rollout.arrays(), other.rollouts[role].arrays()
        keep = rollout.valid
        assert np.array_equal(keep, other.rollouts[role].valid)
        for name in ("obs", "action", "dist", "logprob", "value", "next_value", "reward"):
            assert np.array_equal(arrays[name][keep], others[name][keep]), name
        for name in ("terminated", "done", "start"):
            assert np.array_equal(arrays[name], others[name]), name
        assert rollout.episodes == other.rollouts[role].episodes
    for trace, twin in zip(one.match_traces, other.match_traces, strict=True):
        assert (trace.seed, trace.cast, trace.version) == (twin.seed, twin.cast, twin.version)
        for role in ROLES:
            assert np.array_equal(trace.actions[role], twin.actions[role])
            assert np.array_equal(trace.rewards[role], twin.rewards[role])


def test_a_match_that_replays_differently_is_restarted_and_reported():
    policies = make_policies()
    first = collector_of(Coop(N, "replay"))
    first.start_episodes()
    collect(first, policies, [5])
    saved = first.state()
    running = np.flatnonzero(saved["length"] > 1)
    for role, kind in ROLES.items():
        alive = saved[f"{role}/playing"].reshape(N, kind.seats)
        saved[f"{role}/obs"][running[0]][alive[running[0]]] += 1
    second = collector_of(Coop(N, "replay"))
    assert list(second.load(saved)) == [running[0]]
    assert second.running.length[running[0]] == 0
    assert second.running.number[running[0]] == saved["number"][running[0]] + 1
    (collected,) = collect(second, policies, [3], 1)
    columns = second.columns(FOX, [int(running[0])])
    assert collected.rollouts[FOX].start[0, columns].all()


def test_matches_that_cannot_be_restored_are_restarted():
    first = collector_of(Coop(N, "none"))
    first.start_episodes()
    collect(first, make_policies(), [5])
    second = collector_of(Coop(N, "none"))
    assert not second.env.resumes_exactly
    assert list(second.load(first.state())) == list(range(N))


def test_repeated_faults_of_a_match_end_the_rollout():
    class Rotten(Coop):
        def reset(self, matches, seeds):
            return super().reset(matches, [7 * seed for seed in seeds])

    collector = collector_of(Rotten(N, faulty=True), max_faults=2)
    collector.start_episodes()
    (collected,) = collect(collector, make_policies(), [20])
    assert collected.fatal_fault is not None
    assert collected.vec_steps == 2 * BREAKS_AT
    assert not any(rollout.valid.any() for rollout in collected.rollouts.values())
    assert len(collected.faults) == 2 * N


def test_matches_whose_first_reset_fails_raise_the_reason():
    class Stillborn(Coop):
        def reset(self, matches, seeds):
            super().reset(matches, seeds)
            return tuple(Fault(match, 0, "no hens") for match in matches)

    with pytest.raises(EnvError, match="no hens"):
        collector_of(Stillborn(N)).start_episodes()
