"""Runs of policies with memory: exact resume in the middle of episodes, transactions, playing, matches."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import gymnast
from gymnast.clock import Clock
from gymnast.collect.matchmaking import greedy_player
from gymnast.config.resolve import resolve
from gymnast.config.section import RolloutLength
from gymnast.config.sections.transaction import TransactionConfig
from gymnast.envs.build.make import make_env
from gymnast.envs.matches.open import open_matches
from gymnast.errors import UsageError
from gymnast.evaluation.rescore import find_checkpoint, load_policy
from gymnast.play.players import TrainedPlayer
from gymnast.runs.run import Run
from gymnast.seeds import stream
from gymnast.selfplay.play import play_matches
from gymnast.training.collectors import open_collector
from gymnast.training.learner import Learner
from gymnast.training.transaction import Transaction
from tests.small_runs import (
    assert_same_run,
    checkpoint_arrays,
    copy_killed_at,
    resume_run,
    rows,
    same_arrays,
    traces,
    train_small,
)
from tests.training.test_resuming import EVERYTHING, ROLLOUT
from tests.training.test_roles import EVERYTHING as EVERYTHING_OF_MATCHES
from tests.training.test_roles import ROLLOUT as MATCH_ROLLOUT
from tests.training.test_roles import TAG

MEMORY = {"policy.memory": "lstm:6", "policy.bptt": 5, "policy.burn_in": 2}
WAYS: dict[str, dict[str, Any]] = {
    "native": {"engine": "native"},
    "torch": {"engine": "torch"},
    "gru": {"policy.memory": "gru:6x2", "policy.memory_shared": "on"},
    "overlap": {"collect.mode": "overlap"},
    "processes": {"env.backend": "process", "env.workers": 2},
    "vector": {"env.backend": "vector", "env.max_episode_steps": "auto"},
}


@pytest.mark.parametrize("way", WAYS)
def test_stopping_in_the_middle_of_episodes_and_resuming_equals_never_having_stopped(way: str):
    whole = train_small("CartPole-v1", EVERYTHING | MEMORY | WAYS[way])
    killed = copy_killed_at(whole, 3 * ROLLOUT)
    stored = checkpoint_arrays(killed, "collector")
    assert stored["policy_state"][~stored["start"].astype(bool)].any()  # episodes are under way
    assert_same_run(resume_run(killed), whole)
    (event,) = [e for e in killed.events() if e["kind"] == "resumed"]
    assert event["bit_exact"]


def test_a2c_with_memory_resumes_exactly():
    settings = {k: v for k, v in EVERYTHING.items() if k != "algo.clip"}
    whole = train_small("CartPole-v1", settings | MEMORY, algo="a2c")
    assert_same_run(resume_run(copy_killed_at(whole, 3 * ROLLOUT)), whole)


def test_the_state_of_the_checkpoint_matters_on_resume(monkeypatch: pytest.MonkeyPatch):
    """A resumed run that forgot the states of its episodes would not be the same run."""
    whole = train_small("CartPole-v1", EVERYTHING | MEMORY)
    killed = copy_killed_at(whole, 3 * ROLLOUT)
    from gymnast.collect.vector import VectorCollector

    load = VectorCollector.load

    def forgetful(self: VectorCollector, arrays: dict[str, np.ndarray]) -> dict[int, str]:
        return load(self, {n: a for n, a in arrays.items() if n != "policy_state"})

    monkeypatch.setattr(VectorCollector, "load", forgetful)
    with pytest.raises(AssertionError):
        assert_same_run(resume_run(killed), whole)


def test_worker_processes_collect_the_same_as_this_process():
    settings = EVERYTHING | MEMORY | {"stop.env_steps": 4 * ROLLOUT}
    here, there = (
        checkpoint_arrays(train_small("CartPole-v1", settings | {"env.backend": backend}))
        for backend in ("inprocess", "process")
    )
    assert same_arrays(here, there)


# ---- self-play -----------------------------------------------------------------------------------


def test_recurrent_learners_and_their_past_selves_resume_exactly_in_the_middle_of_matches():
    settings = (
        TAG | EVERYTHING_OF_MATCHES | MEMORY | {"roles.seeker.set": {"policy.memory": "gru:5"}}
    )
    whole = train_small("tag", settings)
    killed = copy_killed_at(whole, 6 * MATCH_ROLLOUT)
    stored = checkpoint_arrays(killed, "collector")
    assert stored["seeker/policy_state"].shape[1] == 2 * 5  # actor and critic
    assert any(name.endswith("/opponent_state") for name in stored)
    assert_same_run(resume_run(killed), whole)


def test_a_match_depends_on_its_seed_and_not_on_the_matches_next_to_it():
    whole = train_small("tag", TAG | MEMORY | {"stop.env_steps": 2 * MATCH_ROLLOUT})
    saved = find_checkpoint(str(whole.path), None)[1]
    players = {role: greedy_player(load_policy(saved, role)) for role in ("seeker", "hider")}
    names = dict.fromkeys(players, "learner")

    def actions(seeds: list[int], slots: int) -> dict[int, list[np.ndarray]]:
        matches = open_matches(whole.config(), slots)
        played = play_matches(matches, players, names, seeds)
        matches.close()
        return {m.seed: list(m.trace.actions.values()) for m in played}

    few, many = actions([3, 4], 2), actions([9, 8, 3, 7, 4], 2)
    for seed in (3, 4):
        assert all(np.array_equal(a, b) for a, b in zip(few[seed], many[seed], strict=True))


# ---- updates -------------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ["native", "torch"])
def test_an_update_that_overflows_is_rolled_back_and_the_states_stay_those_of_the_collector(
    engine: str,
):
    settings = {"env.n_envs": 4, "algo.n_steps": 32, "engine": engine, **MEMORY}
    cfg = resolve("CartPole-v1", settings).config
    collector = open_collector(cfg)
    learner, clock = (
        Learner("agent", *collector.spaces["agent"], cfg),
        Clock(limits={"env_steps": 1000}),
    )
    collector.start_episodes()
    rollout = collector.collect({"agent": learner.policy}, RolloutLength(32), clock).rollouts[
        "agent"
    ]
    before, states = learner.policy.arrays(), collector.state()["policy_state"]
    values = replace(cfg.algo.values_at(clock), lr=1e30)  # type: ignore[call-arg]
    result = Transaction(TransactionConfig()).update(
        learner, rollout, values, lambda: stream(0, "order")
    )
    assert [incident.dropped for incident in result.incidents] == [False, True]
    after = learner.policy.arrays()
    assert all(np.array_equal(before[name], after[name]) for name in before)
    assert np.array_equal(collector.state()["policy_state"], states)
    collector.close()


# ---- playing -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    settings = EVERYTHING | MEMORY | {"env.hide": [1, 3]}
    return train_small("CartPole-v1", settings, runs_dir=tmp_path_factory.mktemp("runs"))


def test_the_policy_plays_the_episodes_of_an_evaluation_again_from_an_empty_memory(
    run: Run,
):
    step, episodes = max(traces(run, "eval").items())
    policy = load_policy(find_checkpoint(f"{run.path}:{step}", None)[1])
    player, played = gymnast.load(f"{run.path}:{step}"), TrainedPlayer(policy, sampled=False)
    env = make_env(run.config().env)
    for trace in episodes:
        obs, _ = env.reset(seed=trace.seed)
        player.reset()
        played.start_episode(0)
        seen = []
        for action in trace.action:
            seen.append(obs)
            assert player.act(obs) == played.decide(obs).action == action
            obs = env.step(action)[0]
        shown = np.stack(seen)
        assert shown.shape[1] == 2  # velocities are hidden
        states = policy.unroll(shown)[:-1]
        assert np.allclose(policy.dist(shown, None, states), trace.dist, atol=1e-5)
        assert np.allclose(policy.value(shown, states), trace.value, atol=1e-4)


def test_a_batch_of_episodes_has_one_memory_each_and_ended_ones_start_anew(run: Run):
    single, batch = gymnast.load(run), gymnast.load(run)
    obs = np.random.default_rng(0).normal(0, 0.1, (6, 3, 2)).astype(np.float32)
    values = []
    for t, row in enumerate(obs):
        if t == 3:
            batch.reset([False, True, False])
        values.append(batch.value(row))
        batch.act(row)
    for copy, first in ((0, 0), (1, 3), (2, 0)):
        single.reset()
        for t in range(first, 6):
            assert single.value(obs[t, copy]) == pytest.approx(values[t][copy], abs=1e-4)  # type: ignore[index]
            single.act(obs[t, copy])


def test_misuse_of_a_player_with_memory_is_an_error(run: Run):
    player = gymnast.load(run)
    player.act(np.zeros((3, 2), np.float32))
    with pytest.raises(UsageError, match=r"in the middle of 3 episodes, not of 1"):
        player.act(np.zeros(2, np.float32))
    with pytest.raises(UsageError, match=r"reset got 2 flags for 3 episodes"):
        player.reset([True, False])
    player.reset()
    player.act(np.zeros(2, np.float32))


def test_the_effect_of_memory_is_a_metric_of_policies_with_memory_only(run: Run):
    assert all(row["policy/memory_effect"] > 0 for row in rows(run) if "policy/kl" in row)
    without = train_small("CartPole-v1", EVERYTHING | {"stop.env_steps": ROLLOUT})
    assert "policy/memory_effect" not in rows(without)[0]
