"""Text files of a run: as on disk, in parts, and nothing else."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from gymnast import api
from gymnast.api.run_files import FILES
from gymnast.cli import cli
from gymnast.errors import RunError, UsageError
from tests.api.conftest import Trained


def test_files_are_returned_as_they_are_on_disk(trained: Trained):
    for name, place in FILES.items():
        path = trained.first.path / place
        if not path.exists():
            with pytest.raises(RunError, match=name):
                api.run_file(trained.first.id, name, runs_dir=trained.runs_dir)
            continue
        found = api.run_file(trained.first.id, name, runs_dir=trained.runs_dir)
        assert (found.text, found.left_out) == (path.read_text(), 0)
        assert found.bytes == path.stat().st_size


@pytest.mark.parametrize("end", [False, True])
@pytest.mark.parametrize("limit", [1, 40, 400, 10**6])
def test_a_part_has_whole_lines_and_the_size_of_the_rest(trained: Trained, limit: int, end: bool):
    whole = (trained.first.path / "config.yaml").read_text()
    found = api.run_file(
        trained.first.id, "config.yaml", max_bytes=limit, end=end, runs_dir=trained.runs_dir
    )
    assert len(found.text) <= limit
    assert found.left_out == len(whole) - len(found.text)
    assert whole.endswith(found.text) if end else whole.startswith(found.text)
    if limit >= 400 and end:
        assert set(found.text.splitlines()) <= set(whole.splitlines())


def test_other_names_and_links_out_of_the_run_are_refused(trained: Trained, tmp_path: Path):
    with pytest.raises(UsageError, match=r"did you mean config\.yaml"):
        api.run_file(trained.first.id, "config.yml", runs_dir=trained.runs_dir)
    for name in ("../run.json", "/etc/passwd", "checkpoints", "metrics.db"):
        with pytest.raises(UsageError):
            api.run_file(trained.first.id, name, runs_dir=trained.runs_dir)
    copy = tmp_path / "copy"
    shutil.copytree(trained.first.path, copy / trained.first.id)
    log = copy / trained.first.id / "log.txt"
    log.unlink()
    os.symlink("/etc/hostname", log)
    with pytest.raises(RunError, match="is a link"):
        api.run_file(trained.first.id, "log.txt", runs_dir=copy)


def test_the_command_prints_the_file(trained: Trained):
    options = ["--runs", str(trained.runs_dir)]
    done = CliRunner().invoke(cli, ["show", trained.first.id, "--file", "config.yaml", *options])
    assert done.output == (trained.first.path / "config.yaml").read_text()
