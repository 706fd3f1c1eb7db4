"""A run that crashed after it decided to stop ends for the same reason on resume, without more training."""

from __future__ import annotations

from pathlib import Path

from gymnast.metrics.sinks.console import Console
from gymnast.training.collectors import open_collector
from gymnast.training.lifecycle.resume import resume
from gymnast.training.python_api import train

SETTINGS = {
    "stop.env_steps": 4096,
    "stop.eval_return": 1.0,  # the first result ends it
    "eval.every": "1 rollouts",
    "eval.episodes": 2,
    "eval.confirm_episodes": 2,
    "eval.mode": "inline",
}


def quiet(metrics, _cfg):
    return Console(metrics, quiet=True)


def test_a_run_killed_after_the_score_that_ends_it_stays_ended(runs_dir: Path):
    run = train("CartPole-v1", seed=0, overrides=SETTINGS, runs_dir=runs_dir, quiet=True)
    before = run.info
    assert before["reason_kind"] == "eval_return"
    assert before["clocks"]["env_steps"] == 2048  # result of 1024, taken at the next point
    run.update(status="running", reason="", score=None, solved=None)  # as kill -9 leaves it
    resume(run, open_collector, overrides={}, console=quiet)
    after = run.info
    assert after["clocks"]["env_steps"] == before["clocks"]["env_steps"]
    assert after["score"] == before["score"]
    assert after["reason"] == before["reason"]


def test_a_changed_goal_allows_an_ended_run_to_resume(runs_dir: Path):
    run = train("CartPole-v1", seed=0, overrides=SETTINGS, runs_dir=runs_dir, quiet=True)
    resume(run, open_collector, overrides={"stop.eval_return": "off"}, console=quiet)
    assert run.info["clocks"]["env_steps"] >= 4096
