"""The comparison measures real processes, replaces only the entries that it measured, and skips libraries
that are not installed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import results
from benchmarks.code_revision import ROOT
from benchmarks.libraries import Peer
from benchmarks.sample import CommandFailed
from benchmarks.tasks import TASKS

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A short measurement of task b, ours and the environment alone, stored next to an older task."""
    path = tmp_path_factory.mktemp("results") / "look.json"
    path.write_text(json.dumps({"tasks": {"a": {"kept": True}, "b": {"kept": False}}}))
    words = ["--tasks", "b", "--peers", "", "--repetitions", "1", "--scale", "0.01"]
    subprocess.run(
        [sys.executable, "-m", "benchmarks.run", *words, "--out", str(path)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=True,
        capture_output=True,
    )
    return path


def test_a_run_replaces_the_tasks_that_it_measured_and_keeps_the_others(measured: Path):
    tasks = json.loads(measured.read_text())["tasks"]
    assert tasks["a"] == {"kept": True}
    assert set(tasks["b"]["samples"]) == {"ours", "alone"}
    assert "--tasks b" in tasks["b"]["command"]


def test_a_sample_of_ours_has_its_steps_updates_seconds_and_their_split(measured: Path):
    (one,) = json.loads(measured.read_text())["tasks"]["b"]["samples"]["ours"]
    assert one["env_steps"] == TASKS["b"].scaled_budget(0.01 * TASKS["b"].budget_factor) > 1024
    assert one["updates"] == one["env_steps"] // 1024 * 16
    assert 0 < one["cpu"] < one["whole"]
    assert one["split"]["time/update"] > 0


def test_entries_are_stored_in_alphabetical_order(tmp_path: Path):
    path = tmp_path / "new" / "found.json"
    for letter in ("b", "a"):
        results.replace_entry(path, "tasks", letter, {"samples": {}})
    results.replace_entry(path, "first_step", None, {"samples": {}})
    found = json.loads(path.read_text())
    assert list(found["tasks"]) == ["a", "b"]
    assert "first_step" in found


def test_a_library_that_is_not_installed_has_a_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("benchmarks.libraries.HERE", tmp_path)
    peer = Peer("Some", "some", "a", venv=".venv-some")
    assert peer.why_missing() == "not installed: run benchmarks/setup"
    (tmp_path / ".venv-some.failed").write_text("error: no compiler\n")
    assert peer.why_missing() == "error: no compiler"


def test_the_reason_for_a_failure_is_the_last_line_of_the_output():
    assert CommandFailed("it", "Traceback\n  line\nValueError: no\n\n").reason == "ValueError: no"
