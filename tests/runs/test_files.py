"""The files of a run are opened by one function, which trusts neither links, nor names, nor sizes."""

from __future__ import annotations

import ast
import os
from pathlib import Path

import pytest

import gymnast
from gymnast.config.problems import InvalidConfig
from gymnast.config.source import Source
from gymnast.errors import RunError
from gymnast.privacy.content import clean_content
from gymnast.privacy.sanitize import Identity, Sanitizer
from gymnast.runs import files
from gymnast.runs.run import Run

PACKAGE = Path(gymnast.__file__).parent
READERS = ("runs", "bundle", "review", "inspector", "league", "selfplay", "film", "insight", "monitor",
           "trajectories", "audit", "api", "studio", "mcp", "evaluation", "check")  # fmt: skip
"""Packages that read runs."""
ELSEWHERE = {
    "api/config.py": "presets",
    "api/sweep_space.py": "a space that the user names",
    "film/encode.py": "a film that is being written",
    "insight/envelope.py": "shipped with gymnast",
    "insight/results.py": "shipped with gymnast",
    "monitor/files.py": "a report outside of runs",
    "runs/durable.py": "writes",
    "runs/machine.py": "/proc",
    "runs/trace_budget.py": "appends, after it has refused a link",
    "runs/trust.py": "the key of the user",
    "runs/unpack.py": "writes, and reads the archive",
    "film/worker.py": "appends, after it has refused a link",
    "studio/background.py": "the log of the studio",
    "studio/front_end.py": "shipped with gymnast",
    "studio/guide.py": "shipped with gymnast",
    "studio/registry.py": "the state directory",
    "trajectories/files.py": "trajectories, in the data directory",
}
"""Files that open something else than a file of a run -> what."""


def opening_calls(file: Path) -> list[int]:
    """Returns the lines of a module that open a file otherwise than by `gymnast.runs.files`."""
    found: list[int] = []
    for node in ast.walk(ast.parse(file.read_text())):
        if not isinstance(node, ast.Call):
            continue
        called = node.func
        if isinstance(called, ast.Name) and called.id == "open":
            found.append(node.lineno)
        if isinstance(called, ast.Attribute) and called.attr in ("read_bytes", "read_text"):
            found.append(node.lineno)
        if isinstance(called, ast.Attribute) and called.attr == "open" and node.args:
            first = node.args[0]
            if isinstance(first, ast.Constant) and str(first.value)[:1] in ("r", "w", "a", "x"):
                found.append(node.lineno)
    return found


def test_every_reader_of_runs_opens_their_files_by_one_function():
    modules = [file for name in READERS for file in (PACKAGE / name).rglob("*.py")]
    opening = {
        file.relative_to(PACKAGE).as_posix(): lines
        for file in modules
        if (lines := opening_calls(file))
    }
    assert {name: opening[name] for name in opening if name not in ELSEWHERE} == {}
    assert ELSEWHERE.keys() <= opening.keys()  # no exception that is no longer needed


def test_a_file_that_leaves_the_run_is_not_opened(tmp_path: Path):
    run, outside = tmp_path / "run", tmp_path / "outside.json"
    run.mkdir()
    outside.write_text("secret")
    (run / "folder").symlink_to(tmp_path)
    (run / "link.json").symlink_to(outside)
    for path in (run / "link.json", run / "folder" / "outside.json"):
        with pytest.raises(RunError, match="is a link"):
            files.read(path, below=run)
    for path in (
        run / ".." / "outside.json",
        outside,
        run / "folder" / ".." / ".." / "outside.json",
    ):
        with pytest.raises(RunError, match="is not a file of the run"):
            files.read(path, below=run)


def test_a_pipe_or_a_folder_does_not_block_the_reader(tmp_path: Path):
    os.mkfifo(tmp_path / "log.txt")
    (tmp_path / "run.json").mkdir()
    for name in ("log.txt", "run.json"):
        with pytest.raises(RunError, match="is not a plain file"):
            files.read(tmp_path / name)


def test_a_file_of_terabytes_that_takes_no_space_is_not_read(tmp_path: Path):
    file = tmp_path / "run.json"
    with file.open("wb") as opened:
        opened.truncate(1 << 42)
    with pytest.raises(RunError, match=r"4398\.0 GB, more than the 67\.1 MB"):
        files.read(file)
    file.write_bytes(b"x" * 100)
    assert files.read(file, limit=100) == b"x" * 100
    with pytest.raises(RunError, match="more than the 99 B"):
        files.read(file, limit=99)


@pytest.mark.parametrize(
    "text",
    [
        "a0: &a0 [x]\n"
        + "\n".join(f"a{i + 1}: &a{i + 1} [{', '.join([f'*a{i}'] * 10)}]" for i in range(9)),
        "a: &a [*a]",
        "a: &a {b: *a}",
    ],
)
def test_a_few_lines_of_yaml_do_not_become_billions_of_values(text: str, tmp_path: Path):
    with pytest.raises(InvalidConfig, match="has too many values, or refers to itself"):
        Source.parse(text)
    (tmp_path / "config.yaml").write_text(text)
    with pytest.raises(RunError, match="is not a config"):
        Run(tmp_path).config_values()
    cleaned = clean_content("config.yaml", text.encode(), Sanitizer(Identity({}, {}, ())))
    assert len(cleaned) <= len(text) + 100


@pytest.mark.parametrize("text", ["a: " + "[" * 5000, "a: " + "[" * 5000 + "]" * 5000])
def test_deeply_nested_yaml_is_a_problem_of_the_file(text: str, tmp_path: Path):
    with pytest.raises(InvalidConfig, match="nested too deeply"):
        Source.parse(text)
    (tmp_path / "config.yaml").write_text(text)
    with pytest.raises(RunError, match="is not a config"):
        Run(tmp_path).config_values()


def test_aliases_of_a_preset_still_work():
    assert Source.parse("a: &a {b: 1}\nc: *a").data == {"a": {"b": 1}, "c": {"b": 1}}
