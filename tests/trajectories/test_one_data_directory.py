"""All parts that use the data directory find the same one, however it is chosen."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from gymnast.api.monitor import write_files
from gymnast.cli import cli
from gymnast.config.sections.traces import TracesConfig
from gymnast.data_dir import DATA_DIR_VAR, data_dir
from gymnast.film.background import film_in_background
from gymnast.film.worker import write_evaluations
from gymnast.monitor.records import MonitorReport
from gymnast.runs import store
from gymnast.runs.run import Run
from gymnast.runs.run_data import run_data_dir
from tests.small_runs import SMALL
from tests.trajectories.conftest import SHORT
from tests.waiting import wait_for

SETTINGS = SMALL | SHORT | {"traces.trajectories": "on"}


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Returns the runs for which training started the film process, which is not started here."""
    runs: list[Path] = []
    monkeypatch.setattr(
        "gymnast.training.lifecycle.start.film_in_background", lambda run, _: runs.append(run)
    )
    return runs


def invoke(*arguments: str) -> Any:
    result = CliRunner().invoke(cli, [*arguments, "--json"], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


@pytest.mark.parametrize("chosen", ["default", "variable", "option"])
def test_training_evaluation_trajectories_metrics_and_monitor_agree(
    chosen: str,
    started: list[Path],
    runs_dir: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    expected = tmp_path / ("data" if chosen == "default" else "elsewhere")
    options: list[str] = []
    if chosen == "variable":
        monkeypatch.setenv(DATA_DIR_VAR, str(expected))
    elif chosen == "option":
        options = ["--data", str(expected)]
    settings = [word for k, v in SETTINGS.items() for word in ("--set", f"{k}={v}")]
    invoke("train", "CartPole-v1", "--quiet", *settings, *options)
    # The monitor and every other command without a run ask the locator itself.
    option = options[-1] if options else None
    assert data_dir(option, runs_dir) == expected
    empty = MonitorReport(overview=[], charts=[], skipped=[], approaches=[], smooth=1)
    assert Path(write_files(empty, None, option, runs_dir).out) == expected / "monitor"
    # Later commands need neither the variable nor the option.
    monkeypatch.delenv(DATA_DIR_VAR, raising=False)
    run = Run(started[0])
    assert run_data_dir(run) == expected
    write_evaluations(run)
    folder = expected / "trajectories" / run.id
    files = sorted(folder.glob("*.jsonl"))
    assert {path.name.partition("-")[0] for path in files} == {"eval", "confirm"}
    listed = invoke("trajectories", run.id)
    assert listed["directory"] == str(folder)
    assert [file["path"] for file in listed["files"]] == [str(p) for p in files if "eval" in p.name]
    assert not any(file["written"] for file in listed["files"])  # they were there already
    rebuilt = invoke("trajectories", run.id, "--metrics")
    assert rebuilt["directory"] == str(folder)
    assert all(one["stored_all"] for one in rebuilt["evaluations"])
    assert {p for p in tmp_path.iterdir() if p != runs_dir} == {expected}


def test_an_option_of_a_later_command_precedes_what_the_run_recorded(
    tag: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run_data_dir(tag) == tag.path.parent.parent / "data"
    monkeypatch.setenv(DATA_DIR_VAR, str(tmp_path / "variable"))
    assert run_data_dir(tag) == tag.path.parent.parent / "data"
    assert run_data_dir(tag, tmp_path / "option") == tmp_path / "option"


def test_a_workspace_may_be_moved(pole: Run, tmp_path: Path) -> None:
    moved = Run(shutil.copytree(pole.path, tmp_path / "moved" / "runs" / pole.id))
    assert run_data_dir(moved) == tmp_path / "moved" / "data"


def test_a_run_of_an_earlier_version_uses_the_default(pole: Run, tmp_path: Path) -> None:
    old = Run(shutil.copytree(pole.path, tmp_path / "runs" / pole.id))
    info = json.loads((old.path / "run.json").read_text())
    del info["data"]
    (old.path / "run.json").write_text(json.dumps(info))
    assert run_data_dir(old) == tmp_path / "data"


def test_trajectories_are_off_by_default_and_then_nothing_is_written(
    pole: Run, tmp_path: Path
) -> None:
    assert not TracesConfig().trajectories
    copy = Run(shutil.copytree(pole.path, tmp_path / "runs" / pole.id))
    write_evaluations(copy)
    film_in_background(copy.path, copy.config())  # GYMNAST_FILM is off in tests
    assert not (tmp_path / "data").exists()
    assert not (copy.path / "videos").exists()


@pytest.mark.slow
def test_the_process_that_training_starts_writes_them(tag: Run, tmp_path: Path) -> None:
    copy = Run(shutil.copytree(tag.path, tmp_path / "runs" / tag.id))
    film_in_background(copy.path, copy.config())
    folder = tmp_path / "data" / "trajectories" / tag.id
    expected = {f"{path.stem}.jsonl" for path in tag.matches.glob("[ec]*-*.safetensors")}
    wait_for(
        lambda: {path.name for path in folder.glob("*.jsonl")} == expected,
        (copy.path / "videos" / "film.log").read_text,
    )
    assert not list((copy.path / "videos").glob("*.mp4"))  # GYMNAST_FILM is off in tests


def test_a_file_in_place_of_the_directory_stops_training_before_it_starts(
    runs_dir: Path, tmp_path: Path
) -> None:
    (tmp_path / "data").touch()
    result = CliRunner().invoke(cli, ["train", "CartPole-v1", "--quiet"])
    assert "is a file (expected a directory)" in str(result.exception)
    assert not runs_dir.exists() or not store.list_runs(runs_dir)
