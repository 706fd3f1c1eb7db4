"""`gymnast train --debug`: the same results, in one process, with full tracebacks."""

from __future__ import annotations

import faulthandler
import os
import shutil
import warnings
from pathlib import Path
from typing import Any

import pytest
import torch
from click.testing import CliRunner

from gymnast.cli import cli
from gymnast.runs.run import Run
from tests.e2e.commands import run_gymnast, small_settings
from tests.scripted import Script
from tests.small_runs import checkpoint_arrays, exact_metrics, rows, same_arrays

pytestmark = pytest.mark.slow

BUDGET = ("--env-steps", "1024", "--quiet")


class Nosy(Script):
    """Records its process at each step, and warns once per episode."""

    seen: list[tuple[int, bool, int]] = []

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        Nosy.seen.append((os.getpid(), torch.is_anomaly_enabled(), torch.get_num_threads()))
        if self.t == 0:
            warnings.warn("this is deprecated", DeprecationWarning, stacklevel=1)
        return super().step(action)


class Hopeless(Script):
    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        if self.t == 1:
            raise ZeroDivisionError  # in the physics
        return super().step(action)


def trained(runs: Path, name: str, *words: str) -> Run:
    arguments = ["train", "CartPole-v1", *BUDGET, "--name", name, *small_settings(), *words]
    done = CliRunner().invoke(cli, [*arguments, "--runs", str(runs)])
    assert done.exit_code == 0, done.output
    (found,) = (Run(path) for path in runs.iterdir() if path.is_dir() and _name(path) == name)
    return found


def _name(path: Path) -> str:
    return Run(path).info["name"]


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> tuple[Run, Run]:
    """Returns the same training without and with --debug."""
    runs = tmp_path_factory.mktemp("debugging") / "runs"
    return trained(runs, "plain"), trained(runs, "debugged", "--debug")


def same(a: Run, b: Run) -> bool:
    return [exact_metrics(row) for row in rows(a)] == [
        exact_metrics(row) for row in rows(b)
    ] and all(
        same_arrays(checkpoint_arrays(a, stem), checkpoint_arrays(b, stem))
        for stem in ("policy", "learner", "collector")
    )


def test_metrics_weights_and_the_stored_config_are_the_same(pair: tuple[Run, Run]):
    plain, debugged = pair
    assert same(plain, debugged)
    assert plain.config() == debugged.config()
    assert plain.provenance() == debugged.provenance()
    assert plain.info["score"] == debugged.info["score"]


def test_an_event_records_debugging_and_the_overridden_settings(pair: tuple[Run, Run]):
    plain, debugged = pair
    assert "debugging" not in {event["kind"] for event in plain.events()}
    (event,) = [event for event in debugged.events() if event["kind"] == "debugging"]
    assert {"key": "eval.mode", "from": "process", "to": "inline"} in event["changes"]


def test_resuming_with_or_without_debug_gives_the_same_run(pair: tuple[Run, Run], tmp_path: Path):
    plain, debugged = (Run(shutil.copytree(run.path, tmp_path / run.id)) for run in pair)
    for run, words in ((plain, ["--debug"]), (debugged, [])):
        arguments = ["resume", str(run.path), "--env-steps", "2048", "--quiet", *words]
        done = CliRunner().invoke(cli, arguments)
        assert done.exit_code == 0, done.output
    assert same(plain, debugged)
    assert len([e for e in plain.events() if e["kind"] == "debugging"]) == 1
    assert plain.config() == debugged.config()


def test_debug_uses_one_process_and_thread_and_shows_anomalies_and_warnings(
    runs_dir: Path, monkeypatch: pytest.MonkeyPatch
):
    enabled: list[Any] = []
    monkeypatch.setattr(faulthandler, "enable", lambda *_: enabled.append(True))
    Nosy.seen.clear()
    target = f"py:{__name__}:Nosy"
    words = [
        "train",
        target,
        "--debug",
        *BUDGET,
        *small_settings("threads=2", "engine=torch"),
        "--runs",
        str(runs_dir),
    ]
    with pytest.warns(DeprecationWarning, match="this is deprecated"):
        done = CliRunner().invoke(cli, words)
    assert done.exit_code == 0, done.output
    assert enabled
    steps = Nosy.seen[100:]
    assert {pid for pid, _, _ in Nosy.seen} == {os.getpid()}
    assert {anomaly for _, anomaly, _ in steps} == {True}
    assert {threads for _, _, threads in steps} == {1}
    assert not torch.is_anomaly_enabled()
    (log,) = runs_dir.glob("*/log.txt")
    assert "this is deprecated" in log.read_text()
    assert list(runs_dir.glob("*/traces/eval-*"))  # it was evaluated in this process


@pytest.mark.parametrize("debug", [True, False])
def test_the_traceback_of_an_environment_error_is_printed_only_when_debugging(
    tmp_path: Path, debug: bool
):
    words = ["train", f"py:{__name__}:Hopeless", *BUDGET, *small_settings(), *(["--debug"] * debug)]
    done = run_gymnast(tmp_path / "runs", *words)
    assert done.returncode == 1
    assert f"error: py:{__name__}:Hopeless" in done.stderr
    assert ("# in the physics" in done.stderr) == ("Traceback" in done.stderr) == debug
