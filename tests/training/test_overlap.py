"""`collect.mode: overlap`: learning while collecting, always one update behind, and resumed exactly."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from gymnast.errors import ConfigError
from gymnast.runs import checkpoint
from gymnast.training import update
from tests.small_runs import assert_same_run, copy_killed_at, resume_run, rows, train_small
from tests.training.test_resuming import EVERYTHING, ROLLOUT

OVERLAP = EVERYTHING | {"collect.mode": "overlap"}


@pytest.mark.parametrize("engine", ["native", "torch"])
def test_an_overlapped_run_killed_anywhere_resumes_bit_exactly(engine: str):
    settings = OVERLAP | {"engine": engine}
    whole = train_small("CartPole-v1", settings)
    assert_same_run(train_small("CartPole-v1", settings), whole)
    for step in (0, 3 * ROLLOUT):
        assert_same_run(resume_run(copy_killed_at(whole, step)), whole)


def test_the_update_uses_the_previous_rollout():
    plain, overlapped = (
        rows(
            train_small(
                "CartPole-v1", EVERYTHING | {"collect.mode": way, "stop.env_steps": 4 * ROLLOUT}
            )
        )
        for way in ("sync", "overlap")
    )
    seen = [[row.get("value/mean") for row in run] for run in (plain, overlapped)]
    assert seen[1][0] is None  # there was no rollout before the first
    assert seen[1][1] == seen[0][0]  # the same rollout, one iteration later
    assert [row["clock/env_steps"] for row in plain] == [
        row["clock/env_steps"] for row in overlapped
    ]


def test_a_checkpoint_contains_the_waiting_rollout_and_the_run_may_resume_without_overlap():
    run = train_small("Script", OVERLAP)
    going = copy_killed_at(run, 3 * ROLLOUT)
    stored = checkpoint.latest(going.path).tensors("waiting")
    assert stored["agent/reward"].size == ROLLOUT
    assert "waiting" not in checkpoint.latest(train_small("Script", EVERYTHING).path).stems
    resume_run(going, {"collect.mode": "sync"})
    assert "waiting" not in checkpoint.latest(going.path).stems
    (event,) = [e for e in going.events() if e["kind"] == "resumed"]
    assert not event["bit_exact"]


def test_the_update_runs_in_its_own_thread_and_its_errors_are_raised_by_the_loop(
    monkeypatch: pytest.MonkeyPatch,
):
    where: list[str] = []
    learn = update.update_roles

    def failing(session, rollouts, values):
        where.append(threading.current_thread().name)
        if len(where) == 3:
            raise FloatingPointError("in the update")
        return learn(session, rollouts, values)

    monkeypatch.setattr("gymnast.training.loop.update_roles", failing)
    with pytest.raises(FloatingPointError, match="in the update"):
        train_small("CartPole-v1", OVERLAP)
    assert all(name.startswith("learning") for name in where)
    assert not [t for t in threading.enumerate() if t.name.startswith("learning")]


@pytest.mark.parametrize("algo", ["a2c", "reinforce"])
def test_an_algorithm_without_off_policy_correction_is_refused(algo: str):
    with pytest.raises(
        ConfigError, match=r"collect.mode.*cannot learn from rollouts of an older policy"
    ):
        train_small("CartPole-v1", {"collect.mode": "overlap"}, algo=algo)


def test_a_waiting_rollout_of_composite_observations_is_stored_in_a_checkpoint_unchanged():
    from gymnast.rollout import Rollout
    from gymnast.runs.tensors import pack, unpack
    from tests.algos.harness import IDENTITY, LearnerHarness

    practice = LearnerHarness.make(IDENTITY, {"env.kwargs": {"obs": "parts"}, "algo.n_steps": 4})
    rollout = practice.collect()
    again = Rollout.from_arrays(unpack(pack(rollout.arrays())))
    assert again.obs.dtype == rollout.obs.dtype
    assert np.array_equal(again.obs, rollout.obs)
    assert again.mask is None
    assert np.array_equal(again.next_obs(), rollout.next_obs())


def test_weights_loaded_from_another_run_act_from_the_first_rollout():
    parent = train_small("CartPole-v1", EVERYTHING)
    plain, overlapped = (
        rows(
            train_small("CartPole-v1", EVERYTHING | {"seed": 9, "collect.mode": way}, source=parent)
        )
        for way in ("sync", "overlap")
    )
    assert overlapped[1]["value/mean"] == plain[0]["value/mean"]
