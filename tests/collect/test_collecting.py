"""Rollouts agree with the scripted environments, whose every step is known in advance."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from gymnast.clock import Clock
from gymnast.collect.collector import CollectResult
from gymnast.collect.vector import VectorCollector
from gymnast.config.section import RolloutLength
from gymnast.config.sections.normalize import NormalizeConfig
from gymnast.config.sections.policy import PolicyConfig
from gymnast.envs.backends.inprocess import InProcessBackend
from gymnast.policy.policy import Policy
from tests.scripted import (
    ENDS,
    Forgetful,
    Script,
    end_of,
    length_of,
    obs_of,
    reward_of,
    seed_from_obs,
)

N = 3


def collector_of(
    make: Callable[[], gym.Env] = Script, *, seed: int = 0, n_envs: int = N, **more: Any
) -> VectorCollector:
    return collector_on(InProcessBackend(make, n_envs, "Scripted-v0"), seed=seed, **more)


def collector_on(envs: InProcessBackend, *, seed: int = 0, **more: Any) -> VectorCollector:
    settings = {"metric_keys": {}, "should_trace": lambda _seed: True, "keep_obs": True} | more
    return VectorCollector(envs, seed=seed, **settings)


def policy_for(collector: VectorCollector) -> Policy:
    obs, action = collector.spaces["agent"]
    policy = Policy(obs, action, PolicyConfig(hidden=(16,)), NormalizeConfig())
    policy.initialize(0, "agent")
    policy.parameters.flat *= 3  # so that values and probabilities differ between states
    return policy


def collect(collector: VectorCollector, policy: Policy, lengths: list[int], done: int = 0):
    """Collects rollouts of these lengths one after the other, starting with rollout number `done`."""
    clock = Clock(rollouts=done)
    found = []
    for n_steps in lengths:
        found.append(collector.collect({"agent": policy}, RolloutLength(n_steps), clock))
        clock.rollouts += 1
        clock.env_steps += n_steps * collector.envs.n_envs
    return found


def begun(make: Callable[[], gym.Env] = Script, **more: Any) -> tuple[VectorCollector, Policy]:
    collector = collector_of(make, **more)
    collector.start_episodes()
    return collector, policy_for(collector)


def expected_steps(obs: np.ndarray, start: np.ndarray, *, length=None, end=None) -> list[dict]:
    """Returns the steps of one copy according to the script, given the seeds in its observations."""
    steps = []
    for t in range(len(obs)):
        seed = seed_from_obs(obs[t])
        at = 1 if start[t] else steps[-1]["at"] + 1 if steps else None
        assert at is not None, "the first rollout starts with an episode"
        over = at == (length or length_of(seed))
        how = (end or end_of(seed)) if over else ""
        steps.append({"seed": seed, "at": at, "over": over, "how": how})
    return steps


@pytest.mark.parametrize(
    ("length", "end"), [(None, None), (4, "truncated"), (4, "both"), (1, "terminated")]
)
def test_every_step_agrees_with_the_script(length, end):
    collector, policy = begun(lambda: Script(length, end))
    (found,) = collect(collector, policy, [40])
    rollout = found.rollouts["agent"]
    for n in range(N):
        steps = expected_steps(rollout.obs[:, n], rollout.start[:, n], length=length, end=end)
        for t, step in enumerate(steps):
            seed, at = step["seed"], step["at"]
            assert np.array_equal(rollout.obs[t, n], obs_of(seed, at - 1))
            assert rollout.reward[t, n] == reward_of(seed, at)
            assert rollout.done[t, n] == step["over"]
            assert rollout.terminated[t, n] == (step["over"] and step["how"] != "truncated")
            if t:
                assert rollout.start[t, n] == steps[t - 1]["over"]
    assert rollout.valid.all()
    assert rollout.steps == 40 * N


@pytest.mark.parametrize("end", ENDS)
def test_the_next_value_is_that_of_the_final_observation_and_not_of_the_reset(end):
    collector, policy = begun(lambda: Script(5, end))
    (found,) = collect(collector, policy, [23])
    rollout = found.rollouts["agent"]
    advantage, _ = rollout.advantages(0.9, 0.0)
    for t, n in np.ndindex(rollout.reward.shape):
        seed, at = seed_from_obs(rollout.obs[t, n]), t % 5 + 1
        reached = float(policy.value(obs_of(seed, at)[None])[0])
        value = float(policy.value(obs_of(seed, at - 1)[None])[0])
        ended = at == 5 and end != "truncated"
        expected = reward_of(seed, at) + (0.0 if ended else 0.9 * reached) - value
        if not ended:
            assert rollout.next_value[t, n] == pytest.approx(reached, abs=1e-6)
        assert advantage[t, n] == pytest.approx(expected, abs=1e-5)


def test_the_next_rollout_starts_at_the_last_observation():
    collector, policy = begun()
    first, second = (c.rollouts["agent"] for c in collect(collector, policy, [7, 5]))
    assert np.array_equal(first.last_obs, second.obs[0])
    assert np.array_equal(second.start[0], first.done[-1])
    running = ~first.done[-1]
    reached = first.next_value[-1][running]
    assert np.allclose(reached, second.value[0][running], atol=1e-6)


def test_stored_distributions_values_and_logprobs_are_those_of_the_policy():
    for box in (False, True):
        collector, policy = begun(lambda box=box: Script(box=box))
        rollout = collect(collector, policy, [12])[0].rollouts["agent"]
        flat = rollout.obs.reshape(-1, 3)
        assert np.allclose(rollout.dist.reshape(12 * N, -1), policy.dist(flat), atol=1e-6)
        assert np.allclose(rollout.value.ravel(), policy.value(flat), atol=1e-6)
        expected = policy.head.logprob(rollout.dist, rollout.action)
        assert np.allclose(rollout.logprob, expected, atol=1e-6)


def test_raw_returns_are_sums_of_rewards_across_rollouts():
    collector, policy = begun()
    found = collect(collector, policy, [3, 1, 10, 2, 24])
    episodes = [e for c in found for e in c.rollouts["agent"].episodes]
    assert len(episodes) > 15
    for episode in episodes:
        length = length_of(episode.seed)
        assert episode.length == length
        expected = math.fsum(reward_of(episode.seed, t) for t in range(1, length + 1))
        assert episode.raw_return == expected
        assert episode.truncated == (end_of(episode.seed) == "truncated")


def test_every_step_belongs_to_exactly_one_episode():
    collector, policy = begun()
    found = collect(collector, policy, [9, 9, 9])
    finished = sum(e.length for c in found for e in c.rollouts["agent"].episodes)
    assert finished + int(collector.running.length.sum()) == 27 * N


def test_traces_agree_with_the_script_and_the_policy():
    collector, policy = begun()
    found = collect(collector, policy, [3, 1, 10, 2, 24])
    traces = [t for c in found for t in c.traces]
    episodes = [e for c in found for e in c.rollouts["agent"].episodes]
    assert [t.seed for t in traces] == [e.seed for e in episodes]
    for trace, episode in zip(traces, episodes, strict=True):
        length = length_of(trace.seed)
        expected = [reward_of(trace.seed, t) for t in range(1, length + 1)]
        assert trace.reward.tolist() == expected
        assert trace.raw_return == math.fsum(expected) == episode.raw_return
        shown = np.array([obs_of(trace.seed, t) for t in range(length + 1)])
        assert np.array_equal(trace.obs, shown)
        assert np.allclose(trace.dist, policy.dist(shown[:-1]), atol=1e-6)
        assert np.allclose(trace.value, policy.value(shown[:-1]), atol=1e-6)
        assert trace.terminated == (end_of(trace.seed) != "truncated")
        assert trace.truncated != trace.terminated
        assert trace.env == episode.env


def test_a_trace_contains_actions_in_the_format_of_the_environment():
    collector, policy = begun(lambda: Script(length=4, end="terminated", box=True))
    (found,) = collect(collector, policy, [8])
    rollout = found.rollouts["agent"]
    env_action = policy.head.for_env(rollout.action)
    assert (np.abs(env_action) <= 2).all()
    for trace in found.traces:
        first = next(t for t in range(8) if seed_from_obs(rollout.obs[t, trace.env]) == trace.seed)
        assert np.array_equal(trace.action, env_action[first : first + 4, trace.env])


def test_only_chosen_episodes_are_traced_and_observations_only_with_keep_obs():
    collector, policy = begun(should_trace=lambda seed: seed % 2 == 0, keep_obs=False)
    (found,) = collect(collector, policy, [60])
    assert found.traces
    assert all(t.seed % 2 == 0 and t.obs is None for t in found.traces)
    even = [e for e in found.rollouts["agent"].episodes if e.seed % 2 == 0]
    assert len(found.traces) == len(even)


def test_metrics_of_a_preset_are_read_from_the_last_info():
    collector, policy = begun(metric_keys={"env/steps": "steps", "env/absent": "nowhere"})
    (found,) = collect(collector, policy, [20])
    for episode in found.rollouts["agent"].episodes:
        assert episode.numbers == {"env/steps": float(episode.length)}


def test_seeds_differ_between_copies_episodes_and_roots_and_are_reproducible():
    def seeds(root: int) -> list[int]:
        collector, policy = begun(lambda: Script(1, "terminated"), seed=root)
        (found,) = collect(collector, policy, [50])
        return [e.seed for e in found.rollouts["agent"].episodes]

    assert len(set(seeds(0))) == 50 * N
    assert seeds(0) == seeds(0)
    assert not set(seeds(0)) & set(seeds(1))


def test_episodes_do_not_depend_on_the_rollout_length():
    whole = _episodes(collect(*begun(), [30]))
    parts = _episodes(collect(*begun(), [7, 1, 12, 10]))
    assert whole == parts


ENVS: dict[str, Callable[[], gym.Env]] = {
    "script": Script,
    "script, an episode ends with each rollout": lambda: Script(8, "truncated"),
    "CartPole": lambda: gym.make("CartPole-v1"),
    "Taxi": lambda: gym.make("Taxi-v4"),
    "Pendulum": lambda: gym.make("Pendulum-v1"),
    "LunarLander": lambda: gym.make("LunarLander-v3"),
}


@pytest.mark.parametrize("make", ENVS.values(), ids=ENVS)
def test_a_restored_collector_continues_bit_for_bit(make):
    collector, policy = begun(make)
    collect(collector, policy, [8, 8])
    state = {name: array.copy() for name, array in collector.state().items()}
    expected = collect(collector, policy, [40, 16], done=2)

    again = collector_of(make)
    assert again.load(state) == {}
    found = collect(again, policy, [40, 16], done=2)
    for before, after in zip(expected, found, strict=True):
        _same(before, after)


def test_a_saved_state_does_not_change_while_collecting_continues():
    collector, policy = begun()
    collect(collector, policy, [5])
    state = collector.state()
    before = {name: array.copy() for name, array in state.items()}
    collect(collector, policy, [9])
    assert all(np.array_equal(before[name], array) for name, array in state.items())


@pytest.mark.parametrize("declared", [True, False], ids=["declared", "found out"])
def test_episodes_that_cannot_be_replayed_are_restarted_and_reported(declared: bool):
    collector, policy = begun(lambda: Forgetful(length=50))
    collect(collector, policy, [8])
    again = collector_of(lambda: Forgetful(length=50))
    if declared:
        again.envs.restore_mode = "none"
    number = collector.running.number.copy()
    assert list(again.load(collector.state())) == list(range(N))
    assert again.start.all()
    assert (again.running.length == 0).all()
    assert (again.running.number == number + 1).all()
    (found,) = collect(again, policy, [50], done=1)
    assert [e.length for e in found.rollouts["agent"].episodes] == [50] * N
    assert all(len(t.reward) == 50 for t in found.traces)


def _episodes(collected: list[CollectResult]) -> list[tuple]:
    every = [e for c in collected for e in c.rollouts["agent"].episodes]
    return [(e.env, e.seed, e.length, e.raw_return) for e in every]


def _same(a: CollectResult, b: CollectResult) -> None:
    for name, column in vars(a.rollouts["agent"]).items():
        other = getattr(b.rollouts["agent"], name)
        if isinstance(column, np.ndarray) or name == "final_at":
            assert np.array_equal(column, other), name
        else:
            assert column == other, name
    assert len(a.traces) == len(b.traces)
    for one, two in zip(a.traces, b.traces, strict=True):
        for name, column in vars(one).items():
            assert np.array_equal(column, getattr(two, name)), name
