"""Signals end a run at the next rollout boundary; resuming equals the run without a signal."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from gymnast.runs import checkpoint
from tests.scripted import Alarm
from tests.small_runs import checkpoint_arrays, evaluations, resume_run, same_arrays, train_small


@pytest.fixture
def alarm() -> Iterator[type[Alarm]]:
    yield Alarm
    Alarm.after = None


PER_ROLLOUT, PER_EVALUATION = 2 * 8, 4 * 4
ALARMED = {
    "env.kwargs": {"length": 4, "end": "truncated"},
    "facts.deterministic": "yes",  # it is not tried out: the alarm counts steps
    "env.n_envs": 2,
    "algo.n_steps": 8,
    "algo.lr": "3e-3 -> 0",
    "eval.every": "2 rollouts",
    "stop.rollouts": 6,
    "checkpoint.every": "off",
    "traces.train": "100%",
}


@pytest.mark.parametrize(
    ("after", "when"),
    [
        (PER_ROLLOUT // 2, "first rollout"),
        (2 * PER_ROLLOUT - 3, "before the first evaluation"),
        (2 * PER_ROLLOUT + PER_EVALUATION // 2, "in the first evaluation"),
        (3 * PER_ROLLOUT + PER_EVALUATION - 1, "third rollout"),
        (4 * PER_ROLLOUT + PER_EVALUATION - 3, "before the second evaluation"),
    ],
    ids=lambda x: x if isinstance(x, str) else "",
)
def test_a_signal_stops_at_the_next_rollout_boundary_and_resume_is_exact(
    alarm, after: int, when: str
):
    whole = train_small("Alarm", ALARMED)
    alarm.after = after
    run = train_small("Alarm", ALARMED)
    assert alarm.after is None, "the alarm went off"
    info = run.info
    assert (info["status"], info["reason_kind"]) == ("stopped", "interrupted")
    assert checkpoint.latest(run.path).step == info["clocks"]["env_steps"] < 6 * PER_ROLLOUT
    resume_run(run)
    assert run.info["status"] == "finished"
    assert same_arrays(checkpoint_arrays(run), checkpoint_arrays(whole)), when
    assert same_arrays(checkpoint_arrays(run, "learner"), checkpoint_arrays(whole, "learner"))
    assert evaluations(run) == evaluations(whole)
    assert run.info["score"] == whole.info["score"]


@pytest.mark.parametrize("wait", ["off", "on"])
def test_a_signal_while_training_waits_for_a_score_loses_no_evaluation(alarm, wait: str):
    """The evaluation process has only just been started, so its score cannot be available yet."""
    settings = ALARMED | {"eval.mode": "process", "eval.wait": wait, "eval.episodes": 400}
    whole = train_small("Alarm", settings)
    alarm.after = (2 if wait == "on" else 4) * PER_ROLLOUT - 3
    run = train_small("Alarm", settings)
    assert run.info["status"] == "stopped"
    resume_run(run)
    assert evaluations(run) == evaluations(whole)
    assert same_arrays(checkpoint_arrays(run), checkpoint_arrays(whole))
    assert run.info["score"] == whole.info["score"]
