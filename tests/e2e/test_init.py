"""`gymnast init`: the template works unchanged: its tests pass and it trains until solved."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from gymnast import scaffold
from gymnast.cli import cli
from gymnast.config import presets
from gymnast.errors import UsageError
from tests.e2e.commands import read_json, run_gymnast, run_here


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("project")
    done = run_gymnast(place / "runs", "init", "line_walk", cwd=place)
    assert done.returncode == 0, done.stderr
    for file in ("line_walk/env.py", "line_walk/test_env.py", "presets/line_walk.yaml"):
        assert f"wrote {file}" in done.stdout
        assert (place / file).is_file()
    return place


def test_the_tests_of_the_template_pass(project: Path):
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "line_walk", "-p", "no:cacheprovider"],
        cwd=project,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(root), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
    )
    assert done.returncode == 0, done.stdout
    assert "4 passed" in done.stdout
    assert "warning" not in done.stdout


def test_the_preset_of_the_template_is_valid_and_found_by_both_names(
    project: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(project)
    done = run_here(project / "runs", "config", "check", "presets/line_walk.yaml")
    assert (done.returncode, done.stdout) == (0, "1 checked, 0 with errors\n")
    words = ["config", "fmt", "--check", "presets/line_walk.yaml"]
    assert run_here(project / "runs", *words).returncode == 0
    by_class, by_name = (
        presets.find_preset("py:line_walk.env:LineWalk"),
        presets.find_preset("line_walk"),
    )
    assert by_class == by_name
    assert by_name.path == Path("presets/line_walk.yaml")
    assert presets.find_preset("py:line_walk.env:Other").path is None


def test_the_check_finds_nothing_in_the_template(project: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(project)
    done = run_here(project / "runs", "check", "line_walk")
    assert done.returncode == 0, done.stderr
    assert "WARN" not in done.stdout
    assert done.stdout.endswith("nothing is wrong\n")


def test_the_template_environment_is_solved_in_seconds(project: Path):
    runs = project / "runs"
    words = ["train", "py:line_walk.env:LineWalk", "--quiet"]
    done = run_gymnast(runs, *words, cwd=project)
    assert done.returncode == 0, done.stderr
    shown = read_json(runs, "show", "@best:line_walk")
    assert shown["solved"] is True
    assert shown["preset"] == "line_walk:ppo"
    assert shown["clocks"]["env_steps"] < 30_000
    success = [
        row["env/success"]
        for row in read_json(runs, "rows", "@last")["rows"]
        if "env/success" in row
    ]
    assert success[-1] > 0.9 > success[0]


def test_init_overwrites_no_file_and_leaves_no_partial_package(
    project: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(project)
    files = {path: path.read_bytes() for path in project.rglob("*.py")}
    done = run_here(project / "runs", "init", "line_walk")
    assert done.returncode == 2
    assert "line_walk: already exists" in done.stderr
    assert {path: path.read_bytes() for path in files} == files
    (project / "presets" / "other.yaml").write_text("mine")
    with pytest.raises(UsageError, match="already exists"):
        scaffold.write_project("other", project)
    assert not (project / "other").exists()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("my-env", "not a Python identifier"),
        ("2d", "not a Python identifier"),
        ("a/b", "not a Python identifier"),
        ("", "not a Python identifier"),
        ("_", "not a Python identifier"),
        ("class", "is a reserved name"),
        ("runs", "is a reserved name"),
        ("random", "an installed module"),
        ("numpy", "an installed module"),
    ],
)
def test_a_name_that_cannot_be_imported_is_rejected(name: str, message: str, tmp_path: Path):
    with pytest.raises(UsageError, match=message):
        scaffold.write_project(name, tmp_path)
    assert not list(tmp_path.iterdir())


def test_the_given_directory_is_created(tmp_path: Path):
    done = CliRunner().invoke(cli, ["init", "walk", "--dir", str(tmp_path / "new" / "place")])
    assert done.exit_code == 0, done.output
    assert f"cd {tmp_path / 'new' / 'place'}" in done.output
    text = "".join(path.read_text() for path in (tmp_path / "new").rglob("*") if path.is_file())
    assert "class Walk(" in text
    assert "my_env" not in text
    assert "MyEnv" not in text
