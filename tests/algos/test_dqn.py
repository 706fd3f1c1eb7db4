"""Deep Q-learning: targets and replay buffer; no other file of the package depends on DQN."""

from __future__ import annotations

import re
import tracemalloc
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import gymnast
from gymnast.algos.dqn import ReplayBuffer
from gymnast.config.sections.transaction import TransactionConfig
from gymnast.errors import ConfigError
from gymnast.training.lifecycle.prepare import prepare
from gymnast.training.transaction import Transaction
from tests.algos.harness import LearnerHarness
from tests.small_runs import assert_same_run, copy_killed_at, resume_run, train_small

QUICK = {
    "env.n_envs": 4,
    "algo.n_steps": 16,
    "algo.warmup": 64,
    "algo.replay": 512,
    "algo.batch_size": 32,
    "policy.hidden": [16],
    "normalize.obs": "off",
    "normalize.reward": "off",
}


@pytest.mark.parametrize("double", [True, False])
def test_the_td_error_uses_one_step_targets_of_the_target_network(double: bool):
    settings = QUICK | {"algo.double": double, "algo.gamma": 0.9}
    practice = LearnerHarness.make("Script", settings, algo="dqn")
    algorithm, policy = practice.learner.algorithm, practice.learner.policy
    practice.learn(practice.collect())
    rng = np.random.default_rng(0)
    algorithm.target_parameters[:] += rng.normal(0, 0.3, algorithm.target_parameters.shape).astype(
        np.float32
    )
    batch = algorithm.replay.sample(32, rng)
    loss, parts = algorithm.loss(batch, practice.hparams)

    def q(weights: dict[str, np.ndarray], obs: np.ndarray) -> np.ndarray:
        hidden = np.tanh(
            obs.astype(np.float64) @ weights["actor.0.weight"] + weights["actor.0.bias"]
        )
        return hidden @ weights["actor.2.weight"] + weights["actor.2.bias"]

    held = policy.parameters.views_of(algorithm.target_parameters)
    errors = []
    for i in range(32):
        seen, following = batch["obs"][i], batch["next_obs"][i]
        given = q(held, following)
        best = int(np.argmax(q(policy.parameters.views, following) if double else given))
        target = batch["reward"][i] + 0.9 * given[best] * (not batch["terminated"][i])
        errors.append(q(policy.parameters.views, seen)[batch["action"][i]] - target)
    error = np.abs(errors)
    huber = np.where(error < 1, 0.5 * error**2, error - 0.5)
    assert float(loss.detach()) == pytest.approx(huber.mean(), rel=1e-4)
    assert float(parts["value/td_error"].detach()) == pytest.approx(error.mean(), rel=1e-4)


def test_a_time_limit_is_bootstrapped_so_q_values_reach_the_infinite_horizon_value():
    settings = QUICK | {"algo.gamma": 0.8, "algo.lr": 3e-3, "algo.target_every": 32}
    practice = LearnerHarness.make("Forever", settings, algo="dqn")
    practice.repeat(8)
    assert practice.learner.policy.value(np.zeros(1, int)) == pytest.approx(5.0, abs=0.1)


def test_q_values_reach_the_discounted_reward_at_the_end_of_a_chain():
    settings = QUICK | {"algo.gamma": 0.8, "algo.lr": 3e-3, "algo.target_every": 32}
    practice = LearnerHarness.make("Chain", settings, algo="dqn")
    practice.repeat(12)
    found = practice.learner.policy.value(np.arange(5))
    assert np.allclose(found, 0.8 ** np.arange(4, -1, -1), atol=0.05)


def test_the_replay_buffer_overwrites_the_oldest_transitions_first():
    practice = LearnerHarness.make("Script", QUICK, algo="dqn")
    replay = ReplayBuffer(100)
    seen = []
    for _ in range(3):
        rollout = practice.collect()
        practice.clock.rollouts += 1
        replay.add(rollout)
        seen += rollout.reward[rollout.valid].tolist()
    assert len(replay) == 100
    assert sorted(replay.columns["reward"].tolist()) == sorted(np.float32(seen[-100:]).tolist())
    again = ReplayBuffer(100)
    again.load(replay.used(), replay.n_added, replay.size)
    one, two = (r.sample(40, np.random.default_rng(1)) for r in (replay, again))
    assert all(np.array_equal(one[name], two[name]) for name in one)


def test_a_replay_buffer_restored_with_another_size_keeps_the_newest_transitions():
    practice = LearnerHarness.make("Script", QUICK, algo="dqn")
    replay, smaller = ReplayBuffer(100), ReplayBuffer(40)
    for _ in range(3):
        replay.add(practice.collect())
        practice.clock.rollouts += 1
    smaller.load(replay.used(), replay.n_added, replay.size)
    oldest = replay.n_added % 100
    in_order = np.roll(replay.columns["reward"], -oldest)
    assert np.array_equal(smaller.columns["reward"], in_order[-40:])
    assert len(smaller) == 40


def test_running_reward_normalization_is_rejected():
    with pytest.raises(ConfigError, match=r"normalize\.reward.*replays old rewards"):
        LearnerHarness.make("Script", QUICK | {"normalize.reward": "running"}, algo="dqn")
    plain = {k: v for k, v in QUICK.items() if not k.startswith("normalize")}
    prepared = prepare("py:tests.scripted:Script:dqn", plain | {"stop.rollouts": 1})
    assert prepared.resolved.config.normalize.reward == "off"


def test_action_masks_are_rejected_before_a_run_is_created(runs_dir):
    masked = {"env.kwargs": {"masked": True}, "stop.rollouts": 1}
    with pytest.raises(ConfigError, match="does not support action masks"):
        gymnast.train("py:tests.identity:Identity", algo="dqn", overrides=masked, quiet=True)
    assert not list(runs_dir.glob("*/run.json"))


def test_a_resumed_run_restores_the_replay_buffer_and_ends_with_the_same_weights():
    settings = {"env.n_envs": 4, "algo.n_steps": 16, "algo.warmup": 100, "stop.rollouts": 8}
    settings |= {"algo.gradient_steps": 5, "algo.replay": 300, "checkpoint.every": "2 rollouts"}
    settings |= {"algo.epsilon": "1 -> 0.1", "eval.every": "4 rollouts", "traces.train": "100%"}
    settings["checkpoint.keep"] = 9
    run = train_small("CartPole-v1", settings, algo="dqn")
    again = resume_run(copy_killed_at(run, 256))
    assert_same_run(run, again)


def test_a_rolled_back_update_restores_the_replay_buffer_also_where_it_wraps_around():
    practice = LearnerHarness.make(
        "Script", QUICK | {"algo.replay": 150, "algo.warmup": 1}, algo="dqn"
    )
    for _ in range(2):
        practice.learn(practice.collect())
    learner, rollout = practice.learner, practice.collect()
    replay = learner.algorithm.replay
    assert (
        replay.n_added < 150 < replay.n_added + rollout.steps
    )  # overwrites old rows and fills unused ones
    arrays, plain = learner.state()
    before = {name: array.copy() for name, array in (arrays | learner.policy.arrays()).items()}
    values = replace(practice.hparams, lr=1e30)
    order = partial(np.random.default_rng, 0)
    result = Transaction(TransactionConfig()).update(learner, rollout, values, order)
    assert [incident.dropped for incident in result.incidents] == [False, True]
    after, now = learner.state()
    after |= learner.policy.arrays()
    assert now == plain
    assert before.keys() == after.keys()
    assert all(np.array_equal(before[name], after[name]) for name in before)
    practice.learn(rollout)  # and training continues from there
    practice.learn(practice.collect())
    assert len(replay) == 150


def test_a_transaction_does_not_copy_the_replay_buffer():
    size = 100_000
    practice = LearnerHarness.make("Script", QUICK | {"algo.replay": size}, algo="dqn")
    practice.learn(practice.collect())
    learner, rollout = practice.learner, practice.collect()
    learner.algorithm.replay.n_added += size  # as if the buffer were full
    values = practice.hparams
    tracemalloc.start()
    try:
        order = partial(np.random.default_rng, 0)
        Transaction(TransactionConfig()).update(learner, rollout, values, order)
        assert (
            tracemalloc.get_traced_memory()[1] < size
        )  # bytes: a copy of any column would need more
    finally:
        tracemalloc.stop()


def test_only_two_files_and_the_registry_mention_dqn():
    """No other file of the package mentions DQN.

    Training loop, checkpoints, policies and commands treat it like any other algorithm.
    """
    package = Path(gymnast.__file__).parent
    knows = {
        str(path.relative_to(package))
        for path in package.rglob("*.py")
        if "foreign" not in path.parts  # it names the DQN of other libraries
        and re.search(r"\bdqn\b", path.read_text(), re.IGNORECASE)
    }
    assert knows == {"algos/dqn.py", "config/sections/dqn.py", "config/sections/__init__.py"}
    lines = (package / "config/sections/__init__.py").read_text().splitlines()
    assert len([line for line in lines if "dqn" in line.lower()]) == 2  # its import and its entry
