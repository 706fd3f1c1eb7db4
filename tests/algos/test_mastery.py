"""Tasks that a correct learner masters in seconds, with values known in closed form."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.algos.harness import LearnerHarness

QUICK = {
    "env.n_envs": 8,
    "algo.n_steps": 16,
    "algo.epochs": 6,
    "algo.batch_size": 32,
    "algo.lr": 3e-3,
    "algo.gamma": 0.0,
    "policy.hidden": [16],
    "normalize.obs": "off",
    "normalize.reward": "off",
}
"""Every step of these tasks is independent of the others, so gamma is 0."""


def greedy(practice: LearnerHarness, seen: np.ndarray) -> np.ndarray:
    policy = practice.learner.policy
    return policy.head.for_env(policy.act(seen, None)[0])


@pytest.mark.parametrize("first", [0, 5], ids=["from 0", "from 5"])
@pytest.mark.parametrize("seed", [0, 1])
def test_the_correct_one_of_four_discrete_actions_is_learned(first: int, seed: int):
    practice = LearnerHarness.make("Choose", QUICK | {"env.kwargs": {"first": first}, "seed": seed})
    practice.repeat(25)
    every = np.arange(first, first + 4)
    assert np.array_equal(greedy(practice, every), every)


@pytest.mark.parametrize("seed", [0, 1])
def test_the_correct_continuous_action_is_learned(seed: int):
    settings: dict[str, Any] = {"seed": seed, "policy.log_std": -0.5, "algo.lr": "3e-3 -> 0"}
    settings["stop.env_steps"] = 60 * 128
    practice = LearnerHarness.make("Match", QUICK | settings)
    practice.repeat(60)
    seen = np.linspace(-0.9, 0.9, 19, dtype=np.float32)[:, None]
    error = np.abs(greedy(practice, seen) - (2 + 4 * seen))
    assert error.mean() < 0.3  # the range is 8 wide


@pytest.mark.parametrize("value", ["off", "popart"])
def test_the_critic_learns_the_discounted_reward_at_the_end_of_a_chain(value: str):
    settings = {"algo.gamma": 0.8, "algo.gae_lambda": 0.9, "normalize.value": value}
    practice = LearnerHarness.make("Chain", QUICK | settings | {"algo.lr": 1e-2})
    practice.repeat(30)
    found = practice.learner.policy.value(np.arange(5))
    assert np.allclose(found, 0.8 ** np.arange(4, -1, -1), atol=0.03)


def test_a_time_limit_is_bootstrapped_so_the_critic_learns_the_infinite_horizon_value():
    settings = {"algo.gamma": 0.8, "algo.gae_lambda": 0.9, "algo.lr": 1e-2}
    practice = LearnerHarness.make("Forever", QUICK | settings)
    practice.repeat(60)
    assert practice.learner.policy.value(np.zeros(1, int)) == pytest.approx(1 / (1 - 0.8), abs=0.05)
