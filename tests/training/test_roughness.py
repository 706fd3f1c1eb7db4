"""Problems around a run are reported and do not damage the run."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from gymnast.config.resolve import resolve
from gymnast.errors import ConfigError, EnvError
from gymnast.evaluation.jobs import ProcessEvaluation
from gymnast.evaluation.scores import Scores
from gymnast.jobs.groups import group_result
from gymnast.metrics.score import RunScore
from gymnast.runs.run import Run
from gymnast.runs.summary import RunSummary
from gymnast.training.learner import Learner
from gymnast.training.lifecycle.prepare import prepare
from tests.e2e.commands import run_checked, run_gymnast, run_json
from tests.small_runs import resume_run, train_small
from tests.waiting import PATIENCE

TINY = {"env.n_envs": 2, "algo.n_steps": 32, "stop.rollouts": 2, "eval.every": "1 rollouts"}


def test_observation_statistics_of_another_environment_are_loaded_completely_or_not_at_all():
    settings = {"normalize.obs": "running", "policy.hidden": [16]}
    parent = train_small("CartPole-v1", TINY | settings)
    child = train_small("Acrobot-v1", TINY | settings, source=parent)
    (event,) = [e for e in child.events() if e["kind"] == "weights loaded"]
    owners = {name.rpartition(".")[0] for name in event["taken"]}
    assert owners.isdisjoint({name.rpartition(".")[0] for name in event["fresh"]})
    assert "normalize.obs" not in owners
    assert "critic.2" in owners  # the last layer has the same shape in both


def test_static_normalization_uses_declared_ranges_from_the_start():
    declared = [{"name": n, "low": -5, "high": 5} for n in "abcd"]
    settings = {"normalize.obs": "static", "facts.observations": declared}
    prepared = prepare("CartPole-v1", settings)
    assert prepared.preflight().parameters
    prepared.collector.close()


def test_minibatches_of_one_step_with_normalized_advantages_are_refused():
    with pytest.raises(ConfigError, match="batch_size"):
        resolve("CartPole-v1", {"algo.batch_size": 1})
    assert resolve("CartPole-v1", {"algo.batch_size": 1, "algo.advantage_norm": "off"})


def test_a_resume_that_fails_leaves_the_run_unchanged():
    run = train_small("CartPole-v1", TINY)
    before = run.config()
    with pytest.raises(ConfigError, match="Discrete"):
        resume_run(run, {"eval.starts": "all", "stop.rollouts": 4})
    assert run.config() == before
    assert run.info["status"] == "finished"
    resume_run(run, {"stop.rollouts": 4})
    assert run.info["clocks"]["rollouts"] == 4


@pytest.mark.parametrize("harm", ["truncated", "missing", "emptied"])
def test_a_lost_metric_record_is_reported_and_the_run_continues(harm: str):
    run = train_small("CartPole-v1", TINY)
    file = run.path / "metrics.db"
    if harm == "missing":
        file.unlink()
    elif harm == "emptied":
        file.write_bytes(b"")
    else:
        file.write_bytes(file.read_bytes()[:5000])
        assert run_json(run.path.parent, "show", run.id)["evaluations"] == []
    resume_run(run, {"stop.rollouts": 4})
    assert "record restarted" in {event["kind"] for event in run.events()}
    assert run.rows()["clock/rollouts"].iloc[-1] == 4
    assert len(list(run.path.glob("metrics.damaged-*"))) == (harm == "truncated")


@contextmanager
def submitted(target: str, settings: dict[str, Any]) -> Iterator[tuple[ProcessEvaluation, Scores]]:
    """Yields an evaluation that is running in its process, and the scores."""
    prepared = prepare(target, settings)
    cfg = prepared.resolved.config
    policy = Learner("agent", *prepared.collector.spaces["agent"], cfg).policy
    evaluating = ProcessEvaluation(cfg, print)
    scores = Scores(evaluating, None)
    scores.submit({"agent": policy}, 0)
    yield evaluating, scores
    evaluating.close()
    prepared.collector.close()


def kill(evaluating: ProcessEvaluation) -> None:
    assert evaluating._child is not None
    os.kill(evaluating._child.pid, signal.SIGKILL)


def test_a_dead_evaluation_process_is_replaced_and_gives_the_same_result():
    with submitted("CartPole-v1", {"eval.episodes": 2}) as (_, scores):
        expected = scores.wait_for_result(lambda: False)
    with submitted("CartPole-v1", {"eval.episodes": 2}) as (evaluating, scores):
        kill(evaluating)
        found = scores.wait_for_result(lambda: False)
    assert expected is not None
    assert found is not None
    assert found.returns == expected.returns


def test_with_on_fault_stop_a_dead_evaluation_process_is_an_error():
    settings = {"eval.episodes": 2, "env.on_fault": "stop"}
    with submitted("CartPole-v1", settings) as (evaluating, scores):
        kill(evaluating)
        with pytest.raises(EnvError, match="evaluation process died with exit code -9"):
            scores.wait_for_result(lambda: False)


@pytest.mark.slow
def test_an_evaluation_that_hangs_is_restarted_and_given_up_in_the_end():
    settings = {"env.kwargs": {"how": "hangs"}, "env.timeout": 0.5, "env.max_faults": 2}
    settings["facts.deterministic"] = "yes"  # or it would be tried in this process
    silent = pytest.raises(EnvError, match="evaluation process did not respond for")
    with submitted("py:tests.scripted:Trouble", settings) as (_, scores), silent:
        scores.wait_for_result(lambda: False)


def test_sigterm_to_the_whole_process_group_is_an_interruption(tmp_path: Path):
    words = ["train", "CartPole-v1", "--env-steps", "50M", "--name", "long"]
    words += ["--set", "eval.wait=on", "--set", "eval.every=2 rollouts"]
    process = subprocess.Popen(
        [sys.executable, "-m", "gymnast", *words, "--runs", str(tmp_path)],
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None
    while "eval:episode/return" not in process.stdout.readline():
        assert process.poll() is None
    os.killpg(process.pid, signal.SIGTERM)
    process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert run_json(tmp_path, "show", "long")["status"] == "stopped"


def test_a_group_counts_only_finished_seeds():
    score = RunScore(10.0, 9.0, 11.0, 100)
    seeds = [
        RunSummary("a", "runs/a", "finished", 0.0, seed=0, score=score, solved=True),
        RunSummary("b", "runs/b", "failed", 0.0, seed=1, score=score),
    ]
    result = group_result(seeds)
    assert result.scored == 1
    assert result.mean == 10.0


def test_every_command_accepts_the_runs_directory(tmp_path: Path):
    run_checked(tmp_path, "presets")
    run_checked(tmp_path, "metrics")
    run_checked(tmp_path, "config", "check")


def test_one_episode_has_no_interval():
    run = train_small("CartPole-v1", TINY)
    result = run_json(run.path.parent, "eval", run.id, "--episodes", "1")
    assert result["low"] is None
    assert "no interval" in run_checked(run.path.parent, "eval", run.id, "--episodes", "1")


@pytest.mark.parametrize(
    ("name", "said"), [("Unmakeable", "cannot be created"), ("Talks", "not a number")]
)
def test_a_broken_environment_gets_one_clear_error(name: str, said: str, tmp_path: Path):
    (tmp_path / "broken.py").write_text(BROKEN)
    (tmp_path / "presets").mkdir()
    preset = "metrics: {env/said: {source: word, description: A word.}}\nvariants: {ppo: {}}\n"
    (tmp_path / "presets" / f"py:broken:{name}.yaml").write_text(preset)
    done = run_gymnast(
        tmp_path / "runs", "train", f"py:broken:{name}", "--rollouts", "1", cwd=tmp_path
    )
    assert done.returncode == 1, done.stderr
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_a_run_with_schedules_over_seconds_is_not_repeatable():
    settings = {"algo.lr": "1e-3 -> 0 @ 0..10 clock seconds"}
    assert Run(train_small("CartPole-v1", TINY | settings).path).info["repeatable"] is False
    assert train_small("CartPole-v1", TINY).info["repeatable"] is True


BROKEN = """
import gymnasium as gym
import numpy as np


class Unmakeable(gym.Env):
    def __init__(self):
        raise RuntimeError("no licence")


class Talks(gym.Env):
    observation_space = gym.spaces.Box(-1, 1, (2,), np.float32)
    action_space = gym.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        return np.zeros(2, np.float32), {}

    def step(self, action):
        return np.zeros(2, np.float32), 1.0, True, False, {"word": "hello"}
"""
