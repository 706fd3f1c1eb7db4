"""Episodes longer than a rollout are kept completely, with little memory beyond that."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gymnast.collect import running_episodes as module
from gymnast.collect.running_episodes import RunningEpisodes
from tests.collect.test_collecting import begun, collect, collector_of
from tests.scripted import Script, obs_of

N = 40


class Uneven(Script):
    """Episodes of 1 to 60 steps, by their seed."""

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[np.ndarray, dict]:
        obs, info = super().reset(seed=seed, options=options)
        self.length = self.steps_of(seed or 0)
        return obs, info

    @staticmethod
    def steps_of(seed: int) -> int:
        return 1 + seed % 60


def test_traces_of_episodes_over_many_rollouts_are_complete():
    collector, policy = begun(Uneven, n_envs=N)
    found = collect(collector, policy, [3, 1, 7, 2, 5, 3, 11, 4] * 3)
    traces = [trace for c in found for trace in c.traces]
    assert len(traces) > 100
    for trace in traces:
        expected = [obs_of(trace.seed, t) for t in range(Uneven.steps_of(trace.seed) + 1)]
        assert np.array_equal(trace.obs, expected)
    assert sum(len(c.rollouts["agent"].episodes) for c in found) == len(traces)


def test_the_state_contains_the_running_episodes_of_all_copies():
    collector, policy = begun(Uneven, n_envs=N)
    collect(collector, policy, [5, 3, 9, 4])
    again = collector_of(Uneven, n_envs=N)
    assert again.load(collector.state()) == {}
    for env in range(N):
        ours, theirs = collector.running.partial_episode(env), again.running.partial_episode(env)
        assert ours.keys() == theirs.keys()
        assert all(np.array_equal(ours[name], theirs[name]) for name in ours)
        assert len(ours.get("reward", ())) == collector.running.length[env]
    after, expected = (collect(c, policy, [30], done=4)[0] for c in (again, collector))
    assert [t.seed for t in after.traces] == [t.seed for t in expected.traces]
    for one, two in zip(after.traces, expected.traces, strict=True):
        assert np.array_equal(one.reward, two.reward)
        assert np.array_equal(one.value, two.value)


def test_episodes_that_cannot_be_replayed_are_not_stored():
    collector, policy = begun(Script)
    collect(collector, policy, [4])
    collector.envs.restore_mode = "none"
    state = collector.state()
    assert not [name for name in state if name.startswith("past.")]
    restarted = collector_of(Script).load(state)  # although this collector could replay
    assert list(restarted) == np.flatnonzero(collector.running.length).tolist()


def test_one_endless_episode_does_not_keep_the_steps_of_other_copies(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(module, "MAX_BYTES", 2**20)
    running, zeros = RunningEpisodes(100), np.zeros(100, dtype=np.int64)
    for k in range(60):
        running.length += 64
        running.length[np.arange(100) != 7] = k % 64  # the others ended in this rollout
        running.append_rollout({"reward": zeros + np.arange(64 * k, 64 * (k + 1))[:, None]}, 64)
        assert running.partial_episode(7)["reward"].tolist() == list(range(64 * (k + 1)))
        other = running.partial_episode(8).get("reward", np.zeros(0))
        assert other.tolist() == list(range(64 * (k + 1) - k % 64, 64 * (k + 1)))
    assert running._bytes < 2**21
    running.length[7] = 0
    running.append_rollout({"reward": np.zeros((64, 100))}, 64)
    assert len(running._past) == 1
    assert not running._before


def test_old_rollouts_are_freed_when_long_episodes_end():
    running = RunningEpisodes(2)
    for _ in range(500):
        running.length += 1
        running.append_rollout({"reward": np.zeros((1, 2))}, 1)
    assert len(running._past) == 500
    running.length[:] = (0, 3)
    running.append_rollout({"reward": np.zeros((1, 2))}, 1)
    assert len(running._past) == 3


def test_a_trace_does_not_keep_its_rollout_in_memory():
    collector, policy = begun(lambda: Script(length=2))
    (found,) = collect(collector, policy, [20])
    assert all(trace.reward.base is None and trace.dist.base is None for trace in found.traces)
