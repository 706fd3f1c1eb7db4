"""The counts of `benchmarks/codebase`, on a tree whose numbers are known, and on this one."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.codebase import __main__ as report
from benchmarks.codebase import duplication, reading, size

ROOT = Path(__file__).parents[2]
COPIED = """
def total(values, limit):
    found = 0.0
    for value in values:
        if value is not None and value < limit:
            found = found + value * 2.0
        elif value == limit:
            found = found - 1.0
    return found
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    package = tmp_path / "gymnast"
    (package / "deep").mkdir(parents=True)
    (tmp_path / "docs").mkdir()
    (tmp_path / "README.md").write_text("It is told.\n")
    (package / "__init__.py").write_text('"""What it is."""\n')
    (package / "one.py").write_text(f'"""Counts values."""\n# because\nx = 1  # noqa{COPIED}')
    renamed = COPIED.replace("values", "rows").replace("value", "row").replace("2.0", "3.0")
    (package / "deep" / "two.py").write_text(f"from typing import Any\n{renamed}\ny: Any = None\n")
    table = "| file | purpose |\n|---|---|\n| `one.py`, `deep/` | both |\n| `gone.py` | none |\n"
    page = f"# Architecture\n\n{size.SECTION}\n\n{table}\n## Next\n\n| `__init__.py` | no |\n"
    (tmp_path / "docs" / "architecture.md").write_text(page)
    return tmp_path


def test_sizes_are_those_of_the_files(tree: Path):
    found = size.measure_size(tree)
    assert (found["files"], found["folders"]) == (3, {"gymnast": 2, "gymnast/deep": 1})
    assert found["lines"] == 1 + 11 + 12
    assert found["longest"] == {
        "file": ("gymnast/deep/two.py", 12),
        "function": ("gymnast/deep/two.py:total", 8),
    }


def test_the_listed_files_are_those_of_the_table(tree: Path):
    found = size.listed_files(tree)
    assert found["names"] == ["gymnast/deep/two.py", "gymnast/one.py"]
    assert (found["lines"], found["missing"]) == (23, ["gone.py"])


def test_reading_counts_comments_fragments_words_and_types(tree: Path):
    found = reading.measure_readability(tree)
    assert found["comment share"] == found["whole comment share"] == 1 / 24
    assert (found["docstrings"], found["docstring fragments"]) == (2, 1)
    assert (found["banned words"], found["british spellings"]) == (1, 0)
    assert found["any per 1000 lines"] == 1000 / 24


def test_code_that_was_copied_and_renamed_is_repeated_and_other_code_is_not(tree: Path):
    windows = 8 - duplication.WINDOW + 1
    assert duplication.repeated_windows(tree, ("gymnast",)) == 2 * windows
    other = (tree / "gymnast" / "one.py").read_text().replace("found + value", "limit + value")
    (tree / "gymnast" / "one.py").write_text(other)
    assert duplication.repeated_windows(tree, ("gymnast",)) == 0


def test_a_rollout_executes_a_part_of_what_a_training_does():
    found = report.trace_training(ROOT)
    rollout, training = found["rollout"], found["training"]
    assert 20 < rollout["files"] < training["files"]
    assert rollout["executed"] < rollout["lines"] < training["lines"]
    assert all((ROOT / name).is_file() for name in training["names"])
