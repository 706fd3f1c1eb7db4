"""Copies are stepped without Gymnasium's own wrappers, and nothing of what those do is missed."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.wrappers import OrderEnforcing, PassiveEnvChecker, TimeLimit

from gymnast.config.episode_limit import EpisodeLimit
from gymnast.config.sections.env import EnvConfig
from gymnast.envs.backends.inprocess import InProcessBackend
from gymnast.envs.build.make import make_env
from gymnast.envs.build.strip_wrappers import strip_wrappers
from tests.scripted import Masked, Script, Shaky


class OwnLimit(TimeLimit):
    """Somebody's own rule, which happens to be called a time limit."""


class Loud(gym.Wrapper[Any, Any, Any, Any]):
    pass


def test_only_gymnasiums_own_outermost_wrappers_come_off():
    inside = Loud(TimeLimit(Script(), 5))
    env, limit = strip_wrappers(TimeLimit(OrderEnforcing(PassiveEnvChecker(inside)), 9))
    assert env is inside
    assert limit == 9
    own = OwnLimit(Script(), 5)
    assert strip_wrappers(own) == (own, None)
    assert strip_wrappers(TimeLimit(TimeLimit(Script(), 3), 7))[1] == 3
    plain = Script()
    assert strip_wrappers(plain) == (plain, None)


@pytest.mark.parametrize("limit", [1, 2, 4, 6])
@pytest.mark.parametrize("some", [False, True], ids=["all copies", "some copies"])
def test_episodes_are_cut_short_as_the_wrapper_would(limit: int, some: bool):
    """`OwnLimit` stays on, so it is what ours is held against. Nothing resets by itself."""
    ours = InProcessBackend(lambda: TimeLimit(Script(), limit), 3, "ours")
    theirs = InProcessBackend(lambda: OwnLimit(Script(), limit), 3, "theirs")
    assert not isinstance(ours.envs[0], gym.Wrapper)
    assert isinstance(theirs.envs[0], OwnLimit)
    seeds = iter(range(1000))
    chosen: Any = None
    for envs in (ours, theirs):
        envs.reset(range(3), [4, 5, 13])
    both = 0
    for t in range(60):
        action = np.zeros(3, dtype=np.int64)
        if some:
            chosen = [i for i in range(3) if (t + i) % 3]
        a, b = ours.step(action, chosen), theirs.step(action, chosen)
        for name in ("obs", "reward", "terminated", "truncated"):
            assert np.array_equal(getattr(a, name), getattr(b, name)), (name, t)
        both += int((a.terminated & a.truncated).sum())
        over = np.flatnonzero(a.terminated | a.truncated).tolist()
        over = over if t % 4 else over[1:]  # one goes on beyond its end
        fresh = [next(seeds) for _ in over]
        ours.reset(over, fresh)
        theirs.reset(over, fresh)
    assert both


def test_a_step_that_breaks_at_the_limit_is_a_fault_and_no_end():
    envs = InProcessBackend(lambda: TimeLimit(Shaky(), 3), 4, "Shaky")
    envs.reset(range(4), [2030, 2031, 2032, 2033])  # a reward that is nan, at step 3 of copy 2
    for _ in range(3):
        step = envs.step(np.zeros(4, dtype=np.int64))
    assert [(f.copy, f.step) for f in step.faults] == [(2, 3)]
    assert step.truncated.tolist() == [True, True, False, True]


def test_the_mask_of_a_state_that_ends_an_episode_is_not_asked_for():
    class Stuck(Masked):
        """Allows nothing after its second step."""

        def _mask(self) -> dict[str, Any]:
            return {"action_mask": np.zeros(3, bool)} if self.t == 2 else super()._mask()

    envs = InProcessBackend(lambda: TimeLimit(Stuck(length=50), 2), 2, "Stuck")
    envs.reset(range(2), [1, 2])
    for _ in range(2):
        step = envs.step(np.zeros(2, dtype=np.int64))
        assert step.faults == ()
    assert step.truncated.all()


@pytest.mark.parametrize("limit", [None, 7])
def test_the_longest_episode_is_declared_with_or_without_the_wrapper(limit: int | None):
    def opened(id: str) -> InProcessBackend:
        cfg = EnvConfig(id=id)
        return InProcessBackend(lambda: make_env(cfg, limit=EpisodeLimit(limit)), 1, id)

    assert opened("CartPole-v1").time_limit == (limit or 500)
    assert opened("py:tests.scripted:Script").time_limit == limit
