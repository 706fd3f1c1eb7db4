"""Seeding that does not work is reported when a run starts."""

from __future__ import annotations

import itertools
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.spaces import Box, Discrete

from gymnast.envs.backends.inprocess import InProcessBackend
from gymnast.envs.build.seeding import check_seeding
from tests.scripted import Chain, Choose, Forgetful, Match
from tests.small_runs import train_small


class Late(gym.Env[np.ndarray, int]):
    """Has the same first observation for every seed and differs from the third step on."""

    observation_space, action_space = Box(-9, 9, (1,), np.float32), Discrete(2)

    def __init__(self) -> None:
        self.resets = 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[np.ndarray, dict]:
        super().reset(seed=seed, options=options)
        self.t, self.resets = 0, self.resets + 1
        return np.zeros(1, np.float32), {}

    def step(self, action: int) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        self.t += 1
        luck = self.np_random.normal() if self.t > 2 else 0.0
        return np.float32([luck]), 0.0, False, False, {}


class Counted(Match):
    """Counts its calls."""

    def __init__(self) -> None:
        super().__init__()
        self.resets = self.steps = 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[np.ndarray, dict]:
        self.resets += 1
        return super().reset(seed=seed, options=options)

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        self.steps += 1
        return super().step(action)


class Counting(gym.Env[np.ndarray, int]):
    """Starts in a different state at every reset, whatever the seed."""

    observation_space, action_space = Box(0, 1e6, (1,), np.float32), Discrete(2)
    count = itertools.count()

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[np.ndarray, dict]:
        super().reset(seed=seed, options=options)
        return np.float32([next(self.count)]), {}

    def step(self, action: int) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        return np.zeros(1, np.float32), 0.0, True, False, {}


@pytest.mark.parametrize(
    ("make", "declared", "n", "replays", "message"),
    [
        (Choose, "unknown", 4, True, None),
        (Late, "unknown", 4, True, None),
        (Late, "yes", 4, True, None),
        (Chain, "unknown", 4, True, "different seeds give the same episode: the 4 copies"),
        (Chain, "yes", 4, True, "different seeds give the same episode"),
        (Chain, "unknown", 1, True, None),
        (Chain, "no", 4, False, None),
        (Forgetful, "unknown", 4, False, "the same seed gives different episodes"),
        (Forgetful, "no", 4, False, None),
        (Counting, "yes", 4, False, "although facts.deterministic is yes"),
    ],
)
def test_seeding_problems_are_reported_and_nothing_else(make, declared, n, replays, message):
    found = check_seeding(InProcessBackend(make, n, "Test-v0"), declared)
    assert found.is_replayable is replays
    assert bool(found.warnings) is bool(message)
    assert not message or message in found.warnings[0]


def test_declared_determinism_costs_only_three_resets():
    copies = [Counted() for _ in range(8)]
    waiting = iter(copies)
    assert (
        check_seeding(InProcessBackend(lambda: next(waiting), 8, "Test-v0"), "yes").warnings == ()
    )
    assert [copy.resets for copy in copies] == [3] + [0] * 7
    assert sum(copy.steps for copy in copies) == 0


@pytest.mark.parametrize(
    ("env", "message"),
    [("Chain", "different seeds"), ("Forgetful", "the same seed"), ("Choose", "")],
)
def test_a_run_records_the_seeding_warning_as_an_event(env: str, message: str):
    run = train_small(
        env, {"env.n_envs": 2, "algo.n_steps": 8, "stop.env_steps": 32, "eval.every": "off"}
    )
    events = [event for event in run.events() if event["kind"] == "seeding warning"]
    assert len(events) == bool(message)
    assert not message or message in events[0]["why"]
