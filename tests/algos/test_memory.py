"""A task with a known optimum that only a policy with memory can reach: the delayed match."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from docs.studies.health import alerts_for_rows
from gymnast.config.serialize import flat_values
from gymnast.errors import ConfigError
from tests.algos.harness import BOTH_ENGINES, LearnerHarness

DELAY = 4
TASK = {
    "env.n_envs": 16,
    "env.kwargs": {"delay": DELAY},
    "algo.n_steps": 20,
    "algo.lr": 1e-2,
    "algo.gamma": 1.0,
    "policy.hidden": [16],
    "policy.memory": "gru:16",
    "normalize.obs": "off",
    "normalize.reward": "off",
}
PPO = {"algo.epochs": 6, "algo.batch_size": "50%"}


def learner(algo: str = "ppo", **settings: Any) -> LearnerHarness:
    given = TASK | (PPO if algo == "ppo" else {}) | settings
    return LearnerHarness.make("tests.identity:DelayedMatch", given, algo)


def greedy_score(practice: LearnerHarness, *, shuffled: bool = False) -> float:
    """Returns the mean return of the greedy policy over many episodes. `shuffled`: before the last step,
    every episode gets the state of another one."""
    envs, policy = practice.collector.envs, practice.learner.policy
    every, total = list(range(envs.n_envs)), 0.0
    for first in range(0, 20_000, 1000):
        envs.reset(every, [first + copy for copy in every])
        state = policy.initial_state(envs.n_envs)
        for t in range(DELAY + 1):
            if shuffled and t == DELAY:
                state = np.random.default_rng(first).permutation(state)
            dist, _, state = policy.step(envs.obs, state)
            total += float(envs.step(policy.head.for_env(policy.head.mode(dist))).reward.mean())
    return total / 20


@BOTH_ENGINES
@pytest.mark.parametrize("memory", ["gru:16", "lstm:16"])
def test_ppo_with_memory_reaches_the_optimum_and_shuffled_states_break_it(memory: str, engine: str):
    practice = learner(**{"policy.memory": memory, "engine": engine})
    practice.repeat(30)
    assert greedy_score(practice) == 1.0
    assert greedy_score(practice, shuffled=True) < 0.7


@pytest.mark.parametrize(
    "layout",
    [
        {"policy.memory_shared": "on"},
        {"policy.shared": "on"},
        {"policy.memory": "gru:8x2"},
        {"policy.bptt": 7, "policy.burn_in": 5},
        {"normalize.value": "popart"},
    ],
    ids=str,
)
def test_every_layout_of_memory_reaches_the_optimum(layout: dict[str, Any]):
    practice = learner(**layout)
    practice.repeat(40)
    assert greedy_score(practice) == 1.0


def test_a2c_with_memory_reaches_the_optimum():
    practice = learner("a2c")
    practice.repeat(250)
    assert greedy_score(practice) == 1.0


def test_without_memory_no_policy_is_better_than_chance():
    practice = learner(**{"policy.memory": "off"})
    practice.repeat(30)
    assert 0.35 < greedy_score(practice) < 0.65


@pytest.mark.parametrize("algo", ["reinforce", "dqn"])
def test_algorithms_that_cannot_train_memory_refuse_it(algo: str):
    settings = {"policy.memory": "lstm:8", "env.n_envs": 2}
    with pytest.raises(
        ConfigError, match=rf"policy.memory.*{algo} cannot train a policy with memory"
    ):
        LearnerHarness.make("tests.identity:DelayedMatch", settings, algo)


def alerts_of(practice: LearnerHarness, rollouts: int) -> set[str]:
    """Returns the ids of the alerts that a run of this learner raises."""
    seen = []
    for number in range(rollouts):
        clocks = {"clock/rollouts": number + 1.0, "progress/share": (number + 1) / rollouts}
        seen.append(practice.learn(practice.collect()) | clocks)
    return {alert.id for alert in alerts_for_rows(seen, flat_values(practice.cfg))}


def test_a_memory_that_the_task_does_not_need_raises_an_alert_and_a_needed_one_does_not():
    """Every step of the identity task is independent of the others."""
    settings = TASK | PPO | {"env.kwargs": {"length": 8}, "algo.gamma": 0.0}
    idle = LearnerHarness.make("tests.identity:Identity", settings)
    assert "policy/memory_effect:unused" in alerts_of(idle, 80)
    assert "policy/memory_effect:unused" not in alerts_of(learner(), 80)
