"""Scoring a policy on a list of seeds: each episode depends on policy and seed, and on nothing else."""

from __future__ import annotations

import math
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from gymnast.config import presets
from gymnast.config.resolve import resolve
from gymnast.envs.backends.inprocess import InProcessBackend
from gymnast.errors import ConfigError, EnvError
from gymnast.evaluation.episodes import EpisodePlan
from gymnast.evaluation.evaluate import Evaluator, find_all_starts
from gymnast.evaluation.jobs import open_evaluator
from gymnast.policy.policy import Policy
from tests.scripted import Flaky, length_of, reward_of


def evaluator_of(env: str, overrides: dict[str, Any] | None = None) -> Evaluator:
    target = env if "-v" in env else f"py:tests.scripted:{env}"
    return Evaluator(resolve(target, {"stop.env_steps": 1000} | (overrides or {})).config)


def policy_for(evaluator: Evaluator, seed: int = 0) -> Policy:
    cfg, envs = evaluator.cfg, evaluator.envs
    policy = Policy(envs.obs_space, envs.action_space, cfg.policy, cfg.normalize)
    policy.initialize(seed, "agent")
    return policy


def test_returns_match_the_script_in_the_order_of_the_seeds():
    evaluator = evaluator_of("Script", {"eval.episodes": 30, "eval.n_envs": 7})
    plan = evaluator.plan("eval")
    found, traces = evaluator.evaluate(policy_for(evaluator), 99, plan)
    assert found.seeds == plan.seeds
    assert found.version == 99
    for seed, value, length, trace in zip(
        found.seeds, found.returns, found.lengths, traces, strict=True
    ):
        assert length == length_of(seed)
        assert value == math.fsum(reward_of(seed, t) for t in range(1, length + 1))
        assert (trace.seed, trace.raw_return, len(trace)) == (seed, value, length)


@pytest.mark.parametrize("env", ["Choose", "Match"])
@pytest.mark.parametrize("deterministic", [True, False], ids=["greedy", "sampled"])
def test_the_number_of_copies_does_not_change_an_evaluation(env: str, deterministic: bool):
    results = []
    for n_envs in (1, 3, 20):
        evaluator = evaluator_of(env, {"eval.n_envs": n_envs})
        plan = EpisodePlan(tuple(range(12)), deterministic=deterministic)
        results.append(evaluator.evaluate(policy_for(evaluator), 0, plan)[0].returns)
    assert np.allclose(results[0], results[1], atol=1e-5)
    assert np.allclose(results[0], results[2], atol=1e-5)


def test_an_episode_does_not_depend_on_earlier_episodes():
    evaluator = evaluator_of("Choose", {"eval.n_envs": 2})
    policy = policy_for(evaluator)
    for deterministic in (True, False):
        alone = [
            evaluator.evaluate(policy, 0, EpisodePlan((seed,), deterministic=deterministic))[
                0
            ].returns[0]
            for seed in range(8)
        ]
        plan = EpisodePlan(tuple(range(8)), deterministic=deterministic)
        assert evaluator.evaluate(policy, 0, plan)[0].returns == tuple(alone)


def test_greedy_evaluation_takes_the_mode_and_sampling_uses_a_stream_per_seed():
    evaluator = evaluator_of("Choose")
    policy = policy_for(evaluator)
    plan = EpisodePlan(tuple(range(40)))
    _, traces = evaluator.evaluate(policy, 0, plan)
    assert all(np.array_equal(t.action, policy.head.mode(t.dist)) for t in traces)
    sampled = EpisodePlan(plan.seeds, deterministic=False)
    first, second = (evaluator.evaluate(policy, 0, sampled)[1] for _ in range(2))
    assert all(np.array_equal(a.action, b.action) for a, b in zip(first, second, strict=True))
    drawn = np.bincount(np.concatenate([t.action for t in first]), minlength=4)
    assert (drawn > 40 * 8 / 4 * 0.6).all()  # close to uniform, as the initial policy is


def test_evaluating_changes_neither_policy_nor_statistics():
    evaluator = evaluator_of("Match", {"normalize.obs": "running", "normalize.value": "popart"})
    policy = policy_for(evaluator)
    before = policy.arrays()
    evaluator.evaluate(policy, 0, evaluator.plan("eval"))
    after = policy.arrays()
    assert all(np.array_equal(before[name], after[name]) for name in before)


def test_taxi_has_300_starts_and_each_is_played_once():
    evaluator = evaluator_of("Taxi-v4")
    plan = evaluator.plan("eval")
    assert plan.exact
    assert len(plan.seeds) == 300
    env, firsts = gym.make("Taxi-v4"), set()
    for seed in plan.seeds:
        state = int(env.reset(seed=seed)[0])
        passenger, destination = state // 4 % 5, state % 4
        assert passenger < 4  # waiting at a stand, not in the taxi
        assert passenger != destination
        firsts.add(state)
    assert len(firsts) == 300 == 5 * 5 * 4 * 3
    assert evaluator.plan("confirm").seeds == plan.seeds


def test_the_mean_over_all_starts_has_no_interval():
    evaluator = evaluator_of("Taxi-v4", {"eval.max_episode_steps": 5})
    found = evaluator.evaluate(policy_for(evaluator), 0, evaluator.plan("eval"))[0].score()
    assert found["episodes"] == 300
    assert found["low"] == found["mean"] == found["high"]


@pytest.mark.parametrize(("slippery", "exact"), [(False, True), (True, False)])
def test_the_mean_over_all_starts_is_exact_only_without_randomness_in_the_steps(slippery, exact):
    """There is one start, but on slippery ice its episodes differ: as many are played as without
    `starts: all`."""
    lake = {"env.kwargs": {"map_name": "4x4", "is_slippery": slippery}, "eval.starts": "all"}
    evaluator = evaluator_of(
        "FrozenLake-v1", lake | {"eval.episodes": 7, "eval.confirm_episodes": 9}
    )
    plan, confirm = evaluator.plan("eval"), evaluator.plan("confirm")
    assert [len(plan.seeds), len(confirm.seeds)] == ([1, 1] if exact else [7, 9])
    assert exact or not set(plan.seeds) & set(confirm.seeds)
    assert plan.exact is exact
    score = evaluator.evaluate(policy_for(evaluator), 0, plan)[0].score()
    assert math.isfinite(score["low"])


def test_with_random_steps_every_start_is_played_equally_often():
    settings = {"eval.starts": "all", "eval.deterministic": "off", "eval.episodes": 700}
    evaluator = evaluator_of("Taxi-v4", settings | {"eval.confirm_episodes": 300})
    played, confirm = evaluator.plan("eval"), evaluator.plan("confirm")
    assert [len(played.seeds), len(confirm.seeds)] == [900, 300]  # 3 and 1 from each of 300
    assert not set(played.seeds) & set(confirm.seeds)
    env = gym.make("Taxi-v4")
    firsts = [int(env.reset(seed=seed)[0]) for seed in played.seeds]
    assert {firsts.count(first) for first in firsts} == {3}


def test_all_starts_need_discrete_observations():
    with pytest.raises(ConfigError, match="Discrete") as refused:
        find_all_starts(InProcessBackend(lambda: gym.make("CartPole-v1"), 1, "CartPole-v1"))
    assert "eval.starts=seeds" in refused.value.fix


@pytest.mark.parametrize("n_envs", [1, 3])
def test_a_plan_of_steps_starts_episodes_until_that_many_steps_are_done_and_finishes_them(
    n_envs: int,
):
    evaluator = evaluator_of("Script", {"eval.steps": 50, "eval.n_envs": n_envs})
    found, _ = evaluator.evaluate(policy_for(evaluator), 0, evaluator.plan("eval"))
    assert sum(found.lengths) >= 50
    assert sum(found.lengths) - 50 <= 7 * n_envs  # no more than what was being played
    full = evaluator_of("Script", {"eval.episodes": len(found.seeds)}).plan("eval").seeds
    assert found.seeds == full


@pytest.mark.parametrize("name", presets.all_presets())
def test_confirmation_seeds_differ_from_evaluation_seeds(name: str):
    evaluator = open_evaluator(resolve(name, {"eval.starts": "seeds"}).config)
    choose, confirm = (evaluator.plan(which).seeds for which in ("eval", "confirm"))
    assert not set(choose) & set(confirm)
    assert len(set(confirm)) == len(confirm) == evaluator.cfg.eval.confirm_episodes
    assert len(set(choose)) == len(choose) == evaluator.cfg.eval.episodes
    evaluator.close()


def test_fewer_episodes_than_copies_can_be_played_with_discrete_observations_that_start_above_zero():
    evaluator = evaluator_of("Choose", {"env.kwargs": {"first": 90}, "eval.n_envs": 8})
    found, _ = evaluator.evaluate(policy_for(evaluator), 0, EpisodePlan((1, 2)))
    assert len(found.returns) == 2


def test_the_score_of_one_episode_has_no_lower_bound():
    evaluator = evaluator_of("Script")
    found = evaluator.evaluate(policy_for(evaluator), 0, EpisodePlan((5,)))[0]
    assert found.score()["low"] == -math.inf
    row = found.row()
    assert all(math.isfinite(value) for value in row.values())


def test_an_episode_that_breaks_is_restarted_with_its_seed():
    """The environment fails now and then, in any episode."""
    evaluator = evaluator_of("Flaky", {"eval.episodes": 20, "eval.n_envs": 3})
    plain = evaluator_of("Script", {"eval.episodes": 20, "eval.n_envs": 3})
    found, _ = evaluator.evaluate(policy_for(evaluator), 0, evaluator.plan("eval"))
    expected, _ = plain.evaluate(policy_for(plain), 0, plain.plan("eval"))
    assert Flaky.broken > 3
    assert found.returns == expected.returns
    assert found.lengths == expected.lengths


def test_an_episode_that_always_breaks_is_an_error_that_names_the_cause():
    kwargs = {"how": "raises", "at": 2, "only": "all"}
    evaluator = evaluator_of("Broken", {"env.kwargs": kwargs, "facts.deterministic": "yes"})
    with pytest.raises(EnvError, match=r"step 2 .*ZeroDivisionError") as stopped:
        evaluator.evaluate(policy_for(evaluator), 0, evaluator.plan("eval"))
    assert "in _shown" in stopped.value.traceback


def test_an_episode_that_breaks_in_every_attempt_is_left_out_and_counted():
    plan = EpisodePlan(tuple(range(1, 9)))
    kwargs = {"how": "raises", "at": 2, "only": 3}
    evaluator = evaluator_of("Broken", {"env.kwargs": kwargs, "facts.deterministic": "yes"})
    found, traces = evaluator.evaluate(policy_for(evaluator), 0, plan)
    assert found.seeds == (1, 2, 4, 5, 6, 7, 8)
    assert len(traces) == 7
    assert found.row()["eval:rollout/faults"] == 1
    strict = evaluator_of("Broken", {"env.kwargs": kwargs, "env.on_fault": "stop"})
    policy = policy_for(strict)
    with pytest.raises(EnvError, match="ZeroDivisionError"):
        strict.evaluate(policy, 0, plan)
