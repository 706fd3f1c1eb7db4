"""docs/ppo-details.md: every file, function, test, option and default it names is real."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from gymnast.config.resolve import resolve
from gymnast.config.serialize import flat_values

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "ppo-details.md").read_text()
SECTIONS = {"Core": 13, "Atari": 9, "Continuous actions": 9, "Recurrent policies": 5}
SECTIONS |= {"MultiDiscrete actions": 1, "And four more": 4}


def rows(title: str) -> list[list[str]]:
    """Returns the cells of a section's table, without its header."""
    section = re.split(rf"^## {re.escape(title)}.*$", PAGE, flags=re.M)[1].split("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def names(node: ast.AST, inside: str = "") -> Iterator[str]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.FunctionDef, ast.ClassDef)):
            yield f"{inside}{child.name}"
            yield from names(child, f"{inside}{child.name}.")


def test_all_37_details_have_a_place_and_a_test_or_a_reason():
    assert sum(SECTIONS.values()) - SECTIONS["And four more"] == 37
    for title, count in SECTIONS.items():
        found = rows(title)
        assert [row[0] for row in found] == [str(i + 1) for i in range(count)], title
        for _, detail, code, option, test in found:
            left_out = code.startswith("left out: ")
            assert left_out or (".py:" in code and "tests/" in test and option), detail


@pytest.mark.parametrize("name", sorted(set(re.findall(r"`([\w/]+\.py:[\w.]+)`", PAGE))))
def test_every_named_function_exists(name: str):
    file, _, function = name.partition(":")
    assert function in names(ast.parse((ROOT / file).read_text()))


def test_documented_defaults_match_the_config():
    defaults = flat_values(resolve("NoPresetOfThisName-v0:ppo").config)
    stated = re.findall(r"`([a-z]+\.[a-z_]+) = ([^`]+)`", PAGE)
    assert len(stated) > 20
    for option, default in stated:
        assert str(defaults[option]) == default, option
