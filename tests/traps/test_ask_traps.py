"""Trap 25: Ctrl-C at the "start?" prompt started the training."""

from __future__ import annotations

import os
import pty
import signal
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from gymnast.cli import cli, confirmation, train
from gymnast.errors import UsageError

SMALL = ["--env-steps", "128", "--set", "eval.every=off", "--set", "eval.confirm_episodes=2"]


def answered(answer: bytes, runs: Path, *words: str) -> tuple[int, str]:
    """Runs `gymnast train --ask` in a terminal of its own and types an answer at the prompt."""
    pid, terminal = pty.fork()
    if pid == 0:
        signal.signal(
            signal.SIGINT, signal.SIG_DFL
        )  # ignored where the tests run in the background
        command = ["-m", "gymnast", "train", "CartPole-v1", "--ask", "--runs", str(runs), *words]
        os.execv(sys.executable, [sys.executable, *command])
    said = b""
    typed = False
    while True:
        try:
            said += os.read(terminal, 4096)
        except OSError:  # the other end is closed
            break
        if not typed and b"start?" in said:
            os.write(terminal, answer)
            typed = True
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    os.close(terminal)
    return code, said.decode()


@pytest.mark.parametrize(
    ("answer", "code"), [(b"\x03", 130), (b"n\n", 1), (b"\n", 1)], ids=["ctrl-c", "no", "enter"]
)
def test_25_without_a_yes_nothing_is_written(answer: bytes, code: int, tmp_path: Path):
    runs = tmp_path / "runs"
    ended, said = answered(answer, runs)
    assert ended == code
    assert "100,000 env steps" in said, "what would happen is shown before"
    assert "Traceback" not in said
    assert not runs.exists()


def test_25_with_a_yes_it_trains(tmp_path: Path):
    code, said = answered(b"y\n", tmp_path / "runs", *SMALL)
    assert code == 0, said
    assert len([*(tmp_path / "runs").glob("*/run.json")]) == 1


@pytest.mark.parametrize("more", [["--seeds", "2"], ["--detach"], ["--seeds", "2", "--detach"]])
@pytest.mark.usefixtures("tasks_here")
def test_25_a_group_or_a_job_is_not_started_either(more, tmp_path: Path, monkeypatch):
    """The command that would start them asks once for all of them."""
    monkeypatch.setattr(train, "require_terminal", lambda: None)
    words = ["train", "CartPole-v1", "--ask", *more, "--runs", str(tmp_path / "runs")]
    declined = CliRunner().invoke(cli, words, input="n\n", standalone_mode=False)
    assert declined.return_value == confirmation.DECLINED
    assert declined.output.count("start?") == 1
    interrupted = CliRunner().invoke(cli, words, input="", standalone_mode=False)
    assert isinstance(interrupted.exception, click.Abort)
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize("more", [[], ["--seeds", "2"], ["--detach"]])
def test_25_without_a_terminal_ask_is_refused(more, tmp_path: Path):
    words = ["train", "CartPole-v1", "--ask", *more, "--runs", str(tmp_path / "runs")]
    result = CliRunner().invoke(cli, words)
    assert isinstance(result.exception, UsageError)
    assert "--ask needs a terminal" in str(result.exception)
    assert not (tmp_path / "runs").exists()
