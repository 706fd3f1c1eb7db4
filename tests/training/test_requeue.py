"""A SLURM job whose time is over is requeued, and the same command then continues its run."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from gymnast.cli import cli
from gymnast.errors import ConfigError, UsageError
from gymnast.runs import checkpoint, store
from gymnast.runs.run import Run
from tests.scripted import Alarm
from tests.small_runs import SMALL, checkpoint_arrays, same_arrays, train_small

ROLLOUT = 2 * 8
SETTINGS = SMALL | {
    "facts.deterministic": "yes",  # it is not tried out: the alarm counts steps
    "env.n_envs": 2,
    "algo.n_steps": 8,
    "stop.env_steps": 5 * ROLLOUT,
    "eval.every": "off",
}
COMMAND = ["train", "py:tests.scripted:Alarm", "--quiet", "--name", "mine"]
COMMAND += [word for key, value in SETTINGS.items() for word in ("--set", f"{key}={value}")]


@pytest.fixture
def alarm() -> Iterator[type[Alarm]]:
    Alarm.after, Alarm.number = 2 * ROLLOUT + 3, signal.SIGUSR1
    yield Alarm
    Alarm.after, Alarm.number = None, signal.SIGTERM


@pytest.fixture
def calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Sets up a job and a fake `scontrol`; returns the file that its calls are written to."""
    program, written = tmp_path / "bin" / "scontrol", tmp_path / "calls"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\necho "$@" >> {written}\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent), prepend=":")
    monkeypatch.setenv("SLURM_JOB_ID", "77")
    monkeypatch.setattr("gc.freeze", lambda: None)  # this process continues with other tests
    return written


def train(*more: str) -> int:
    return cli([*COMMAND, *more], standalone_mode=False)


def kinds(run: Run) -> list[str]:
    return [event["kind"] for event in run.events()]


def test_at_the_time_limit_the_job_is_requeued_and_the_same_command_continues_the_run(
    alarm: type[Alarm], calls: Path, runs_dir: Path, capsys: pytest.CaptureFixture[str]
):
    assert train("--requeue") == 130
    assert alarm.after is None, "the alarm went off"
    run = store.resolve("mine", runs_dir)[0]
    assert calls.read_text() == "requeue 77\n"
    assert (run.info["status"], run.info["reason"]) == ("stopped", "interrupted by SIGUSR1")
    assert kinds(run)[-1] == "requeued"
    assert checkpoint.latest(run.path).step == run.info["clocks"]["env_steps"] == 3 * ROLLOUT
    assert train("--requeue") == 0
    assert run.info["status"] == "finished"
    assert same_arrays(checkpoint_arrays(run), checkpoint_arrays(train_small("Alarm", SETTINGS)))
    capsys.readouterr()
    assert train("--requeue") == 0
    assert "is finished: budget of 80 env steps spent" in capsys.readouterr().out


def test_a_command_that_would_start_another_run_is_not_requeued(
    alarm: type[Alarm], calls: Path, runs_dir: Path
):
    train()
    assert alarm.after is None
    assert not calls.exists()
    run = store.resolve("mine", runs_dir)[0]
    assert "--requeue" in run.events()[-1]["why"]


def test_sigterm_from_scancel_stops_the_job_without_requeue(
    alarm: type[Alarm], calls: Path, runs_dir: Path
):
    alarm.number = signal.SIGTERM
    train("--requeue")
    assert not calls.exists()
    run = store.resolve("mine", runs_dir)[0]
    assert (run.info["status"], run.info["reason"]) == ("stopped", "interrupted by SIGTERM")


def test_a_requeue_that_fails_is_recorded(alarm: type[Alarm], calls: Path, runs_dir: Path):
    (calls.parent / "bin" / "scontrol").write_text("#!/bin/sh\necho no such job >&2\nexit 1\n")
    train("--requeue")
    assert alarm.after is None
    event = store.resolve("mine", runs_dir)[0].events()[-1]
    assert (event["kind"], event["job"]) == ("not requeued", "77")
    assert "no such job" in event["why"]


def test_other_settings_under_the_same_name_are_refused(
    alarm: type[Alarm], calls: Path, runs_dir: Path
):
    train("--requeue")
    run = store.resolve("mine", runs_dir)[0]
    before = run.info
    with pytest.raises(ConfigError, match="and other settings"):
        train("--requeue", "--set", "algo.gamma=0.5")
    assert run.info == before
    assert calls.read_text() == "requeue 77\n"
    assert alarm.after is None


def test_requeue_needs_a_name():
    with pytest.raises(UsageError, match="needs the name"):
        cli([*COMMAND[:3], "--requeue"], standalone_mode=False)
