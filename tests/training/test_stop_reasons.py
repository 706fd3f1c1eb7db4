"""The stop reason of a run is the same in run.json and in the events."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from typing import Any

import pytest

from gymnast.errors import GymnastError
from gymnast.runs.run import Run
from gymnast.training.evaluation_points import EvaluationPoints
from gymnast.training.loop import Loop
from tests.scripted import Alarm
from tests.small_runs import resume_run, train_small, train_with_commands

ROLLOUT = 2 * 8
SETTINGS = {"env.n_envs": 2, "algo.n_steps": 8, "stop.env_steps": 4 * ROLLOUT, "eval.every": "off"}
EASY = {"facts.threshold": -1000, "stop.solved": "on", "eval.start_at": "off", "eval.warmup": "off"}


@pytest.fixture
def alarm() -> Iterator[type[Alarm]]:
    yield Alarm
    Alarm.after = None


def agrees(run: Run) -> tuple[str, str]:
    """Returns the status and the kind of the reason, after checking that run.json and events agree."""
    last = [event for event in run.events() if event["kind"] == "stopping"][-1]
    info = run.info
    assert (last["reason"], last["reason_kind"]) == (info["reason"], info["reason_kind"])
    return info["status"], info["reason_kind"]


def test_a_score_received_after_the_budget_is_spent_is_not_the_stop_reason():
    run = train_small("Script", SETTINGS | EASY | {"eval.every": "3 rollouts"})
    assert agrees(run) == ("finished", "budget")
    assert len([event for event in run.events() if event["kind"] == "stopping"]) == 1
    assert run.info["score"]["low"] >= EASY["facts.threshold"]


def test_the_stop_reason_of_a_solved_run_agrees_in_run_json_and_events():
    run = train_small("Script", SETTINGS | EASY | {"eval.every": "1 rollouts"})
    assert agrees(run) == ("finished", "solved")


def test_the_stop_reason_after_a_stop_command_and_a_resume_with_a_larger_budget():
    run = train_with_commands("CartPole-v1", SETTINGS, {2: [("stop", {})]})
    assert agrees(run) == ("stopped", "command")
    resume_run(run, {"stop.env_steps": 6 * ROLLOUT})
    assert agrees(run) == ("finished", "budget")
    assert run.info["reason"] == f"budget of {6 * ROLLOUT} env steps spent"


def test_the_stop_reason_after_a_signal_before_confirmation_and_a_resume(
    monkeypatch: pytest.MonkeyPatch,
):
    def interrupted(*_: Any) -> None:
        os.kill(os.getpid(), signal.SIGINT)

    with monkeypatch.context() as patch:
        patch.setattr(EvaluationPoints, "confirm", interrupted)
        run = train_small("Script", SETTINGS)
    assert agrees(run) == ("stopped", "interrupted")
    assert "before its score was confirmed (budget of 64 env steps spent)" in run.info["reason"]
    resume_run(run)
    assert agrees(run) == ("finished", "budget")


def test_the_stop_reason_after_a_signal_and_a_resume(alarm: type[Alarm]):
    alarm.after = ROLLOUT + 3
    run = train_small("Alarm", SETTINGS | {"facts.deterministic": "yes"})
    assert agrees(run) == ("stopped", "interrupted")
    resume_run(run)
    assert agrees(run) == ("finished", "budget")


def test_a_failure_replaces_the_reason_of_an_earlier_end(
    monkeypatch: pytest.MonkeyPatch,
):
    run = train_small("Script", SETTINGS)

    def fail(*_: Any) -> None:
        raise GymnastError("the roof is on fire")

    monkeypatch.setattr(Loop, "evaluate_if_due", fail)
    with pytest.raises(GymnastError):
        resume_run(run, {"stop.env_steps": 6 * ROLLOUT})
    assert agrees(run) == ("failed", "failed")
