"""Regression tests for past bugs in learning. The numbers are those of the list of traps."""

from __future__ import annotations

from dataclasses import replace

import gymnasium as gym
import numpy as np
import pytest

import gymnast
from gymnast.clock import Clock
from gymnast.collect.vector import VectorCollector
from gymnast.config.resolve import resolve
from gymnast.config.section import RolloutLength
from gymnast.engine.batch import MinibatchPlan
from gymnast.envs.backends.inprocess import InProcessBackend
from gymnast.policy.actions import Categorical, Gaussian, SquashedGaussian
from gymnast.policy.layers import Embedding
from gymnast.policy.policy import Policy
from gymnast.rl.returns import gae
from gymnast.rl.statistics import explained_variance
from gymnast.rollout import Rollout
from gymnast.seeds import stream
from gymnast.spaces.spaces import BoxAction, DiscreteAction
from tests.algos.harness import LearnerHarness
from tests.scripted import Match, Script, obs_of, seed_from_obs
from tests.small_runs import checkpoint_arrays, rows, traces, train_small

CHOOSE = {
    "env.n_envs": 8,
    "algo.n_steps": 16,
    "algo.epochs": 6,
    "algo.batch_size": 32,
    "algo.lr": 3e-3,
    "algo.gamma": 0.0,
}


def test_01_evaluation_scores_the_current_weights_and_names_their_version():
    settings = CHOOSE | {"stop.rollouts": 24, "eval.every": "8 rollouts", "eval.episodes": 10}
    run = train_small("Choose", settings | {"checkpoint.every": "off", "checkpoint.keep": 20})
    found = {
        row["eval:clock/env_steps"]: row["eval:episode/return"]
        for row in rows(run)
        if "eval:episode/return" in row
    }
    assert list(found) == [8 * 128, 16 * 128, 24 * 128]
    assert found[24 * 128] == 8.0  # mastered: every action of every episode is right
    initial = gymnast.evaluate(f"{run.path}:0")
    assert initial.mean < 5.0
    assert initial.checkpoint == 0


def test_02_a_kl_stop_ends_its_own_update_only():
    practice = LearnerHarness.make("Choose", CHOOSE | {"algo.lr": 0.05, "algo.target_kl": 1e-7})
    stopped = practice.repeat(3)
    assert [m["optim/epochs"] for m in stopped] == [1, 1, 1]  # each made its first pass
    assert all(m["optim/update_norm"] > 0 for m in stopped)
    loose = replace(practice.hparams, target_kl=1e9)
    after = practice.learner.algorithm.update(practice.collect(), loose, stream(0, "order")).metrics
    assert (after["optim/epochs"], after["optim/kl_stop"]) == (6, 0.0)


def test_03_advantages_do_not_leak_across_a_truncation_into_the_previous_episode():
    """The first episode has zero rewards and is truncated, the second has a reward of 100."""
    reward = np.array([[0.0], [0.0], [100.0], [0.0]])
    done = np.array([[False], [True], [False], [True]])
    nothing = np.zeros((4, 1))
    advantage, _ = gae(reward, nothing, nothing, done & False, done, gamma=0.99, lam=0.95)
    assert advantage[:2].tolist() == [[0.0], [0.0]]
    assert advantage[2] == 100.0


def collected(end: str, n_steps: int = 12):
    envs = InProcessBackend(lambda: Script(4, end), 2, "Scripted-v0")
    cfg = resolve("CartPole-v1").config
    policy = Policy(envs.obs_space, envs.action_space, cfg.policy, cfg.normalize)
    policy.initialize(0, "agent")
    policy.parameters.views["critic.4.bias"] += 50  # a value that cannot be overlooked
    collector = VectorCollector(
        envs, seed=0, metric_keys={}, should_trace=lambda _: True, keep_obs=True
    )
    collector.start_episodes()
    return policy, collector.collect({"agent": policy}, RolloutLength(n_steps), Clock())


def test_04_terminated_and_truncated_at_once_counts_as_terminated():
    for end, bootstrapped in (("both", False), ("terminated", False), ("truncated", True)):
        _, found = collected(end)
        rollout = found.rollouts["agent"]
        advantage, _ = rollout.advantages(0.99, 0.0)
        last = advantage[3] - rollout.reward[3] + rollout.value[3]
        assert (np.abs(last) > 40).all() == bootstrapped
        assert {t.truncated for t in found.traces} == {bootstrapped}


def test_05_no_transition_crosses_a_reset_and_a_time_limit_bootstraps_from_the_true_next_observation():
    policy, found = collected("truncated")
    rollout = found.rollouts["agent"]
    assert [len(t.reward) for t in found.traces] == [4] * 6  # 12 steps of 2 copies: nothing else
    for t, n in np.ndindex(rollout.reward.shape):
        seed, at = seed_from_obs(rollout.obs[t, n]), t % 4
        assert np.array_equal(rollout.obs[t, n], obs_of(seed, at))
        true = policy.value(obs_of(seed, at + 1)[None])[0]
        assert rollout.next_value[t, n] == pytest.approx(true, rel=1e-6)


def test_06_exactly_the_steps_of_finished_episodes_are_learned_from_once():
    """REINFORCE: the episodes of one rollout, distinguished by the seeds in their observations."""
    practice = LearnerHarness.make(
        "Script", {"env.n_envs": 3, "algo.episodes": 3}, algo="reinforce"
    )
    for _ in range(4):
        rollout = practice.collect()
        seen = [seed_from_obs(obs) for obs in rollout.obs[rollout.valid]]
        expected = {e.seed: e.length for e in rollout.episodes}
        assert {seed: seen.count(seed) for seed in seen} == expected
        assert len(expected) == 9
        practice.learn(rollout)


def test_07_value_and_gradient_clipping_can_be_switched_off():
    off = {"algo.value_clip": "off", "algo.max_grad_norm": "off"}
    assert resolve("CartPole-v1", off).config.algo.max_grad_norm is None
    assert resolve("CartPole-v1", off).config.algo.value_clip is None
    practice = LearnerHarness.make("Choose", CHOOSE | off | {"algo.value_coef": 1000.0})
    metrics = practice.repeat(1)[0]
    assert metrics["optim/grad_norm"] > 0.5
    assert metrics["optim/clipped_share"] == metrics["value/clip_fraction"] == 0.0
    gradient = practice.learner.algorithm.gradient_step.engine.gradient
    assert np.linalg.norm(gradient) > 0.5


def test_08_the_seed_drives_environments_zero_is_a_seed_and_evaluations_are_paired():
    settings = {"env.n_envs": 2, "algo.n_steps": 8, "stop.rollouts": 1, "traces.train": "100%"}
    settings |= {"eval.every": "1 rollouts", "checkpoint.every": "off"}
    seeds, scored = {}, set()
    for seed in (0, 0, 1):
        run = train_small("Script", settings, seed=seed)
        assert run.info["seed"] == seed
        episodes = [t.seed for several in traces(run, "train").values() for t in several]
        seeds.setdefault(seed, []).append(tuple(episodes))
        scored.add(tuple(t.seed for several in traces(run, "eval").values() for t in several))
    assert seeds[0][0] == seeds[0][1]
    assert not set(seeds[0][0]) & set(seeds[1][0])
    assert len(scored) == 1


def test_09_observation_statistics_are_the_policys_own_everywhere():
    """There is one set of statistics: learned in training, stored with the weights, frozen in evaluation
    and play."""
    settings = {"env.n_envs": 2, "algo.n_steps": 16, "stop.rollouts": 3, "eval.every": "1 rollouts"}
    run = train_small("Script", settings | {"normalize.obs": "running", "traces.train": "100%"})
    stored = checkpoint_arrays(run, which="latest")
    assert stored["agent/normalize.obs.count"] == 3 * 32
    seen = np.concatenate(
        [obs_of(t.seed, k)[None] for several in traces(run, "train").values()
         for t in several for k in range(len(t.reward))]
    )  # fmt: skip
    mean = stored["agent/normalize.obs.mean"]
    assert np.abs(mean - seen.mean(0)).max() < 0.2  # but for the episodes still running
    player = gymnast.load(run)
    obs = obs_of(123456, 3)
    version = run.info["checkpoints"]["best"]
    kept = checkpoint_arrays(run, which=version)
    hidden = (obs - kept["agent/normalize.obs.mean"]) / np.sqrt(kept["agent/normalize.obs.var"])
    x = np.tanh(hidden @ kept["agent/actor.0.weight"] + kept["agent/actor.0.bias"])
    logits = x @ kept["agent/actor.2.weight"] + kept["agent/actor.2.bias"]
    assert player.act(obs) == logits.argmax()
    assert np.array_equal(player.policy.normalizer.moments.mean, kept["agent/normalize.obs.mean"])


def test_10_box_actions_are_continuous_and_box_observations_are_vectors():
    for name, head in (("Pendulum-v1", Gaussian), ("CartPole-v1", Categorical)):
        cfg = resolve(name).config
        envs = InProcessBackend(lambda name=name: gym.make(name), 1, name)
        policy = Policy(envs.obs_space, envs.action_space, cfg.policy, cfg.normalize)
        assert type(policy.head) is head
    narrow = InProcessBackend(Match, 1, "Match")
    cfg = resolve("CartPole-v1").config
    policy = Policy(narrow.obs_space, narrow.action_space, cfg.policy, cfg.normalize)
    assert narrow.obs_space.shape == (1,)
    assert not any(isinstance(layer, Embedding) for layer in policy.network.actor)
    assert isinstance(policy.head, Gaussian)


def test_11_explained_variance_uses_the_values_at_collection_and_is_defined_for_constant_returns():
    practice = LearnerHarness.make("Script", CHOOSE | {"algo.lr": 0.1, "algo.gamma": 0.9})
    rollout = practice.collect()
    _, target = rollout.advantages(0.9, practice.cfg.algo.gae_lambda)
    before = explained_variance(rollout.value, target)
    values = practice.hparams
    metrics = practice.learner.algorithm.update(rollout, values, stream(0, "order")).metrics
    assert metrics["value/explained_variance"] == before
    constant = replace(rollout, reward=np.full_like(rollout.reward, 0.1), done=rollout.done | True)
    constant = replace(constant, terminated=constant.done)
    metrics = practice.learner.algorithm.update(constant, values, stream(0, "order")).metrics
    assert metrics["value/explained_variance"] == 0.0


def test_12_kl_is_never_negative():
    head, rng = Categorical(DiscreteAction(6, 0)), np.random.default_rng(0)
    old = rng.normal(0, 3, (5000, 6)).astype(np.float32)
    for step in (0.0, 1e-4, 1e-2, 1.0):
        new = old + rng.normal(0, 1, old.shape).astype(np.float32) * np.float32(step)
        assert head.kl(old, new).min() > -1e-6
    found = LearnerHarness.make("Choose", CHOOSE | {"algo.lr": 1e-5}).repeat(5)
    assert min(metrics["policy/kl"] for metrics in found) > -1e-7


def test_13_the_entropy_of_a_squashed_action_is_its_mean_negative_log_probability_also_at_its_bounds():
    head = SquashedGaussian(BoxAction((1,), (-1.0,), (1.0,)), log_std=0.0)
    for mean in (0.0, 3.0, 9.0):
        dist = np.tile(np.array([mean, 0.0], np.float32), (50_000, 1))
        action = head.sample(dist, head.noise(stream(5, "noise"), (50_000,)))
        neg_logprob = -head.logprob(dist, action)
        assert np.isfinite(neg_logprob).all()
        assert head.entropy(dist[:1]) == pytest.approx(neg_logprob.mean(dtype=np.float64), abs=0.05)


@pytest.mark.parametrize("mean", [0.0, 3.0, -8.0])
def test_13_log_probability_and_entropy_of_squashed_actions_use_the_same_density(mean: float):
    """Entropy is the mean negative log-probability, also where tanh is flat in float32."""
    head = SquashedGaussian(BoxAction((1,), (-1.0,), (1.0,)), log_std=0.0)
    dist = np.tile(np.array([mean, -0.5], np.float32), (100_000, 1))
    drawn = head.sample(dist, head.noise(stream(0, "trap"), (len(dist),)))
    neg_logprob = -head.logprob(dist, drawn).astype(np.float64)
    assert np.isfinite(neg_logprob).all()
    error = 5 * neg_logprob.std() / np.sqrt(len(neg_logprob)) + 1e-3
    assert abs(float(head.entropy(dist[:1])[0]) - neg_logprob.mean()) < error


# 14, potentials that change the optimal policy: tests/shaping/test_potential.py


def test_15_solved_best_and_early_stop_use_the_raw_return_only():
    """The shaped rewards are huge, and favor wrong actions over right ones."""
    settings = CHOOSE | {"stop.rollouts": 24, "eval.every": "4 rollouts", "checkpoint.every": "off"}
    settings |= {"checkpoint.keep": 20, "facts.threshold": 100.0, "stop.solved": "on"}
    settings |= {"stop.train_return": 100, "stop.eval_return": 100}
    for name in ("fortune", "spite"):
        settings[f"shaping.{name}.term"] = f"py:tests.shaping.own_terms:{name}"
    run = train_small("Choose", settings)
    assert run.info["clocks"]["rollouts"] == 24  # nothing stopped it
    assert run.info["solved"] is False
    assert all(row["shaping/fortune"] == 1000 for row in rows(run) if "shaping/fortune" in row)
    train = [row["episode/return"] for row in rows(run) if "rollout/reward_mean" in row]
    assert max(train) <= 8.0
    scored = {
        int(row["eval:clock/env_steps"]): row["eval:episode/return"]
        for row in rows(run)
        if "eval:episode/return" in row
    }
    assert scored[24 * 128] < 1.0  # what was asked for was learned
    best = max(scored, key=lambda version: scored[version])
    assert run.info["checkpoints"]["best"] == best < 24 * 128
    assert run.info["score"]["mean"] <= 8.0


@pytest.mark.parametrize("engine", ["native", "torch"])
def test_16_states_are_reset_at_episode_starts_and_sequences_begin_with_the_state_they_had(
    engine: str,
):
    """Every row of every minibatch gets the log-probability with which it was collected: the policy has not
    changed. Without a reset inside a sequence, or without the state before it, it would get another one."""
    settings = CHOOSE | {"policy.memory": "lstm:8", "policy.bptt": 5, "engine": engine}
    practice = LearnerHarness.make("Script", settings)
    rng = np.random.default_rng(0)
    for view in practice.learner.policy.parameters.views.values():
        view += rng.normal(0, 0.5, view.shape).astype(np.float32)
    practice.collect()
    practice.clock.rollouts += 1
    rollout = practice.collect()
    assert rollout.memory is not None
    assert rollout.sequences is not None
    inside = np.setdiff1d(np.arange(16), rollout.sequences[:, 1])
    assert rollout.start[inside].any()  # episodes start inside of sequences
    assert rollout.memory[:, ~rollout.start[0]].any()

    def largest_ratio(changed: Rollout) -> float:
        still = replace(practice.hparams, lr=0.0, epochs=1)
        update = practice.learner.algorithm.update(changed, still, stream(0, "order"))
        return update.metrics["policy/ratio_max"]

    assert largest_ratio(rollout) == pytest.approx(1.0, abs=1e-4)
    assert largest_ratio(replace(rollout, memory=np.zeros_like(rollout.memory))) > 1.001
    assert largest_ratio(replace(rollout, start=np.zeros_like(rollout.start))) > 1.001


def test_17_minibatches_are_a_new_partition_in_every_epoch():
    passes = MinibatchPlan.shuffled(4, 64, 16, stream(0, "batch", "agent", 0), None)
    epochs = [[frozenset(b.tolist()) for b in passes.minibatches(order)] for order in passes.orders]
    assert len({frozenset(batches) for batches in epochs}) == 4
    assert all(frozenset.union(*batches) == frozenset(range(64)) for batches in epochs)
