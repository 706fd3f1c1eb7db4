"""Regression tests for past bugs in stored results. The numbers are those of the list of traps."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from gymnast.cli import cli
from gymnast.errors import RunError, UsageError
from gymnast.insight import results
from gymnast.runs import revision
from gymnast.runs.revision import is_clean
from gymnast.runs.run import Run
from gymnast.runs.summary import RunSummary, summarize


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A git repository with one commit that this process takes for the source of gymnast."""
    package = tmp_path / "clone" / "gymnast"
    (package / "presets" / "results").mkdir(parents=True)
    (package / "presets" / "results" / "Some-v0.ppo.json").write_text("{}")
    (package / "code.py").write_text("x = 1\n")
    for words in (
        ["init", "-q"],
        ["add", "."],
        ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "all"],
    ):
        subprocess.run(["git", *words], cwd=package.parent, check=True)
    monkeypatch.setattr(revision.revision, "__defaults__", (package,))
    monkeypatch.setattr(revision.uncommitted_files, "__defaults__", (package,))
    return package


def _refusal() -> str:
    """Returns the problem with storing a result that would be trained now."""
    with pytest.raises(UsageError) as refusal:
        CliRunner().invoke(cli, ["reproduce", "CartPole-v1:ppo", "--store"], catch_exceptions=False)
    return str(refusal.value)


def _seed(recorded: str, number: int, runs_dir: Path) -> RunSummary:
    """Returns a run whose code had this recorded revision."""
    run = Run.create(runs_dir, config_text="", preset="A:ppo", seed=number, provenance={})
    run.update(status="finished", revision=recorded)
    return summarize(run.path, run.info, run.status)


def test_58_a_result_is_not_stored_from_code_that_was_not_committed(package: Path):
    (package / "code.py").write_text("x = 2\n")
    assert re.search("committed code.*gymnast/code.py", _refusal())
    assert revision.revision().endswith("-dirty")


@pytest.mark.parametrize("where", ["new.py", "presets/New-v0.yaml"])
def test_58_a_file_that_was_never_committed_is_a_change_too(package: Path, where: str):
    (package / where).write_text("")
    assert revision.uncommitted_files() == [f"gymnast/{where}"]
    assert where in _refusal()


def test_58_several_results_are_stored_in_a_row_at_the_commit_of_the_code(package: Path):
    before = revision.revision()
    (package / "presets" / "results" / "Some-v0.ppo.json").write_text("{ }")
    (package / "presets" / "results" / "Other-v0.ppo.json").write_text("{}")
    (package / "presets" / "envelopes").mkdir()
    (package / "presets" / "envelopes" / "Other-v0.ppo.json").write_text("{}")
    assert revision.uncommitted_files() == []
    assert revision.revision() == before
    assert is_clean(before)
    results.require_committed_code()


def test_58_code_without_a_repository_has_no_revision_and_stores_nothing(package: Path):
    shutil.rmtree(package.parent / ".git")
    assert revision.revision() == ""
    assert "not in a git repository" in _refusal()


@pytest.mark.parametrize(
    "recorded", [["a" * 40 + "-dirty"], [""], ["a" * 40, "b" * 40], ["a" * 40, "a" * 40 + "-dirty"]]
)
def test_58_seeds_trained_while_the_code_was_edited_are_not_stored_as_a_result(
    recorded: list[str], runs_dir: Path
):
    runs = [_seed(text, i, runs_dir) for i, text in enumerate(recorded)]
    with pytest.raises(RunError, match="one committed revision"):
        results.build_result("Some-v0:ppo", runs, None)


def test_58_the_results_page_marks_results_without_a_clean_revision(
    monkeypatch: pytest.MonkeyPatch,
):
    (known,) = [result for result in results.all_results() if result["preset"] == "CartPole-v1:ppo"]
    shown = {}
    for recorded in ("c" * 40, "c" * 40 + "-dirty", ""):
        monkeypatch.setattr(results, "all_results", lambda: [known | {"revision": recorded}])  # noqa: B023
        shown[recorded] = results.results_page().count("**")
    assert [*shown.values()] == [0, 4, 4]


def test_58_no_stored_result_is_from_a_revision_with_uncommitted_changes():
    dirty = [
        result["preset"] for result in results.all_results() if not is_clean(result["revision"])
    ]
    assert dirty == []
