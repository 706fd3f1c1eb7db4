"""The command line: lists first, writes atomically, overwrites nothing, and works while a run trains."""

from __future__ import annotations

import json
import os
import shutil
import threading
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from gymnast import api
from gymnast.bundle import bundle as bundles
from gymnast.bundle.record import BundleContents, WrittenBundle
from gymnast.cli import cli
from gymnast.errors import CheckpointError, GymnastError, UsageError
from gymnast.metrics.store import MetricStore
from gymnast.records import from_json, to_json
from gymnast.runs.checkpoint import CheckpointInfo
from gymnast.runs.run import Run
from gymnast.training.loop import Loop
from tests.bundle.conftest import CARTPOLE
from tests.small_runs import train_small


def gymnast(*words: str) -> Result:
    return CliRunner().invoke(cli, [*words], standalone_mode=False)


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Makes an empty directory the current one."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path / "here"


def files_below(path: Path) -> dict[str, float]:
    return {str(file): file.stat().st_mtime_ns for file in path.rglob("*")}


def test_the_list_has_every_file_with_its_size_and_nothing_is_written(run: Run, here: Path):
    before = files_below(run.path)
    text = gymnast("bundle", run.id, "--list").stdout
    contents = from_json(
        BundleContents, json.loads(gymnast("bundle", run.id, "--list", "--json").stdout)
    )
    for file in contents.files:
        assert file.name in text
    assert "a bundle has one checkpoint" in text
    assert "maximum 20.0 MB" in text
    assert files_below(run.path) == before
    assert [*here.iterdir()] == []


def test_a_bundle_is_listed_written_and_shown(run: Run, here: Path):
    before = files_below(run.path)
    written = gymnast("bundle", run.id)
    assert written.exit_code == 0
    assert written.stdout.index("metrics.db") < written.stdout.index("written to")
    assert [file.name for file in here.iterdir()] == [f"{run.id}-bundle.zip"]
    assert files_below(run.path) == before
    name = f"{run.id}-bundle.zip"
    page = gymnast("show", name).stdout
    for text in (f"run {run.id}", f"path     {name}", "by gymnast", "without  checkpoints/"):
        assert text in page
    assert f"unzip {name} -d runs" in page
    assert gymnast("rows", name).stdout == gymnast("rows", run.id).stdout
    assert gymnast("doctor", name).stdout == gymnast("doctor", run.id).stdout
    assert [file.name for file in here.iterdir()] == [name]


def test_json_is_the_record_of_the_api(run: Run, here: Path):
    shown = json.loads(gymnast("bundle", run.id, "--out", "a.zip", "--json").stdout)
    assert from_json(WrittenBundle, shown) == api.bundle(run.id, out="a.zip", force=True)
    assert shown == to_json(api.bundle(run.id, out="a.zip", force=True))
    assert shown["contents"]["size"] == (here / "a.zip").stat().st_size


def test_an_existing_file_is_overwritten_only_by_force(run: Run, here: Path):
    (here / "a.zip").write_text("mine")
    refused = gymnast("bundle", run.id, "--out", "a.zip")
    assert isinstance(refused.exception, UsageError)
    assert "--force" in refused.exception.fix
    assert (here / "a.zip").read_text() == "mine"
    assert gymnast("bundle", run.id, "--out", "a.zip", "--force").exit_code == 0
    assert api.show("a.zip").id == run.id


def test_a_failure_while_writing_leaves_the_old_file(
    run: Run, here: Path, monkeypatch: pytest.MonkeyPatch
):
    (here / "a.zip").write_text("old")

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(GymnastError, match="No space left on device"):
        api.bundle(run.id, out="a.zip", force=True)
    assert [(file.name, file.read_text()) for file in here.iterdir()] == [("a.zip", "old")]


@pytest.mark.parametrize(
    ("words", "kind", "message"),
    [
        (("--out", "a.tar"), UsageError, "ends in .zip"),
        (("--out", "nowhere/a.zip"), UsageError, "there is no directory nowhere"),
        (("--max-size", "much"), UsageError, "'much' is not a size"),
        (("--max-size", "1kB"), UsageError, "has at least"),
        (("--checkpoint", "7"), CheckpointError, "no checkpoint is at or rounds to 7"),
    ],
)
def test_wrong_options_are_explained(
    run: Run, here: Path, words: tuple[str, ...], kind: type[GymnastError], message: str
):
    error = gymnast("bundle", run.id, *words).exception
    assert isinstance(error, kind)
    assert message in str(error)
    assert error.fix
    assert [*here.iterdir()] == []


def test_a_checkpoint_is_named_once(run: Run):
    latest = max(api.show(run.id).checkpoints.steps)
    assert api.bundle_contents(f"{run.id}:latest").checkpoint == latest
    assert api.bundle_contents(run.id, checkpoint=str(latest)).checkpoint == latest
    with pytest.raises(UsageError, match="given twice"):
        api.bundle_contents(f"{run.id}:latest", checkpoint="none")


def test_a_running_run_is_bundled_while_rows_are_written(run: Run):
    """The writer holds the lock of the run and appends rows the whole time."""
    row = api.rows(run.id, last=1).rows[0]
    stop, started = threading.Event(), threading.Event()

    def train() -> None:
        with MetricStore(run.path / "metrics.db", "w") as store:
            for i in range(100_000):
                store.append({**row, "clock/rollouts": 1000.0 + i})
                store.flush()
                started.set()
                if stop.is_set():
                    return

    with run.writer():
        run.update(status="running")
        thread = threading.Thread(target=train)
        thread.start()
        started.wait()
        try:
            for _ in range(3):
                before = len(api.rows(run.id).rows)
                api.bundle(run.id, out="a.zip", force=True)
                bundled = api.rows("a.zip").rows
                after = api.rows(run.id).rows
                assert before <= len(bundled) <= len(after)
                assert bundled == after[: len(bundled)]
        finally:
            stop.set()
            thread.join()
    assert api.show("a.zip").status == "running", "as it was when the bundle was made"
    run.update(status="running", host="elsewhere")
    (run.path / "heartbeat").unlink()
    run.update(created=0.0)
    api.bundle(run.id, out="b.zip")
    assert api.show("b.zip").status == "lost"


def test_a_checkpoint_that_is_deleted_meanwhile_is_replaced_by_the_new_latest(
    run: Run, monkeypatch: pytest.MonkeyPatch
):
    *_, before, latest = sorted(api.show(run.id).checkpoints.steps)
    choose = bundles.choose_checkpoint

    def choose_and_delete(run: Run, which: str | None) -> CheckpointInfo | None:
        found = choose(run, which)
        if found is not None and found.step == latest:
            shutil.rmtree(found.path)
        return found

    monkeypatch.setattr(bundles, "choose_checkpoint", choose_and_delete)
    assert api.bundle_contents(run.id, checkpoint="latest").checkpoint == before


def test_texts_of_a_bundle_cannot_control_the_terminal(run: Run):
    run.update(note="a\x1b[2Jb")
    api.bundle(run.id, out="a.zip")
    assert "\x1b" not in gymnast("show", "a.zip").stdout


def test_a_failed_run_suggests_a_bundle(run: Run):
    assert "gymnast bundle" not in gymnast("show", run.id).stdout
    run.update(status="failed")
    assert f"gymnast bundle {run.id}" in gymnast("show", run.id).stdout


def test_a_crash_names_the_command_in_its_traceback_and_in_the_log(
    monkeypatch: pytest.MonkeyPatch, runs_dir: Path
):
    def crash(_: Loop) -> None:
        raise ZeroDivisionError("a defect")

    monkeypatch.setattr(Loop, "raise_if_env_failed", crash)
    with pytest.raises(ZeroDivisionError) as crashed:
        train_small("CartPole-v1", CARTPOLE)
    (path,) = [path for path in runs_dir.iterdir() if path.is_dir()]
    (note,) = crashed.value.__notes__
    assert f"`gymnast bundle {path.name}`" in note
    api.bundle(path.name, out="a.zip")
    assert any("a defect" in line for line in api.logs("a.zip").lines)
    assert any("gymnast bundle" in line for line in api.logs("a.zip").lines)
    assert api.show("a.zip").reason == "a defect"
