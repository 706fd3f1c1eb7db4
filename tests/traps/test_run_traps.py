"""Regression tests for past bugs of runs. The numbers are those of the list of traps."""

from __future__ import annotations

import errno
import os
import shutil
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import gymnasium as gym
import numpy as np
import pytest

from gymnast.errors import GymnastError
from gymnast.evaluation.rescore import load_policy
from gymnast.jobs import detach, status
from gymnast.runs import checkpoint, store
from gymnast.runs.run import Run
from gymnast.seeds import episode_seed
from gymnast.training.request import TrainRequest
from tests.scripted import Alarm
from tests.small_runs import (
    copy_killed_at,
    evaluations,
    exact_metrics,
    resume_run,
    rows,
    traces,
    train_small,
)

ROLLOUT = 2 * 8
SETTINGS = {
    "env.n_envs": 2,
    "algo.n_steps": 8,
    "stop.env_steps": 8 * ROLLOUT,
    "algo.lr": "1e-3 -> 0",
    "eval.every": "2 rollouts",
    "checkpoint.every": "3 rollouts",
    "checkpoint.keep": 20,
}


@pytest.fixture
def alarm() -> Iterator[type[Alarm]]:
    yield Alarm
    Alarm.after, Alarm.number = None, signal.SIGTERM


def test_18_schedules_are_part_of_the_config_and_continue_after_a_resume():
    whole = train_small("Script", SETTINGS)
    assert str(whole.config().algo.lr) == "0.001 -> 0"
    run = resume_run(copy_killed_at(whole, 4 * ROLLOUT))
    found = [row["hyper/lr"] for row in rows(run) if "hyper/lr" in row]
    assert found == pytest.approx([1e-3 * (1 - k / 8) for k in range(8)])


def test_19_a_checkpoint_is_written_without_evaluation_at_the_end_of_the_budget_and_on_a_signal(
    alarm,
):
    alone = SETTINGS | {"eval.every": "off", "checkpoint.every": "off"}
    assert list(checkpoint.list_checkpoints(train_small("Script", alone).path)) == [0, 8 * ROLLOUT]
    alarm.after = 3 * ROLLOUT + 5
    run = train_small("Alarm", alone | {"facts.deterministic": "yes"})
    assert run.info["status"] == "stopped"
    assert checkpoint.latest(run.path).step == 4 * ROLLOUT


def test_20_a_resumed_run_repeats_no_rollout_keeps_its_best_score_and_continues_to_be_evaluated():
    settings = SETTINGS | {"normalize.obs": "running", "normalize.reward": "running"}
    whole = train_small("CartPole-v1", settings | {"eval.max_episode_steps": 50})
    killed = copy_killed_at(whole, 6 * ROLLOUT)
    best = checkpoint.latest(killed.path).document("state")["scores"]["best"]
    run = resume_run(killed)
    learned = [row for row in rows(run) if "policy/loss" in row]
    assert [row["clock/rollouts"] for row in learned] == list(range(1, 9))  # none twice, none lost
    assert [row["clock/env_steps"] for row in learned] == [k * ROLLOUT for k in range(1, 9)]
    assert [exact_metrics(row) for row in rows(run)] == [exact_metrics(row) for row in rows(whole)]
    assert evaluations(run) == evaluations(whole)
    assert run.info["checkpoints"]["best"] == whole.info["checkpoints"]["best"]
    final = checkpoint.latest(run.path).document("state")["scores"]["best"]
    assert final["low"] >= best["low"]
    counts = [row["normalize/obs_count"] for row in learned]
    assert counts == [k * ROLLOUT for k in range(1, 9)]


def test_21_every_score_is_received_once_in_order_and_belongs_to_the_snapshot_it_names():
    settings = SETTINGS | {"eval.every": "1 rollouts", "eval.mode": "process", "stop.solved": "off"}
    run = train_small("CartPole-v1", settings | {"eval.max_episode_steps": 50})
    versions = [version for _, version in evaluations(run)]
    assert versions == [k * ROLLOUT for k in range(1, 9)]
    env = gym.make("CartPole-v1", max_episode_steps=50)
    for version, (episode, *_) in traces(run, "eval").items():
        assert episode.version == version
        policy = load_policy(checkpoint.find(run.path, version))
        obs, _ = env.reset(seed=episode.seed)
        for action, dist in zip(episode.action, episode.dist, strict=True):
            assert np.allclose(policy.dist(obs[None])[0], dist, atol=1e-5)
            obs = env.step(int(action))[0]


def test_22_a_save_that_fails_at_any_step_leaves_the_previous_checkpoint_as_the_latest(monkeypatch):
    run = train_small("Script", SETTINGS | {"stop.rollouts": 3})
    before = checkpoint.latest(run.path)
    tensors, documents = {"policy": before.tensors("policy")}, {"state": before.document("state")}

    def no_room(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    for call in ("rename", "replace", "fsync", "open"):
        with monkeypatch.context() as broken:
            broken.setattr(os, call, no_room)
            with suppress(GymnastError, OSError):
                given = {"tensors": tensors, "documents": documents, "reason": "test"}
                checkpoint.write(run.checkpoints, before.step + 1, **given)
        latest = checkpoint.latest(run.path)
        assert latest.step in (before.step, before.step + 1)
        assert latest.tensors("policy").keys() == before.tensors("policy").keys()
        shutil.rmtree(run.checkpoints / f"{before.step + 1:012d}", ignore_errors=True)


def test_23_runs_that_start_together_get_directories_of_their_own(runs_dir):
    """The index lists all of them."""
    settings = SETTINGS | {"stop.rollouts": 1, "eval.every": "off"}
    with ThreadPoolExecutor(3) as pool:
        given = {"config_text": "seed: 0", "preset": "X-v0:ppo", "seed": 0, "provenance": {}}
        made = list(pool.map(lambda _: Run.create(runs_dir, **given), range(12)))
    assert len({run.path for run in made}) == 12
    run = train_small("Script", settings)
    assert {found.id for found in store.list_runs(runs_dir)} == {r.id for r in (*made, run)}


def test_24_a_fault_in_a_worker_is_reported_with_its_cause_at_the_step_where_it_happens():
    process = {"env.backend": "process", "env.workers": 1, "facts.deterministic": "yes"}
    settings = SETTINGS | process | {"stop.rollouts": 2, "eval.every": "off"}
    only = episode_seed(0, "episode", "agent", 0, 0)
    for how, cause in {"raises": "ZeroDivisionError", "nan reward": "the reward is nan"}.items():
        kwargs = {"how": how, "at": 3, "only": only}
        run = train_small("Broken", settings | {"env.kwargs": kwargs})
        (fault,) = [event for event in run.events() if event["kind"] == "fault"]
        assert (fault["copy"], fault["step"], fault["rollouts"]) == (0, 3, 1)
        assert cause in fault["what"]


def test_25_an_interrupt_before_training_starts_nothing(alarm, runs_dir):
    """Sends Ctrl-C while the environment is tested for reproducible episodes."""
    alarm.after, alarm.number = 3, signal.SIGINT
    with pytest.raises(KeyboardInterrupt):
        train_small("Alarm", SETTINGS)
    assert not runs_dir.exists()


def test_40_a_background_training_is_identified_by_its_run_id_and_its_end_by_stored_data(
    runs_dir, tmp_path, monkeypatch
):
    program = tmp_path / "python"
    program.write_text("#!/bin/sh\nprintf 'Early stopping!' >&2\nexit 3\n")
    program.chmod(0o755)
    monkeypatch.setattr(detach.sys, "executable", str(program))
    jobs = [
        detach.start_job(TrainRequest("A", seed=0), runs_dir=runs_dir, limit=9) for _ in range(3)
    ]
    assert len({job.id for job in jobs}) == 3, "each has a directory of its own"
    assert [job.status for job in jobs] == ["started"] * 3
    ended = [*status.wait([job.id for job in jobs], runs_dir)]
    assert {job.status for job in ended} == {"lost"}, "whatever it printed"


def test_37_a_batch_of_one_is_one_transition_and_a_share_follows_the_number_of_copies():
    def updates(batch_size: int | str, n_envs: int) -> float:
        settings = SETTINGS | {"algo.batch_size": batch_size, "env.n_envs": n_envs}
        settings |= {"stop.env_steps": n_envs * 8, "algo.epochs": 1, "eval.every": "off"}
        settings |= {"algo.advantage_norm": "rollout"}
        run: Run = train_small("Script", settings)
        return rows(run)[0]["clock/updates"]

    assert updates(1, 2) == 16
    assert updates("25%", 2) == updates("25%", 6) == 4
    assert updates(8, 2) == 2
    assert updates(8, 6) == 6
