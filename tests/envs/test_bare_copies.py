"""Copies are stepped without Gymnasium's wrappers, but with everything that those wrappers do."""

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
    """A user's own wrapper, which must not be stripped although it derives from TimeLimit."""


class Loud(gym.Wrapper[Any, Any, Any, Any]):
    pass


def test_only_gymnasiums_outermost_wrappers_are_stripped():
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
def test_episodes_are_truncated_as_by_the_time_limit_wrapper(limit: int, some: bool):
    """`OwnLimit` is not stripped, so it is the reference for the backend's own limit."""
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
        over = over if t % 4 else over[1:]  # one continues beyond its end
        fresh = [next(seeds) for _ in over]
        ours.reset(over, fresh)
        theirs.reset(over, fresh)
    assert both


def test_a_fault_at_the_time_limit_is_not_a_truncation():
    envs = InProcessBackend(lambda: TimeLimit(Shaky(), 3), 4, "Shaky")
    envs.reset(range(4), [2030, 2031, 2032, 2033])  # the reward of copy 2 is NaN at step 3
    for _ in range(3):
        step = envs.step(np.zeros(4, dtype=np.int64))
    assert [(f.copy, f.step) for f in step.faults] == [(2, 3)]
    assert step.truncated.tolist() == [True, True, False, True]


def test_the_mask_of_a_terminal_state_is_ignored():
    class Stuck(Masked):
        """Allows no action after its second step."""

        def _mask(self) -> dict[str, Any]:
            return {"action_mask": np.zeros(3, bool)} if self.t == 2 else super()._mask()

    envs = InProcessBackend(lambda: TimeLimit(Stuck(length=50), 2), 2, "Stuck")
    envs.reset(range(2), [1, 2])
    for _ in range(2):
        step = envs.step(np.zeros(2, dtype=np.int64))
        assert step.faults == ()
    assert step.truncated.all()


@pytest.mark.parametrize("limit", [None, 7])
def test_the_time_limit_is_reported_with_or_without_the_wrapper(limit: int | None):
    def opened(id: str) -> InProcessBackend:
        cfg = EnvConfig(id=id)
        return InProcessBackend(lambda: make_env(cfg, limit=EpisodeLimit(limit)), 1, id)

    assert opened("CartPole-v1").time_limit == (limit or 500)
    assert opened("py:tests.scripted:Script").time_limit == limit
