"""Every algorithm learns with every kind of action and observation."""

from __future__ import annotations

from typing import Any

import pytest

from gymnast.config.sections import ALGORITHMS
from gymnast.errors import ConfigError
from tests.algos.harness import ACTION_SPACES, ENGINES, IDENTITY, OBSERVATION_SPACES, LearnerHarness

QUICK: dict[str, Any] = {
    "env.n_envs": 8,
    "algo.gamma": 0.0,
    "policy.hidden": [16],
    "policy.embedding": 8,
    "normalize.obs": "off",
    "normalize.reward": "off",
}


PPO = {"algo.n_steps": 8, "algo.epochs": 6, "algo.batch_size": 16, "algo.lr": "5e-3 -> 0"}
LEARNS: dict[str, tuple[int, dict[str, Any]]] = {
    "ppo": (16, PPO),
    "a2c": (100, {"algo.n_steps": 4, "algo.lr": "1e-2 -> 0", "algo.max_grad_norm": "off"}),
    "reinforce": (75, {"algo.episodes": 1, "algo.lr": "2e-2 -> 0", "algo.max_grad_norm": "off"}),
    "dqn": (
        15,
        {"algo.n_steps": 16, "algo.lr": 3e-3, "algo.warmup": 128, "algo.epsilon": 0.5},
    ),
}
"""Number of rollouts and settings of each algorithm."""
LEARNERS = [
    *(("ppo", "native"), ("ppo", "torch"), ("a2c", "native"), ("reinforce", "native")),
    ("dqn", "torch"),
]
"""Algorithms with the engine that they are tested on. PPO uses everything of an engine that A2C and
REINFORCE use, so that only composite actions are tested with these on the torch engine."""


def practised(settings: dict[str, Any], rollouts: int, algo: str = "ppo") -> LearnerHarness:
    overrides = QUICK | LEARNS[algo][1] | settings
    # An episode, which is a rollout of REINFORCE, has eight steps.
    steps = overrides["env.n_envs"] * overrides.get("algo.n_steps", 8)
    overrides["stop.env_steps"] = rollouts * steps  # schedules end with it
    practice = LearnerHarness.make(IDENTITY, overrides, algo=algo)
    practice.repeat(rollouts)
    return practice


def test_every_algorithm_and_every_engine_is_covered():
    assert set(LEARNS) == set(ALGORITHMS) == {algo for algo, _ in LEARNERS}
    assert {engine for _, engine in LEARNERS} == set(ENGINES)


@pytest.mark.parametrize("space", ACTION_SPACES)
@pytest.mark.parametrize(("algo", "engine"), LEARNERS)
def test_the_correct_action_is_learned_in_every_action_space(algo: str, engine: str, space: str):
    rollouts, settings = LEARNS[algo][0], ACTION_SPACES[space] | {"engine": engine}
    if algo == "dqn" and space != "choice":
        refusal = "action masks" if space == "masked choice" else "needs Discrete actions"
        with pytest.raises(ConfigError, match=refusal):
            practised(settings, 1, algo)
        return
    amounts = space.endswith(("amounts", "tuple", "dict"))
    practice = practised(settings, rollouts * 5 // 2 if amounts else rollouts, algo)
    assert practice.greedy_reward() > (0.95 if amounts else 0.999)


@pytest.mark.slow
@pytest.mark.parametrize("space", ["tuple", "masked dict"])
@pytest.mark.parametrize("algo", ["a2c", "reinforce"])
def test_composite_actions_are_learned_by_every_algorithm_on_the_torch_engine(
    algo: str, space: str
):
    settings = ACTION_SPACES[space] | {"engine": "torch"}
    assert practised(settings, LEARNS[algo][0] * 5 // 2, algo).greedy_reward() > 0.95


@pytest.mark.parametrize("space", OBSERVATION_SPACES)
def test_the_correct_action_is_learned_from_every_kind_of_observation(space: str):
    images = space in ("image", "grey image", "parts")
    settings: dict[str, Any] = {"env.kwargs": {"obs": space}}
    if images:
        settings |= {"policy.hidden": [], "algo.lr": "2e-3 -> 0", "algo.epochs": 3}
    if space == "parts":
        settings |= {"normalize.obs": "running", "policy.embedding": 32}
    assert practised(settings, 30 if images else LEARNS["ppo"][0]).greedy_reward() > 0.999
