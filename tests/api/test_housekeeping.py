"""Deleting, tagging and annotating runs, and creating a project, through the API."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from gymnast import api
from gymnast.errors import Failure, RunError, UsageError
from gymnast.runs.run import Run
from tests.api.background import assert_round_trips
from tests.runs.conftest import make_run as make_run

Maker = Callable[..., Run]
DAY = 86400.0


def on_disk(run: Run) -> int:
    return sum(file.stat().st_size for file in run.path.rglob("*") if file.is_file())


def test_a_dry_run_returns_what_would_be_deleted_and_deletes_nothing(make_run: Maker):
    parent, child = make_run(name="mine"), make_run()
    child.update(parent=parent.id)
    (parent.path / "thoughts.txt").write_text("keep me")
    planned = api.remove(["mine", parent.id], dry_run=True)
    (run,) = planned.runs
    assert (run.id, run.name, run.path) == (parent.id, "mine", str(parent.path))
    assert run.bytes == planned.bytes == on_disk(parent)
    assert (run.children, run.foreign_files) == ((child.id,), ("thoughts.txt",))
    assert not planned.deleted
    assert parent.path.exists()
    assert_round_trips(planned)
    removed = api.remove(["mine"])
    assert removed.deleted
    assert removed.runs == planned.runs
    assert not parent.path.exists()
    assert child.path.exists()


def test_if_one_run_cannot_be_deleted_none_is(make_run: Maker):
    run = make_run()
    for refs, problem in (([run.id, "nobody"], "nobody"), ([run.id, f"{run.id}:best"], "omit")):
        with pytest.raises((RunError, UsageError), match=problem) as refused:
            api.remove(refs)
        assert refused.value.to_failure().message
    assert run.path.exists()


def test_prune_deletes_the_matching_runs_and_says_why_others_are_kept(make_run: Maker):
    now = time.time()
    old = make_run(status="failed", created=now - 40 * DAY)
    tagged = make_run(status="failed", created=now - 40 * DAY, tags=["paper"])
    new = make_run(status="failed", created=now)
    planned = api.prune(status=["failed", "lost"], older="30d", dry_run=True)
    assert [run.id for run in planned.runs] == [old.id]
    assert planned.kept == {tagged.id: "tagged"}
    assert (planned.deleted, planned.bytes) == (False, on_disk(old))
    assert_round_trips(planned)
    assert api.prune(status=["failed"], older="30d", include=["tagged"]).deleted
    assert [run.path.exists() for run in (old, tagged, new)] == [False, False, True]
    assert not api.prune(older="30d").deleted, "there is no run left to delete"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "which runs to prune"),
        ({"older": "soon"}, "is not an age"),
        ({"status": ["running"]}, "cannot be pruned by status 'running'"),
        ({"include": ["everything"]}, "include"),
        ({"filter": "shape=red"}, "cannot be filtered by 'shape'"),
    ],
)
def test_conditions_that_make_no_sense_are_failures(
    arguments: dict[str, object], message: str, make_run: Maker
):
    run = make_run(status="failed")
    failed = api.call("prune", arguments)
    assert isinstance(failed, Failure)
    assert (failed.code, message in failed.message) == ("usage", True), failed
    assert run.path.exists()


def test_tags_and_notes_are_set_and_read(make_run: Maker):
    run = make_run(tags=["first"])
    assert api.tag(run.id).tags == ("first",)
    labels = api.tag(run.id, ["paper", "first"])
    assert labels.tags == ("first", "paper")
    assert api.tag(run.id, ["first"], remove=True).tags == ("paper",)
    assert api.note(run.id, " half as fast ").note == "half as fast"
    assert api.note(run.id).note == "half as fast"
    assert api.note(run.id, "").note == ""
    assert_round_trips(labels)
    with pytest.raises(RunError, match="cannot be a tag"):
        api.tag(run.id, ["two words"])


def test_a_project_is_created_once(tmp_path: Path):
    project = api.init("line_walk_of_a_test", directory=str(tmp_path))
    assert all(Path(file).is_file() for file in project.files)
    assert str(tmp_path / "presets" / "line_walk_of_a_test.yaml") in project.files
    assert_round_trips(project)
    failed = api.call("init", {"name": "line_walk_of_a_test", "directory": str(tmp_path)})
    assert isinstance(failed, Failure)
    assert "already exists" in failed.message
    assert "line_walk_of_a_test" not in sys.modules
