"""An update that breaks the policy is rolled back completely, retried with a smaller step, then dropped."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gymnast.clock import Clock
from gymnast.config.resolve import resolve
from gymnast.config.section import RolloutLength
from gymnast.config.sections.transaction import TransactionConfig
from gymnast.runs import checkpoint
from gymnast.seeds import stream
from gymnast.training.collectors import open_collector
from gymnast.training.learner import Learner
from gymnast.training.transaction import Transaction
from tests.small_runs import resume_run, train_small

SETTINGS = {
    "algo.lr": 0.02,
    "env.n_envs": 4,
    "algo.n_steps": 64,
    "algo.batch_size": "25%",
    "normalize.obs": "running",
    "normalize.reward": "running",
    "normalize.value": "popart",
}


@pytest.fixture
def practice():
    """Yields a learner after one update, a new rollout, and the current hyperparameters."""
    cfg = resolve("CartPole-v1", SETTINGS).config
    collector = open_collector(cfg)
    obs, action = collector.spaces["agent"]
    learner, clock = Learner("agent", obs, action, cfg), Clock(limits={"env_steps": 1000})
    collector.start_episodes()
    values = cfg.algo.values_at(clock)
    first = collector.collect({"agent": learner.policy}, RolloutLength(64), clock).rollouts["agent"]
    learner.update(first, values, order())
    clock.rollouts += 1
    rollout = collector.collect({"agent": learner.policy}, RolloutLength(64), clock).rollouts[
        "agent"
    ]
    yield learner, rollout, values
    collector.close()


def order() -> np.random.Generator:
    return stream(0, "order")


def everything(learner: Learner) -> dict[str, np.ndarray]:
    arrays, plain = learner.state()
    numbers = {"steps": np.array(plain["algorithm"]["steps"]), "n": np.array(plain["reward_count"])}
    copies = {name: array.copy() for name, array in arrays.items()}
    return learner.policy.arrays() | copies | numbers


def same(a: dict[str, np.ndarray], b: dict[str, np.ndarray]) -> bool:
    return a.keys() == b.keys() and all(np.array_equal(a[name], b[name]) for name in a)


def test_an_update_that_overflows_is_rolled_back_completely(practice):
    learner, rollout, values = practice
    before = everything(learner)
    values = replace(values, lr=1e30)
    transaction = Transaction(TransactionConfig())
    result = transaction.update(learner, rollout, values, order)
    assert [incident.dropped for incident in result.incidents] == [False, True]
    assert result.metrics == {"optim/rollbacks": 2, "optim/steps": 0}
    assert result.targets is None
    assert same(everything(learner), before)
    assert not transaction.recent_kl


def test_the_second_attempt_uses_half_the_step_with_the_same_draws(practice):
    learner, rollout, values = practice
    start = learner.snapshot()
    kl = {}
    for factor in (1.0, 0.5):
        part = replace(values, lr=values.lr * factor)
        kl[factor] = learner.update(rollout, part, order()).metrics["policy/kl"]
        wanted = everything(learner)
        learner.roll_back(start)
    assert kl[0.5] < kl[1.0]
    transaction = Transaction(TransactionConfig(max_kl=(kl[0.5] + kl[1.0]) / 2))
    result = transaction.update(learner, rollout, values, order)
    metrics, incidents = result.metrics, result.incidents
    assert [incident.dropped for incident in incidents] == [False]
    assert "KL" in incidents[0].problem
    assert same(
        incidents[0].before.policy, start.policy
    )  # although the second attempt was accepted
    assert metrics["policy/kl"] == kl[0.5]
    assert metrics["optim/rollbacks"] == 1
    assert same(everything(learner), wanted)


def test_a_large_kl_is_accepted_if_recent_updates_were_large(practice):
    learner, rollout, values = practice
    kl = learner.update(rollout, values, order()).metrics["policy/kl"]
    transaction = Transaction(TransactionConfig(max_kl=kl / 2))
    assert transaction.find_problem(learner, {"policy/kl": kl}) is not None
    transaction.recent_kl.extend([kl / 9] * 3)
    assert transaction.find_problem(learner, {"policy/kl": kl}) is None
    assert transaction.find_problem(learner, {"policy/kl": float("nan")}) is not None
    off = Transaction(TransactionConfig(max_kl="off"))  # type: ignore[arg-type]
    assert off.find_problem(learner, {"policy/kl": 1e9}) is None


def test_a_run_whose_every_update_explodes_ends_with_its_initial_weights():
    settings = {"algo.lr": 1e6, "stop.rollouts": 3, "env.n_envs": 4, "algo.n_steps": 32}
    run = train_small("CartPole-v1", settings | {"checkpoint.keep": 9, "eval.every": "off"})
    first, last = (checkpoint.find(run.path, which) for which in (0, "latest"))
    assert (
        first.manifest["files"]["policy.safetensors"]
        == last.manifest["files"]["policy.safetensors"]
    )
    events = [event for event in run.events() if event["kind"] == "update rolled back"]
    assert [event["dropped"] for event in events] == [False, True] * 3
    assert run.info["status"] == "finished"
    assert run.rows()["optim/rollbacks"].tolist() == [2.0, 2.0, 2.0]
    bundles = sorted((run.path / "incidents").iterdir())
    assert len(bundles) == 3
    found = checkpoint.read(bundles[0])
    assert found.tensors("rollout")["reward"].shape == (32, 4)
    assert found.document("incident")["problem"]


def test_the_window_of_recent_kl_survives_resume():
    settings = {"env.n_envs": 4, "algo.n_steps": 32, "eval.every": "off"}
    settings |= {"algo.lr": 1e-3, "algo.clip": 0.2}  # schedules would follow the budget
    whole = train_small("CartPole-v1", settings | {"stop.rollouts": 6})
    halved = train_small("CartPole-v1", settings | {"stop.rollouts": 3})
    resume_run(halved, {"stop.rollouts": 6})
    saved = [checkpoint.latest(run.path).document("state")["recent_kl"] for run in (whole, halved)]
    assert saved[0] == saved[1]
    assert len(saved[0]["agent"]) == 6
