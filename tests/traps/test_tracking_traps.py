"""Regression tests for past bugs in trackers. The numbers are those of the list of traps."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gymnast.errors import EnvError
from gymnast.runs.run import Run
from gymnast.training.loop import Loop
from tests.scripted import Alarm, Breaks
from tests.small_runs import rows, train_small
from tests.tracker_files import exit_codes, rows_as_bits, wandb_files, wandb_rows

ROLLOUT = 2 * 8
WANDB: dict[str, Any] = {
    "env.n_envs": 2,
    "algo.n_steps": 8,
    "stop.env_steps": 4 * ROLLOUT,
    "track.to": ["wandb"],
}
BOTH = {**WANDB, "track.to": ["wandb", "tensorboard"]}
LONG = {**WANDB, "stop.env_steps": 1000 * ROLLOUT, "eval.every": "off"}


@pytest.fixture
def alarm() -> Iterator[type[Alarm]]:
    yield Alarm
    Alarm.after, Alarm.number = None, signal.SIGTERM


def last_run(runs_dir: Path) -> Run:
    (path,) = [path.parent for path in runs_dir.glob("*/run.json")]
    return Run(path)


def test_26_nothing_is_created_before_training_has_started(
    runs_dir: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(Loop, "iterate", lambda _: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        train_small("CartPole-v1", BOTH)
    run = last_run(runs_dir)
    assert run.info["status"] == "failed"
    assert not rows(run)
    assert not {"wandb", "tensorboard"} & {path.name for path in run.path.iterdir()}


def test_26_an_error_finishes_the_tracked_run(runs_dir: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(Breaks, "taken", 0)
    with pytest.raises(EnvError):
        train_small("Breaks", {**LONG, "env.kwargs": {"after": 10 * ROLLOUT}})
    run = last_run(runs_dir)
    assert run.info["status"] == "failed"
    assert len(rows(run)) > 1
    (file,) = wandb_files(run.path / "wandb")
    assert rows_as_bits(wandb_rows(file)) == rows_as_bits(rows(run))
    assert exit_codes(file) == [1]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_26_a_signal_finishes_the_tracked_run(number: signal.Signals, alarm: type[Alarm]):
    alarm.after, alarm.number = 3 * ROLLOUT, number
    run = train_small("Alarm", LONG)
    assert run.info["status"] == "stopped"
    (file,) = wandb_files(run.path / "wandb")
    assert rows_as_bits(wandb_rows(file)) == rows_as_bits(rows(run))
    assert exit_codes(file) == [130]
