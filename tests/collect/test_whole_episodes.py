"""Rollouts of whole episodes: every copy plays its quota, and every step is counted exactly once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gymnast.clock import Clock
from gymnast.config.section import RolloutLength
from gymnast.rl.returns import episode_return, reward_to_go
from gymnast.rollout import Rollout
from tests.collect.test_collecting import begun, collector_of, policy_for
from tests.scripted import Script, end_of, length_of, obs_of, reward_of, seed_from_obs

N = 3


def collected(spans: list[RolloutLength], **more: Any) -> list[Any]:
    collector, policy = begun(**more)
    return rollouts_of(collector, policy, spans)


def rollouts_of(
    collector: Any, policy: Any, spans: list[RolloutLength], done: int = 0
) -> list[Any]:
    found = []
    for k, span in enumerate(spans):
        clock = Clock(rollouts=done + k)
        found.append(collector.collect({"agent": policy}, span, clock))
    return found


def columns(rollout: Rollout, n: int) -> list[list[int]]:
    """Returns the seeds observed in the valid steps of a copy, one list per episode (divided by `start`)."""
    episodes: list[list[int]] = []
    for t in np.flatnonzero(rollout.valid[:, n]):
        if rollout.start[t, n]:
            episodes.append([])
        episodes[-1].append(seed_from_obs(rollout.obs[t, n]))
    return episodes


@settings(max_examples=15)
@given(quota=st.integers(1, 4), rollouts=st.integers(1, 3), seed=st.integers(0, 5))
def test_every_copy_plays_exactly_its_quota_of_whole_episodes(quota, rollouts, seed):
    for found in collected([RolloutLength(None, quota)] * rollouts, seed=seed):
        rollout = found.rollouts["agent"]
        assert found.steps == rollout.steps == sum(e.length for e in rollout.episodes)
        for n in range(N):
            episodes = columns(rollout, n)
            assert len(episodes) == quota
            for steps in episodes:
                assert len(set(steps)) == 1
                assert len(steps) == length_of(steps[0])
        assert len(rollout.episodes) == quota * N


def test_each_step_agrees_with_the_script_and_padding_is_not_valid():
    (found,) = collected([RolloutLength(None, 5)])
    rollout = found.rollouts["agent"]
    assert not rollout.valid.all()
    at = np.zeros(N, dtype=int)
    for t, n in np.ndindex(rollout.reward.shape):
        if not rollout.valid[t, n]:
            assert rollout.reward[t, n] == 0.0
            assert not rollout.done[t, n]
            continue
        at[n] = 1 if rollout.start[t, n] else at[n] + 1
        seed = seed_from_obs(rollout.obs[t, n])
        assert np.array_equal(rollout.obs[t, n], obs_of(seed, at[n] - 1))
        assert rollout.reward[t, n] == reward_of(seed, at[n])
        assert rollout.done[t, n] == (at[n] == length_of(seed))
        assert rollout.terminated[t, n] == (rollout.done[t, n] and end_of(seed) != "truncated")


def test_long_episodes_are_not_left_out():
    """Every copy plays its own seeds in order, so short episodes are not overrepresented."""
    found = collected([RolloutLength(None, 2)] * 6)
    first, second, third = [], [], []
    for n, seeds in enumerate((first, second, third)):
        for c in found:
            seeds += [e.seed for e in c.rollouts["agent"].episodes if e.env == n]
    plain, policy = begun()
    steps = plain.collect({"agent": policy}, RolloutLength(200), Clock()).rollouts["agent"]
    for n, seeds in enumerate((first, second, third)):
        assert seeds == [e.seed for e in steps.episodes if e.env == n][: len(seeds)]


def test_unfinished_episodes_continue_in_the_next_rollout():
    """A limit of steps per rollout does not change which episodes are learned from."""
    free = collected([RolloutLength(None, 4)])[0].rollouts["agent"]
    cut = collected([RolloutLength(3, 4)] * 12)
    for n in range(N):
        episodes = [e for c in cut for e in columns(c.rollouts["agent"], n)]
        expected = columns(free, n)
        assert episodes[: len(expected)] == expected
    for c in cut:
        rollout = c.rollouts["agent"]
        assert c.vec_steps <= 3
        assert all(
            len(steps) == length_of(steps[0]) for n in range(N) for steps in columns(rollout, n)
        )
        assert rollout.steps == sum(e.length for e in rollout.episodes)


def test_a_restored_collector_continues_unfinished_whole_episodes():
    spans = [RolloutLength(3, 2)] * 6
    whole, policy = begun()
    expected = rollouts_of(whole, policy, spans)
    first, policy = begun()
    rollouts_of(first, policy, spans[:2])
    state = first.state()
    second = collector_of()
    assert second.load(state) == {}
    again = rollouts_of(second, policy_for(second), spans[2:], done=2)
    for one, two in zip(expected[2:], again, strict=True):
        a, b = one.rollouts["agent"], two.rollouts["agent"]
        for name in ("obs", "action", "logprob", "reward", "value", "valid", "done", "start"):
            assert np.array_equal(getattr(a, name), getattr(b, name)), name
        assert a.episodes == b.episodes


def test_traces_contain_the_same_whole_episodes():
    (found,) = collected([RolloutLength(None, 3)])
    assert len(found.traces) == 3 * N
    for trace in found.traces:
        assert trace.reward.tolist() == [
            reward_of(trace.seed, t) for t in range(1, length_of(trace.seed) + 1)
        ]


@pytest.mark.parametrize("end", ["terminated", "truncated"])
def test_next_observations_are_the_true_successors_at_the_end_of_an_episode(end):
    collector, policy = begun(lambda: Script(4, end))
    rollout = collector.collect({"agent": policy}, RolloutLength(10), Clock()).rollouts["agent"]
    following = rollout.next_obs()
    for steps in (1, 3, len(following), 99):
        assert np.array_equal(rollout.newest_next_obs(steps), following[-steps:])
    for t, n in np.ndindex(rollout.reward.shape):
        seed = seed_from_obs(rollout.obs[t, n])
        assert np.array_equal(following[t, n], obs_of(seed, t % 4 + 1))


@given(data=st.data())
@settings(max_examples=40)
def test_an_episodes_return_is_the_discounted_sum_of_all_its_rewards(data):
    lengths = data.draw(st.lists(st.integers(1, 6), min_size=1, max_size=5))
    gamma = data.draw(st.sampled_from([0.0, 0.5, 0.99, 1.0]))
    rng = np.random.default_rng(sum(lengths))
    reward = rng.normal(size=(sum(lengths), 1))
    done = np.zeros_like(reward, dtype=bool)
    done[np.cumsum(lengths) - 1] = True
    found = episode_return(reward, done, gamma=gamma)
    to_go = reward_to_go(reward, done, gamma=gamma)
    first = 0
    for length in lengths:
        part = reward[first : first + length, 0]
        total = sum(gamma**k * r for k, r in enumerate(part))
        assert np.allclose(found[first : first + length, 0], total)
        assert np.isclose(to_go[first, 0], total)
        assert np.isclose(to_go[first + length - 1, 0], part[-1])
        first += length
