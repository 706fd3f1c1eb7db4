"""Ctrl-C, SIGTERM and kill -9: nothing is lost, and the resumed run ends with the same result."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import pytest

from tests.e2e.commands import read_json, run_checked, small_settings
from tests.e2e.killed_process import MARK, Training
from tests.e2e.kills import CaseResult, cases, check_claims, kill_and_compare
from tests.waiting import PATIENCE


@contextmanager
def training(runs: Path, *more: str) -> Iterator[subprocess.Popen[str]]:
    """Starts a long CartPole training and waits until it has printed its first lines."""
    words = ["train", "CartPole-v1", "--env-steps", "50M", "--name", "long", *small_settings(*more)]
    process = subprocess.Popen(
        [sys.executable, "-m", "gymnast", *words, "--runs", str(runs)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        while "env steps  episode" not in (line := process.stdout.readline()):
            assert line, process.stderr.read() if process.stderr else ""
        yield process
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_saves_a_checkpoint_from_which_the_run_resumes(
    number: signal.Signals, tmp_path: Path
):
    with training(tmp_path) as process:
        process.send_signal(number)
        printed, wrong = process.communicate(timeout=PATIENCE)
        assert process.returncode == 130, wrong
    shown = read_json(tmp_path, "show", "long")
    assert shown["status"] == "stopped"
    assert number.name in shown["reason"]
    assert shown["checkpoints"]["latest"]["step"] == shown["clocks"]["env_steps"]
    assert "gymnast resume" in printed
    rollouts = shown["clocks"]["rollouts"] + 2
    run_checked(tmp_path, "resume", "long", "--rollouts", str(rollouts), "--quiet")
    assert read_json(tmp_path, "show", "long")["clocks"]["rollouts"] == rollouts


def test_a_second_ctrl_c_exits_at_once(tmp_path: Path):
    # one rollout of this run takes longer than the test: only the second signal can end it
    with training(tmp_path, "algo.n_steps=64") as process:
        process.send_signal(signal.SIGSTOP)
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGTERM)
        process.send_signal(signal.SIGCONT)
        process.communicate(timeout=PATIENCE)
        assert process.returncode == 130
    assert read_json(tmp_path, "show", "long")["status"] in ("stopped", "lost")


def test_ctrl_c_responds_at_once_while_an_environment_hangs_in_c_code(tmp_path: Path):
    words = ["train", "py:tests.scripted:Stuck", "--env-steps", "50M", "--name", "stuck"]
    settings = ("env.kwargs={where: C code}", "facts.deterministic=yes", "env.timeout=1")
    process = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "gymnast",
            *words,
            *small_settings(*settings),
            "--runs",
            str(tmp_path),
        ],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        wait_for("stalled at 0 env steps: copy", process.stdout)
        process.send_signal(signal.SIGINT)
        wait_for("stopping: after this rollout", process.stdout)  # it is still in the environment
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=PATIENCE) == 130
    finally:
        process.kill()
        process.communicate()
    shown = read_json(tmp_path, "show", "stuck")
    assert (shown["status"], shown["reason"]) == ("stopped", "second SIGINT: exited at once")


def wait_for(words: str, printed: IO[str]) -> None:
    while words not in (line := printed.readline()):
        assert line, f"{words!r} was not printed"


def test_a_killed_training_is_lost_until_it_is_resumed(tmp_path: Path):
    with training(tmp_path) as process:
        assert read_json(tmp_path, "show", "long")["status"] == "running"
        process.kill()
        process.wait()
        assert read_json(tmp_path, "show", "long")["status"] == "lost"


def test_a_second_process_cannot_write_the_same_run(tmp_path: Path):
    with training(tmp_path):
        second = subprocess.run(
            [sys.executable, "-m", "gymnast", "resume", "long", "--runs", str(tmp_path)],
            capture_output=True,
            text=True,
        )
        assert second.returncode == 1
        assert "is being written by process" in second.stderr


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", ["inprocess/native", "process/torch", "tag/native"])
def test_kills_at_random_moments_lose_nothing_and_every_claim_of_exactness_is_true(
    tmp_path: Path, name: str
):
    """A short version of `make kill200`, which covers every backend with both engines."""
    case = next(case for case in cases() if case.name == name)
    found = kill_and_compare(tmp_path, case, kills=4, seed=0)
    assert found.is_clean, found
    assert found.kills >= 1
    assert found.exact_runs == found.runs


def test_claims_of_exactness_are_compared_with_the_differences():
    found = CaseResult("vector", "native", 0)
    check_claims(found, "honest", claimed=True, differs=[])
    check_claims(found, "modest", claimed=False, differs=[])
    check_claims(found, "frank", claimed=False, differs=["policy.safetensors differs"])
    assert found.is_clean
    assert found.understated == ["modest"]
    check_claims(found, "liar", claimed=True, differs=["policy.safetensors differs"])
    assert found.false_claims == ["liar: policy.safetensors differs"]
    assert not found.is_clean
    assert (found.exact_claims, found.exact_runs) == (2, 2)


def test_a_process_that_outlives_its_training_is_found_and_ended(tmp_path: Path):
    """A process that training started in its own session."""
    ended = Training(tmp_path, "none", "runs")
    ended.finish()
    mark = os.environ | {MARK: ended.mark}
    waits = [sys.executable, "-c", "import time; print(flush=True); time.sleep(60)"]
    left = subprocess.Popen(waits, env=mark, start_new_session=True, stdout=subprocess.PIPE)
    assert left.stdout is not None
    left.stdout.readline()  # before its program has started, its environment cannot be read
    assert [words.partition(":")[0] for words in ended.leaked_processes(grace=0.1)] == [
        str(left.pid)
    ]
    assert left.wait(PATIENCE) == -signal.SIGKILL
    left.stdout.close()
