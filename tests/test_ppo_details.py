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
CITED = re.compile(r"`([\w/]+\.(?:py|hpp|cpp):[\w.]+)`")
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


def cpp_names(text: str) -> Iterator[str]:
    """Yields the functions and structs that a C++ file defines, and the functions of each struct."""
    for struct in re.finditer(r"^struct (\w+)[^;{]*\{(.*?)^\};", text, re.M | re.S):
        yield struct[1]
        yield from (
            f"{struct[1]}.{name}" for name in re.findall(r"^  static .*?(\w+)\(", struct[2], re.M)
        )
    # A definition starts at the beginning of a line; a call or a declaration is indented or ends in `;`.
    yield from re.findall(r"^[\w:<>*& ,]*?(\w+)\([^;{}]*\) \{", text, re.M)


def defined_in(file: str) -> set[str]:
    text = (ROOT / file).read_text()
    return {*(names(ast.parse(text)) if file.endswith(".py") else cpp_names(text))}


def test_all_37_details_have_a_place_and_a_test_or_a_reason():
    assert sum(SECTIONS.values()) - SECTIONS["And four more"] == 37
    for title, count in SECTIONS.items():
        found = rows(title)
        assert [row[0] for row in found] == [str(i + 1) for i in range(count)], title
        for _, detail, code, option, test in found:
            left_out = code.startswith("left out: ")
            assert left_out or (CITED.search(code) and CITED.search(test) and option), detail


def test_details_are_those_of_the_engine_that_runs_by_default():
    default = resolve("CartPole-v1").config
    assert default.engine == "auto"
    cited = [code for title in SECTIONS for _, _, code, _, _ in rows(title)]
    assert not [code for code in cited if "engine/torch" in code]
    assert sum("native/" in code for code in cited) >= 15


@pytest.mark.parametrize("name", sorted({found[1] for found in CITED.finditer(PAGE)}))
def test_every_named_function_exists(name: str):
    file, _, function = name.partition(":")
    assert function in defined_in(file)


def test_the_names_of_a_file_are_definitions_and_not_calls():
    """Checks the oracle of the test above."""
    found = defined_in("native/heads.hpp")
    assert {"Gaussian", "Gaussian.sample", "Squashed.logprob", "sigmoid"} <= found
    assert not {"exp", "std", "log1p", "Squashed.sample", "if", "for"} & found
    found = defined_in("native/learning.hpp")
    assert {"step", "descend"} <= found
    assert {"policy_loss", "Sums"} <= defined_in("native/losses.hpp")
    assert not {"parallel", "load", "memset", "forward"} & found


def test_documented_defaults_match_the_config():
    defaults = flat_values(resolve("NoPresetOfThisName-v0:ppo").config)
    stated = re.findall(r"`([a-z]+\.[a-z_]+) = ([^`]+)`", PAGE)
    assert len(stated) > 20
    for option, default in stated:
        assert str(defaults[option]) == default, option
