"""Keys in a real terminal: they have the effect of the commands, and the terminal settings are restored."""

from __future__ import annotations

import json
import os
import pty
import signal
import sys
import termios
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import gymnast.algos.ppo
import gymnast.training.foreground  # noqa: F401
from gymnast.cli import main
from gymnast.runs import store
from gymnast.runs.run import Run
from tests.waiting import wait_for

SETTINGS = [
    "eval.mode=inline",
    "eval.episodes=2",
    "eval.every=off",
    "eval.confirm_episodes=2",
    "env.n_envs=2",
    "algo.n_steps=8",
    "algo.batch_size=50%",
    "policy.hidden=[8]",
    "checkpoint.every=off",
    "stop.solved=off",
    "stop.eval_return=off",
]


@dataclass
class Session:
    """A minimal shell with job control, with one training in the foreground of its terminal."""

    master: int
    leader: int
    before: list[Any]
    runs_dir: Path
    notes: Path
    output: bytes = b""

    def run(self) -> Run:
        found = self.until(lambda: store.list_runs(self.runs_dir))
        return Run(found[0].path)

    def until(self, found: Callable[[], Any]) -> Any:
        def listen_and_look() -> Any:
            self.listen()
            return found()

        return wait_for(listen_and_look, lambda: self.output.decode(errors="replace")[-2000:])

    def listen(self) -> bool:
        """Reads the pending output; True if there was any."""
        with suppress(BlockingIOError, OSError):
            output = os.read(self.master, 65536)
            self.output += output
            return bool(output)
        return False

    def hidden(self) -> bool:
        """True if typed keys are not echoed, as while training."""
        return not termios.tcgetattr(self.master)[3] & (termios.ECHO | termios.ICANON)

    def press(self, key: str) -> None:
        os.write(self.master, key.encode())

    def kinds(self) -> list[str]:
        return [event["kind"] for event in self.run().events()]

    def ended(self) -> int:
        """Waits for the end and returns the exit code; asserts that the terminal is restored."""
        code = self.until(lambda: self._polled())
        while self.listen():
            pass  # its last words
        assert termios.tcgetattr(self.master) == self.before
        return code[0]

    def _polled(self) -> list[int] | None:
        pid, status = os.waitpid(self.leader, os.WNOHANG)
        return [os.waitstatus_to_exitcode(status)] if pid else None


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Session]]:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    open_ones: list[Session] = []

    def start(*words: str, target: str = "CartPole-v1") -> Session:
        notes = tmp_path / "stopped.json"
        settings = [word for setting in SETTINGS for word in ("--set", setting)]
        command = ["gymnast", "train", target, "--env-steps", "50M", *settings, *words]
        leader, master = pty.fork()
        if leader == 0:
            _lead([*command, "--runs", str(tmp_path / "runs")], notes)
        os.set_blocking(master, False)
        before = termios.tcgetattr(master)
        assert before[3] & termios.ECHO
        open_ones.append(Session(master, leader, before, tmp_path / "runs", notes))
        return open_ones[-1]

    yield start
    for each in open_ones:
        with suppress(ProcessLookupError):
            os.killpg(each.leader, signal.SIGKILL)
        os.close(each.master)


def _lead(command: list[str], notes: Path) -> None:
    """Runs the command in a process group of its own, in the child; continues it after Ctrl-Z."""
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    for number in (signal.SIGINT, signal.SIGTSTP):
        signal.signal(number, signal.SIG_DFL)
    worker = os.fork()
    if worker == 0:
        os.setpgid(0, 0)
        os.tcsetpgrp(0, os.getpgrp())
        signal.signal(signal.SIGTTOU, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w"), open(2, "w")  # noqa: SIM115
        sys.argv = command
        try:
            main()
        except SystemExit as left:
            sys.stdout.flush()
            os._exit(left.code if isinstance(left.code, int) else 1)
        except BaseException:
            os._exit(99)
    while True:
        _, status = os.waitpid(worker, os.WUNTRACED)
        if not os.WIFSTOPPED(status):
            os._exit(abs(os.waitstatus_to_exitcode(status)))
        shown = bool(termios.tcgetattr(0)[3] & termios.ECHO)
        notes.write_text(json.dumps({"echo": shown}))
        os.tcsetpgrp(0, worker)
        os.killpg(worker, signal.SIGCONT)


def test_keys_are_commands_and_the_terminal_is_restored(session: Callable[..., Session]):
    training = session()
    training.until(training.hidden)
    training.press("?")
    training.until(lambda: b"c checkpoint" in training.output)
    training.press("p")
    training.until(lambda: training.run().info["status"] == "paused")
    training.until(lambda: b"paused" in training.output)
    training.press("x")  # means nothing
    training.press("p")
    training.until(lambda: training.run().info["status"] == "running")
    training.press("c")
    training.until(lambda: "checkpoint asked" in training.kinds())
    training.press("e")
    training.until(lambda: "eval:clock/env_steps" in training.run().rows().columns)
    training.press("\x1a")  # Ctrl-Z, and `fg`
    assert training.until(
        lambda: training.notes.exists() and json.loads(training.notes.read_text() or "0")
    ) == {"echo": True}
    training.until(training.hidden)
    training.press("s")
    assert training.ended() == 0
    assert (training.run().info["status"], training.kinds()) == (
        "stopped",
        ["paused", "unpaused", "checkpoint asked", "evaluation asked", "stop asked", "stopping"],
    )
    commands = [event for event in training.run().events() if event["kind"] != "stopping"]
    assert {event["by"] for event in commands} == {"keyboard"}


@pytest.mark.parametrize(
    ("how", "code"), [("ctrl-c", 130), ("SIGTERM", 130), ("SIGHUP", 130), ("twice", 130)]
)
def test_every_signal_restores_the_terminal(session, how: str, code: int):
    training = session()
    training.until(training.hidden)
    pid = training.run().info["pid"]
    if how == "ctrl-c":
        training.press("\x03")
    elif how == "twice":
        os.kill(pid, signal.SIGSTOP)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGCONT):
            os.kill(pid, number)
    else:
        os.kill(pid, getattr(signal, how))
    assert training.ended() == code


def test_an_environment_error_restores_the_terminal(session):
    training = session("--set", "env.kwargs={after: 1200}", target="py:tests.scripted:Breaks")
    training.until(training.hidden)
    assert training.ended() != 0
    assert training.run().info["status"] in ("failed", "stopped")
    assert b"the physics went wrong" in training.output


def test_without_a_terminal_or_when_quiet_there_are_no_keys(session):
    training = session("--quiet")
    training.until(lambda: store.list_runs(training.runs_dir))
    training.until(lambda: training.run().info["clocks"].get("rollouts", 0) > 0)
    assert not training.hidden()
    os.kill(training.run().info["pid"], signal.SIGTERM)
    assert training.ended() == 130
