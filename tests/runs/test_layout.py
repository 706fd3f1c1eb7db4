"""The table of files of a run directory: complete, used by resume and branch, and the source of its page."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

import pytest

from gymnast.errors import CheckpointError, RunError
from gymnast.metrics.store import MetricStore
from gymnast.runs import checkpoint, layout
from gymnast.runs.layout import FILES
from gymnast.runs.run import Run
from gymnast.training.lifecycle import branch, resume
from tests.small_runs import resume_run, train_small

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Run:
    steps = {"algo.n_steps": 16, "env.n_envs": 2, "stop.env_steps": 128}
    runs_dir = tmp_path_factory.mktemp("runs")
    return train_small("CartPole-v1", steps, runs_dir=runs_dir)


def test_resume_rewinds_exactly_the_files_that_the_table_says():
    assert {*resume._REWIND, layout.CHECKPOINTS} == {
        file for file in FILES if file.on_resume == "rewound"
    }


def test_a_branch_copies_exactly_the_files_that_the_table_says():
    assert set(branch._COPY) == {file for file in FILES if file.on_branch == "copied"}


def test_every_name_is_listed_once_and_its_writer_exists():
    names = [file.name for file in FILES]
    assert len(set(names)) == len(names)
    for file in FILES:
        assert (ROOT / "gymnast" / (file.writer.replace(".", "/") + ".py")).exists(), file.writer


def test_a_trained_and_resumed_run_has_no_file_that_the_table_lacks(small: Run):
    run = resume_run(small, {"stop.env_steps": 192})
    assert layout.foreign_files(run.path) == []
    (run.path / "thoughts.txt").write_text("mine")
    assert layout.foreign_files(run.path) == ["thoughts.txt"]
    (run.path / "thoughts.txt").unlink()


def test_files_of_another_format_version_are_rejected_with_the_reason(small: Run, tmp_path: Path):
    copy = Run(shutil.copytree(small.path, tmp_path / small.path.name))
    newest = max(layout.CHECKPOINTS.path(copy.path).iterdir(), key=lambda path: path.name)
    manifest = newest / checkpoint.MANIFEST
    version = f'"version": {layout.CHECKPOINTS.version}'
    text = manifest.read_text()
    assert version in text
    manifest.write_text(text.replace(version, '"version": 1'))
    with pytest.raises(CheckpointError, match="format 1 is no longer read"):
        checkpoint.read(newest)
    with sqlite3.connect(layout.METRICS.path(copy.path)) as db:
        db.execute("UPDATE meta SET version = 1")
    with pytest.raises(RunError, match="version 1"), MetricStore(layout.METRICS.path(copy.path)):
        pass
    info = layout.RUN.path(copy.path)
    info.write_text(info.read_text().replace(f'"version": {layout.RUN.version}', '"version": 1'))
    with pytest.raises(RunError, match=r"format 1 is no longer read.*renamed"):
        _ = copy.info


def test_the_page_of_the_run_directory_is_up_to_date():
    assert (ROOT / "docs" / "run-directory.md").read_text() == layout.page(), "run `make docs`"
