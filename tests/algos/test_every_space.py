"""Every kind of action and of observation is learned."""

from __future__ import annotations

from typing import Any

import pytest

from tests.algos.practice import ACTION_SPACES, IDENTITY, OBSERVATION_SPACES, Practice

QUICK: dict[str, Any] = {
    "env.n_envs": 8,
    "algo.n_steps": 16,
    "algo.epochs": 6,
    "algo.batch_size": 32,
    "algo.lr": "3e-3 -> 0",
    "algo.gamma": 0.0,
    "policy.hidden": [16],
    "policy.embedding": 8,
    "normalize.obs": "off",
    "normalize.reward": "off",
}


def practised(settings: dict[str, Any], rollouts: int) -> Practice:
    budget = {"stop.env_steps": rollouts * 128}
    practice = Practice.on(IDENTITY, QUICK | budget | settings)
    practice.repeat(rollouts)
    return practice


@pytest.mark.parametrize("space", ACTION_SPACES)
def test_what_is_right_is_learned_in_every_action_space(space: str):
    amounts = space.endswith("amounts")
    practice = practised(ACTION_SPACES[space], 60 if amounts else 25)
    assert practice.mastery() > (0.95 if amounts else 0.999)


@pytest.mark.parametrize("space", OBSERVATION_SPACES)
def test_what_is_right_is_learned_from_every_kind_of_observation(space: str):
    images = space in ("image", "grey image", "parts")
    settings: dict[str, Any] = {"env.kwargs": {"obs": space}}
    if images:
        settings |= {"policy.hidden": [], "algo.lr": "2e-3 -> 0", "algo.epochs": 3}
    if space == "parts":
        settings |= {"normalize.obs": "running", "policy.embedding": 32}
    assert practised(settings, 15 if images else 25).mastery() > 0.999
