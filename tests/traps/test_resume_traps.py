"""Regression tests for past bugs in resuming. The numbers are those of the list of traps."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.envs.classic_control.cartpole import CartPoleEnv, CartPoleVectorEnv
from gymnasium.vector import AutoresetMode, SyncVectorEnv, VectorEnv

from gymnast.envs.suites.atari import SeededCopies
from gymnast.runs import checkpoint
from gymnast.runs.run import Run
from tests.small_runs import (
    checkpoint_arrays,
    copy_killed_at,
    exact_metrics,
    resume_run,
    rows,
    same_arrays,
    train_small,
)

ROLLOUT = 2 * 8
SETTINGS = {
    "env.n_envs": 2,
    "algo.n_steps": 8,
    "stop.env_steps": 8 * ROLLOUT,
    "eval.every": "2 rollouts",
    "checkpoint.every": "1 rollouts",
    "checkpoint.keep": 20,
}


def files_of(run: Run) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in run.path.rglob("*") if path.is_file()}


def test_50_resuming_from_an_earlier_checkpoint_is_a_branch_and_the_run_stays_unchanged():
    run = train_small("CartPole-v1", SETTINGS | {"eval.max_episode_steps": 50})
    before = files_of(run)
    branch = resume_run(run, {"stop.env_steps": 5 * ROLLOUT}, at=str(3 * ROLLOUT))
    assert files_of(run) == before
    assert branch.id != run.id
    parent = {key: branch.info[key] for key in ("parent", "parent_step", "parent_kind")}
    assert parent == {"parent": run.id, "parent_step": 3 * ROLLOUT, "parent_kind": "branch"}
    assert max(checkpoint.list_checkpoints(branch.path)) == 5 * ROLLOUT
    whole = resume_run(run, at=str(3 * ROLLOUT))
    assert same_arrays(checkpoint_arrays(whole), checkpoint_arrays(run))
    assert [exact_metrics(row) for row in rows(whole)] == [exact_metrics(row) for row in rows(run)]
    (event,) = [e for e in whole.events() if e["kind"] == "resumed"]
    assert event["bit_exact"]


def cart_pole(**_: str) -> gym.Env:
    return CartPoleEnv()


def cart_poles(num_envs: int, mode: str, **_: Any) -> SyncVectorEnv:
    return SyncVectorEnv([CartPoleEnv] * num_envs, autoreset_mode=AutoresetMode(mode))


@pytest.fixture
def synced() -> Iterator[str]:
    """Returns the id of an environment whose vector implementation supports every autoreset mode."""
    gym.register("SyncedCartPole-v0", entry_point=cart_pole, vector_entry_point=cart_poles)
    yield "SyncedCartPole-v0"
    del gym.registry["SyncedCartPole-v0"]


ON_VECTORS = SETTINGS | {
    "algo.n_steps": 12,
    "stop.rollouts": 6,
    "eval.every": "off",
    "eval.max_episode_steps": 9,
    "traces.train": 1.0,
    "env.backend": "vector",
}


def resumes_exactly(whole: Run) -> None:
    """Asserts that the run, resumed from a checkpoint in the middle, ends the same and reports that."""
    run = resume_run(copy_killed_at(whole, 3 * 24))
    (event,) = [e for e in run.events() if e["kind"] == "resumed"]
    assert (event["bit_exact"], event["not_exact_because"]) == (True, [])
    assert not [e for e in run.events() if e["kind"] == "episodes restarted"]
    for stem in ("policy", "collector"):
        assert same_arrays(checkpoint_arrays(run, stem), checkpoint_arrays(whole, stem)), stem
    assert [exact_metrics(row) for row in rows(run)] == [exact_metrics(row) for row in rows(whole)]


def test_51_cart_poles_own_vector_resumes_exactly():
    resumes_exactly(train_small("CartPole-v1", ON_VECTORS))


def test_51_envpool_resumes_exactly():
    pytest.importorskip("envpool")
    resumes_exactly(train_small("CartPole-v1", ON_VECTORS | {"env.backend": "envpool"}))


def test_51_ales_vector_resumes_exactly(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(SeededCopies, "seed_every", 15)  # in the middle of what is trained
    small = {"env.workers": 1, "env.max_episode_steps": 7, "policy.hidden": [8], "stop.rollouts": 4}
    resumes_exactly(train_small("ALE/Pong-v5:pixels", ON_VECTORS | small))


@pytest.mark.parametrize("seed_every", [0, 20])
@pytest.mark.parametrize("mode", [mode.value for mode in AutoresetMode])
def test_51_a_vector_env_resumes_exactly_with_every_autoreset_mode(
    synced: str, mode: str, seed_every: int, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(SyncVectorEnv, "seed_every", seed_every, raising=False)
    resumes_exactly(train_small(synced, ON_VECTORS | {"env.kwargs": {"mode": mode}}))


def test_51_a_vector_env_with_too_many_steps_to_replay_restarts_and_is_not_called_exact(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr("gymnast.envs.backends.history.MAX_BYTES", 2 * 30)  # of 36 vector steps
    run = resume_run(copy_killed_at(train_small("CartPole-v1", ON_VECTORS), 3 * 24))
    (event,) = [e for e in run.events() if e["kind"] == "resumed"]
    assert not event["bit_exact"]
    assert ["too many steps" in why for why in event["not_exact_because"]] == [True]
    (event,) = [e for e in run.events() if e["kind"] == "episodes restarted"]
    assert event["copies"] == [0, 1]


def test_51_a_replay_that_differs_restarts_and_is_not_called_exact(
    monkeypatch: pytest.MonkeyPatch,
):
    killed = copy_killed_at(train_small("CartPole-v1", ON_VECTORS), 3 * 24)
    monkeypatch.setattr(CartPoleVectorEnv, "reset", _reset_otherwise)
    run = resume_run(killed)
    (event,) = [e for e in run.events() if e["kind"] == "resumed"]
    assert not event["bit_exact"]
    assert ["same observation" in why for why in event["not_exact_because"]] == [True]


def _reset_otherwise(env: CartPoleVectorEnv, *, seed: int | None = None, **_: object):
    VectorEnv.reset(env, seed=None if seed is None else seed + 1)
    env.state = env.np_random.uniform(-0.05, 0.05, size=(4, env.num_envs))
    env.steps = np.zeros(env.num_envs, dtype=np.int32)
    env.prev_done = np.zeros(env.num_envs, dtype=np.bool_)
    return env.state.T.astype(np.float32), {}


def test_51_episodes_that_cannot_be_replayed_are_never_called_exact():
    settings = SETTINGS | {"env.kwargs": {"length": 50}, "eval.every": "off"}
    run = resume_run(copy_killed_at(train_small("Forgetful", settings), 3 * ROLLOUT))
    (event,) = [e for e in run.events() if e["kind"] == "resumed"]
    assert not event["bit_exact"]
