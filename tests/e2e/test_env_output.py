"""The output of environments is never mixed with the output of a command."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.e2e.commands import run_gymnast, small_settings

pytestmark = pytest.mark.slow

ENV = "py:tests.scripted:Prints"
WAYS = ("by Python", "by a system call", "by C")


def test_json_output_is_valid_whatever_an_environment_prints(tmp_path: Path):
    words = [
        "train",
        ENV,
        "--env-steps",
        "512",
        "--name",
        "noisy",
        *small_settings("env.backend=inprocess"),
    ]
    trained = run_gymnast(tmp_path, *words, "--json")
    assert json.loads(trained.stdout)["env_steps"] == 512, trained.stderr
    log = (next(tmp_path.glob("*/log.txt"))).read_text()
    assert all(f"reset: {way}" in log for way in WAYS)
    assert (
        log.count(" warning: reset: a warning of Gymnasium") == 1
    )  # and one of the evaluation process
    assert "a warning of Gymnasium" not in trained.stderr
    for verb in (
        ["eval", "noisy", "--episodes", "2"],
        ["check", ENV, "--steps", "20"],
        ["config", "show", ENV],
        ["tune", "envs", ENV, "--backends", "inprocess", "--copies", "2", "--seconds", "0.1"],
    ):
        done = run_gymnast(tmp_path, *verb, "--json")
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout), verb
        assert all(way in done.stderr for way in WAYS), verb


def test_tables_do_not_contain_the_output_of_an_environment(tmp_path: Path):
    done = run_gymnast(tmp_path, "net", ENV)
    assert "initial policy" in done.stdout
    assert not any(way in done.stdout for way in WAYS)
    assert done.stderr.count("made: a warning of Gymnasium") == 1
