"""The learner around its algorithm: reward scaling, observation statistics and their metrics."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import gymnast
from gymnast.metrics.alerts import Alerts
from gymnast.metrics.metric import Limits
from gymnast.metrics.specs import METRICS
from tests.algos.harness import ACTION_SPACES, IDENTITY, LearnerHarness
from tests.scripted import length_of, obs_of
from tests.small_runs import rows, traces, train_small

SETTINGS = {"env.n_envs": 4, "algo.n_steps": 16, "algo.epochs": 2, "algo.batch_size": "50%"}


def test_observation_statistics_change_after_the_update_not_before():
    """The update must normalize as the policy did when it acted: its first ratios are 1."""
    still = SETTINGS | {"normalize.obs": "running", "algo.lr": 0.0}
    practice = LearnerHarness.make("Script", still)
    for k in (1, 2, 3):
        rollout = practice.collect()
        before = practice.learner.policy.normalizer.moments
        metrics = practice.learn(rollout)
        assert metrics["policy/kl"] < 1e-10
        assert metrics["policy/ratio_max"] == pytest.approx(1, abs=1e-5)
        after = practice.learner.policy.normalizer.moments
        assert metrics["normalize/obs_count"] == after.count == before.count + 64 == 64 * k


def test_rewards_are_scaled_only_for_learning():
    practice = LearnerHarness.make("Script", SETTINGS | {"normalize.reward": "running"})
    rollout = practice.collect()
    raw = rollout.reward.copy()
    metrics = practice.learn(rollout)
    assert np.array_equal(rollout.reward, raw)
    scaled = raw / metrics["normalize/reward_scale"]
    twin = LearnerHarness.make("Script", SETTINGS | {"normalize.reward": "off"})
    expected = twin.learn(replace(twin.collect(), reward=scaled))
    assert metrics["advantage/mean"] == pytest.approx(expected["advantage/mean"], rel=1e-9)
    assert metrics["loss/total"] == pytest.approx(expected["loss/total"], rel=1e-6)


def test_a_learner_restored_from_its_state_has_the_same_reward_statistics_and_running_returns():
    settings = SETTINGS | {"normalize.reward": "running", "normalize.value": "popart"}
    first, second = (LearnerHarness.make("Script", settings) for _ in range(2))
    first.repeat(2)
    rollout = first.collect()
    arrays, plain = first.learner.state()
    second.learner.policy.load(first.learner.policy.arrays())
    second.learner.load(arrays, plain, optimizer=True)
    second.clock.rollouts = first.clock.rollouts
    second.clock.env_steps = first.clock.env_steps
    assert first.learn(rollout) == second.learn(rollout)


def test_metrics_declared_by_a_preset_are_means_over_recent_episodes():
    own = {"env/steps": {"source": "steps", "description": "Steps of an episode."}}
    settings = SETTINGS | {"metrics": own, "stop.rollouts": 4, "traces.train": "100%"}
    run = train_small("Script", settings | {"eval.every": "off", "checkpoint.every": "off"})
    last = [row for row in rows(run) if "policy/loss" in row][-1]
    lengths = [length_of(t.seed) for several in traces(run, "train").values() for t in several]
    assert last["env/steps"] == pytest.approx(np.mean(lengths[-100:]))
    assert last["env/steps"] == pytest.approx(last["episode/length"])


def test_a_stored_policy_loaded_in_python_acts_as_it_was_scored():
    settings = SETTINGS | {"stop.rollouts": 3, "eval.every": "1 rollouts"}
    run = train_small("Script", settings | {"normalize.obs": "running"})
    player = gymnast.load(run)
    confirm = [t for several in traces(run, "confirm").values() for t in several]
    for trace in confirm:
        shown = np.array([obs_of(trace.seed, t) for t in range(len(trace.reward))])
        assert np.array_equal(player.act(shown), trace.action)
        assert player.act(shown[0]) == trace.action[0]
        assert np.allclose(player.value(shown), trace.value, atol=1e-5)
        assert player.value(shown[0]) == pytest.approx(float(trace.value[0]), abs=1e-5)


def test_rescoring_a_run_repeats_its_confirmed_score():
    settings = SETTINGS | {"stop.rollouts": 3, "eval.every": "1 rollouts"}
    run = train_small("Match", settings)
    again = gymnast.evaluate(run)
    for field in ("mean", "low", "high", "iqm", "episodes"):
        assert getattr(again, field) == run.info["score"][field]
    assert again.checkpoint == run.info["checkpoints"]["best"]
    more = gymnast.evaluate(run, episodes=9)
    assert more.seeds[:4] == again.seeds
    assert more.returns[:4] == pytest.approx(again.returns, abs=1e-5)
    assert len(more.returns) == 9


@pytest.mark.parametrize("kind", ["masked choice", "masked choices", "masked switches"])
def test_entropy_share_is_relative_to_the_maximum_under_the_masks(kind: str):
    """An untrained policy has the maximum entropy that the masks allow."""
    settings = ACTION_SPACES[kind] | {"env.n_envs": 4, "algo.n_steps": 64, "algo.lr": 0}
    practice = LearnerHarness.make(IDENTITY, settings)
    rollout = practice.collect()
    assert rollout.mask is not None
    assert not rollout.mask.all()
    metrics = practice.learn(rollout)
    assert 0.97 < metrics["policy/entropy_share"] <= 1.0
    alerts = Alerts({name: metric.resolved(Limits()) for name, metric in METRICS.items()})
    metrics.pop("optim/steps")  # for the loop alone
    row = metrics | {"rollout/neg_logprob": float(-rollout.logprob.mean()), "clock/rollouts": 1.0}
    assert "policy/entropy_share:biased" not in [alert.id for alert in alerts.check_row(row)]
