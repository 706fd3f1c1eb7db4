"""A fault in an environment drops the current episode of that copy, and nothing else."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gymnast.clock import Clock
from gymnast.collect.collector import CollectResult
from gymnast.collect.vector import VectorCollector
from gymnast.config.section import RolloutLength
from gymnast.envs.backends.backend import Fault
from gymnast.envs.backends.inprocess import InProcessBackend
from gymnast.errors import EnvError
from gymnast.seeds import episode_seed
from tests.collect.test_collecting import collector_of, collector_on, policy_for
from tests.scripted import Broken, Script, seed_from_obs

BAD = episode_seed(0, "episode", "agent", 1, 2)
"""The third episode of copy 1."""


class Short(Broken):
    """Episodes of 6 steps; the one with seed BAD breaks at its step 4."""

    def __init__(self, how: str = "raises", only: int = BAD, at: int = 4) -> None:
        super().__init__(how, at=at, only=only)
        self.length, self.end = 6, "terminated"


class Hopeless(Script):
    """Raises in every reset after the first episodes."""

    def reset(self, *, seed: int | None = None, options: Any = None):
        if seed == BAD or getattr(Hopeless, "gone", False):
            Hopeless.gone = True
            raise RuntimeError("no more")
        return super().reset(seed=seed, options=options)


def played(make: Any, span: RolloutLength, **more: Any) -> tuple[VectorCollector, CollectResult]:
    collector = collector_of(make, **more)
    collector.start_episodes()
    return collector, collector.collect({"agent": policy_for(collector)}, span, Clock())


HOWS = ["raises", "nan obs", "nan reward", "shape", "list", "text reward"]


@pytest.mark.parametrize("how", HOWS)
def test_the_broken_episode_is_dropped_and_the_copy_starts_another(how: str):
    _, found = played(lambda: Short(how), RolloutLength(40))
    rollout = found.rollouts["agent"]
    (fault,) = found.faults
    assert (fault.copy, fault.step) == (1, 4)
    assert found.fatal_fault is None
    assert BAD not in {e.seed for e in rollout.episodes}
    assert BAD not in {t.seed for t in found.traces}
    broken = [t for t in range(40) if seed_from_obs(rollout.obs[t, 1]) == BAD]
    assert broken == [12, 13, 14, 15]
    assert not rollout.valid[broken, 1].any()
    assert rollout.valid.sum() == 3 * 40 - 4
    assert rollout.start[16, 1]
    assert np.isfinite(rollout.obs).all()
    assert np.isfinite(rollout.reward).all()
    assert found.steps == 120  # env steps are counted whether or not they are valid


def test_a_fault_does_not_affect_other_copies():
    _, found = played(Short, RolloutLength(40))
    _, fine = played(lambda: Short(only=-1), RolloutLength(40))
    a, b = found.rollouts["agent"], fine.rollouts["agent"]
    for name in ("obs", "reward", "done", "terminated", "valid", "start"):
        others = [0, 2]
        assert np.array_equal(getattr(a, name)[:, others], getattr(b, name)[:, others]), name


def test_advantages_do_not_cross_a_dropped_episode():
    _, found = played(Short, RolloutLength(40))
    rollout = found.rollouts["agent"]
    advantage, _ = rollout.advantages(0.9, 0.9)
    keep = np.r_[0:12]
    _, fine = played(Short, RolloutLength(12))
    alone, _ = fine.rollouts["agent"].advantages(0.9, 0.9)
    assert np.allclose(advantage[keep, 1], alone[:, 1])


def test_rollouts_of_whole_episodes_replace_a_dropped_episode():
    _, found = played(Short, RolloutLength(None, 4))
    rollout = found.rollouts["agent"]
    assert len(found.faults) == 1
    assert [e.env for e in rollout.episodes].count(1) == 4
    assert BAD not in {e.seed for e in rollout.episodes}
    assert rollout.valid.sum() == 3 * 4 * 6


def test_repeated_faults_of_a_copy_end_the_rollout():
    _, found = played(lambda: Short(only=0, at=9), RolloutLength(40))
    assert not found.faults

    class Always(Short):
        def _now(self) -> bool:
            return self.t == 2 and seed_in_copy_1(self.seed)

    _, found = played(Always, RolloutLength(40), max_faults=3)
    assert [fault.copy for fault in found.faults] == [1, 1, 1]
    assert found.fatal_fault is found.faults[-1]
    assert found.vec_steps == 6
    assert found.rollouts["agent"].valid[:, [0, 2]].all()
    assert not found.rollouts["agent"].valid[:, 1].any()


def seed_in_copy_1(seed: int) -> bool:
    return seed in {episode_seed(0, "episode", "agent", 1, k) for k in range(100)}


def test_occasional_faults_never_end_the_run():
    class Often(Short):
        def _now(self) -> bool:
            return self.t == 2 and self.seed % 2 == 0

    _, found = played(Often, RolloutLength(400), max_faults=12)
    assert len(found.faults) > 60
    assert found.fatal_fault is None


def test_one_fault_ends_the_rollout_with_on_fault_stop():
    _, found = played(Short, RolloutLength(40), on_fault="stop")
    assert found.fatal_fault is not None
    assert found.vec_steps == 16


def test_a_failed_reset_is_retried_with_the_next_seed_until_the_limit():
    Hopeless.gone = False
    _, found = played(lambda: Hopeless(length=6, end="terminated"), RolloutLength(40), max_faults=4)
    assert found.fatal_fault is not None
    assert found.fatal_fault.step == 0
    assert "RuntimeError: no more" in found.fatal_fault.message
    assert (
        "def reset" in found.fatal_fault.traceback
        or "raise RuntimeError" in found.fatal_fault.traceback
    )


def test_a_copy_whose_first_reset_fails_is_an_error():
    Hopeless.gone = True
    collector = collector_of(lambda: Hopeless(length=6))
    with pytest.raises(EnvError, match=r"copy 0, step 0.*RuntimeError: no more"):
        collector.start_episodes()


def test_a_state_saved_after_a_fault_can_be_restored():
    collector, _ = played(Short, RolloutLength(14))
    policy = policy_for(collector)
    collector.collect(
        {"agent": policy}, RolloutLength(5), Clock(rollouts=1)
    )  # breaks in its second step
    state = collector.state()
    expected = collector.collect({"agent": policy}, RolloutLength(20), Clock(rollouts=2))
    again = collector_of(Short)
    assert again.load(state) == {}
    found = again.collect({"agent": policy}, RolloutLength(20), Clock(rollouts=2))
    assert np.array_equal(found.rollouts["agent"].obs, expected.rollouts["agent"].obs)


class Rebuilt(InProcessBackend):
    """Uses a step for each reset, like a vector environment with next-step autoreset. In its sixth call, all
    copies but the first have faults as bystanders."""

    calls = 0

    def step(self, action, copies=None):
        self.calls += 1
        step = super().step(action, copies)
        if self.calls != 6:
            return step
        faults = tuple(Fault(i, 6, "made anew", caused_by=0) for i in (1, 2))
        return replace(step, stepped=np.zeros(self.n_envs, bool), faults=faults)


def test_a_fault_in_a_reset_step_drops_the_whole_episode_before_it():
    envs = Rebuilt(lambda: Script(length=50), 3, "Rebuilt")
    collector = collector_on(envs, max_faults=1)
    collector.start_episodes()
    found = collector.collect({"agent": policy_for(collector)}, RolloutLength(10), Clock())
    valid = found.rollouts["agent"].valid
    assert not valid[:6, 1:].any()
    assert valid[6:, 1:].all()
    assert found.fatal_fault is None  # faults of bystanders do not count


@pytest.mark.parametrize("seconds_over", [True, False])
def test_whole_episodes_are_cut_off_when_time_is_up(seconds_over: bool):
    collector = collector_of(lambda: Script(length=30))
    collector.start_episodes()
    policy = {"agent": policy_for(collector)}
    found = collector.collect(policy, RolloutLength(None, 1), Clock(), lambda: seconds_over)
    assert found.complete is not seconds_over
    assert (found.vec_steps == 1) == seconds_over
