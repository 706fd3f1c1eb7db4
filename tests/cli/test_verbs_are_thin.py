"""Every verb only parses its arguments, calls the API and prints, so that programs can do all it does."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import click
import pytest

from gymnast.cli import COMMANDS, cli

FOLDER = Path(__file__).parents[2] / "gymnast" / "cli"
ALLOWED = (
    "gymnast.api",
    "gymnast.cli",
    "gymnast.clock",  # a list of names
    "gymnast.errors",
    "gymnast.text",
    "gymnast.records",
    "gymnast.runs.episode_kinds",  # a list of names
    "gymnast.import_object",  # --allow-code
    "gymnast.mcp",  # a server over the API
    "gymnast.studio",  # a server over the API
)
"""Packages that a module of the command line may import when it runs."""
FORMATTERS = (
    "gymnast.insight.comparison_text",
    "gymnast.insight.diagnosis_text",
    "gymnast.insight.page",
    "gymnast.inspector.text",
    "gymnast.metrics.explain",
    "gymnast.nightly.report",
)
"""Pages that are printed by the command line and written into reports: text from the records of the API."""


def verbs(group: click.Group = cli, path: str = "") -> Iterator[tuple[str, click.Command]]:
    """Yields the words and the command of every verb and subcommand."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from verbs(command, f"{path}{name} ")
        else:
            yield f"{path}{name}", command


VERBS = dict(verbs())


def test_every_registered_verb_is_checked():
    assert {words.split()[0] for words in VERBS} == set(COMMANDS)


@pytest.mark.parametrize("words", sorted(VERBS))
def test_a_verb_imports_only_the_api_and_what_prints_and_calls_the_api(words: str):
    callback = VERBS[words].callback
    assert callback is not None
    problems = [
        f"it imports {name}" for name in runtime_imports(module_of(words)) if not is_allowed(name)
    ]
    if not calls_api(module_of(words), inspect.unwrap(callback).__name__):
        problems.append("it does not call gymnast.api")
    assert problems == []


def test_helpers_of_the_command_line_import_only_the_api_and_what_prints():
    """Otherwise a verb could do through a helper what it must not do itself."""
    of_verbs = {module_of(words) for words in VERBS}
    for file in FOLDER.glob("*.py"):
        if file.stem not in of_verbs:
            wrong = [name for name in runtime_imports(file.stem) if not is_allowed(name)]
            assert wrong == [], file.name


def module_of(words: str) -> str:
    """Returns the name of the file in gymnast/cli that defines a verb."""
    callback = VERBS[words].callback
    assert callback is not None
    return Path(inspect.getfile(inspect.unwrap(callback))).stem


def is_allowed(module: str) -> bool:
    if not module.startswith("gymnast"):
        return True
    return module in FORMATTERS or any(f"{module}.".startswith(f"{name}.") for name in ALLOWED)


@cache
def tree(module: str) -> ast.Module:
    return ast.parse((FOLDER / f"{module}.py").read_text())


def runtime_imports(module: str) -> list[str]:
    """Returns the modules that are imported when a module is imported or its functions run; types that only
    annotations need (`if TYPE_CHECKING:`) do not count."""
    found: list[str] = []
    for node in outside_type_checking(tree(module)):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            source = node.module or ""
            # `from gymnast import api` imports a module, `from gymnast.api import runs` a name of one
            found += (
                [f"gymnast.{alias.name}" for alias in node.names]
                if source == "gymnast"
                else [source]
            )
        elif isinstance(node, ast.Call) and "import" in ast.unparse(node.func):
            # importlib.import_module("gymnast....") would be an import in disguise
            found += [
                part.value
                for argument in node.args
                for part in ast.walk(argument)
                if isinstance(part, ast.Constant) and isinstance(part.value, str)
            ]
    return found


def outside_type_checking(node: ast.AST) -> Iterator[ast.AST]:
    yield node
    for child in ast.iter_child_nodes(node):
        if not (isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING"):
            yield from outside_type_checking(child)


def calls_api(module: str, function: str) -> bool:
    """True if a function, or another one of its module that it calls, calls something of `gymnast.api`."""
    functions = {
        node.name: node for node in ast.walk(tree(module)) if isinstance(node, ast.FunctionDef)
    }
    names = set(names_of_api(module))
    waiting, seen = [function], set[str]()
    while waiting:
        name = waiting.pop()
        seen.add(name)
        called = {
            ast.unparse(node.func).split(".")[0]
            for node in ast.walk(functions[name])
            if isinstance(node, ast.Call)
        }
        if called & names:
            return True
        waiting += [name for name in called if name in functions and name not in seen]
    return False


def names_of_api(module: str) -> Iterator[str]:
    """Yields the names by which a module refers to `gymnast.api`, its modules and its functions."""
    for node in outside_type_checking(tree(module)):
        if isinstance(node, ast.ImportFrom):
            source = node.module or ""
            for alias in node.names:
                full = f"{source}.{alias.name}"
                if full == "gymnast.api" or full.startswith("gymnast.api."):
                    yield alias.asname or alias.name


def test_the_check_finds_imports_in_disguise(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    code = (
        "from typing import TYPE_CHECKING\n"
        "from gymnast import api, scaffold\n"
        "if TYPE_CHECKING:\n    from gymnast.runs.run import Run\n"
        "def verb():\n    from gymnast.runs import store\n    helper()\n"
        "def helper():\n    importlib.import_module('gymnast.training.loop')\n    api.show()\n"
        "def other():\n    store.resolve()\n"
    )
    (tmp_path / "made_up.py").write_text(code)
    monkeypatch.setattr("tests.cli.test_verbs_are_thin.FOLDER", tmp_path)
    wrong = [name for name in runtime_imports("made_up") if not is_allowed(name)]
    assert wrong == ["gymnast.scaffold", "gymnast.runs", "gymnast.training.loop"]
    assert calls_api("made_up", "verb")
    assert not calls_api("made_up", "other")
