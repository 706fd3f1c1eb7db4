"""Commands to a training run through the API: each is answered by the run, or refused with a reason."""

from __future__ import annotations

import pytest

from gymnast import api
from gymnast.errors import ConfigError, Failure, RunError
from tests.api.background import ENDLESS, assert_round_trips, wait_until
from tests.waiting import PATIENCE


@pytest.fixture
def run() -> str:
    """Returns the id of a run that trains in the background until it is stopped."""
    (started,) = api.start("CartPole-v1", overrides=ENDLESS, name="long").runs
    wait_until(started.id, "running")
    return started.id


def test_every_command_is_answered(run: str):
    paused = api.pause("long")
    assert (paused.id, paused.command, paused.status) == (run, "pause", "paused")
    assert api.unpause("long").status == "running"
    saved = api.checkpoint("long")
    assert saved.env_steps in api.show("long").checkpoints.steps
    changed = api.set_live("long", {"algo.lr": "1e-4 -> 0", "algo.target_kl": 0.02})
    assert [change.key for change in changed.changes] == ["algo.lr", "algo.target_kl"]
    assert changed.changes[0].after == "0.0001 -> 0"
    scored = api.evaluate_live("long")
    assert scored.score is not None
    assert scored.score.low <= scored.score.mean <= scored.score.high
    assert scored.score.env_steps == scored.env_steps
    (stopped,) = api.stop("long")
    assert stopped.status == "stopped"
    for answer in (paused, saved, changed, scored, stopped):
        assert answer.answered
        assert answer.env_steps is not None
        assert_round_trips(answer)


def test_a_command_that_cannot_be_applied_is_an_error(run: str):
    with pytest.raises(RunError, match="it is not paused"):
        api.unpause(run)
    with pytest.raises(ConfigError, match=r"did you mean algo\.lr"):
        api.set_live(run, {"algo.lrr": 1})
    with pytest.raises(ConfigError, match=r"env\.n_envs"):
        api.set_live(run, {"env.n_envs": 4})
    with pytest.raises(RunError, match="no run is called 'nobody'"):
        api.stop("nobody")
    api.stop(run)
    failed = api.call("pause", {"ref": run})
    assert isinstance(failed, Failure)
    assert failed.message == f"{run} is stopped (stopped by command): no process is training it"
    assert failed.fix == f"continue it with `gymnast resume {run}`"


def test_a_command_can_be_sent_without_waiting_for_its_answer(run: str):
    sent = api.pause(run, timeout=0)
    assert (sent.answered, sent.env_steps) == (False, None)
    wait_until(run, "paused")


def test_stopping_a_group_stops_its_active_runs_and_empties_its_queue():
    started = api.start("CartPole-v1", overrides=ENDLESS, seeds=2, max_jobs=1)
    running, waiting = started.runs
    wait_until(running.id, "running")
    assert started.group is not None
    answers = api.stop(started.group)
    assert [(a.id, a.dequeued) for a in answers] == [(waiting.id, True), (running.id, False)]
    assert {s.status for s in api.wait([started.group], timeout=PATIENCE)} == {"stopped"}
    assert api.stop(started.group) == []
