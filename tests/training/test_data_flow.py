"""Only the loop changes a run: whatever it calls takes values and returns values."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import gymnast

PACKAGE = Path(gymnast.__file__).parent
OWNERS = ("training/loop.py", "training/session.py")
"""The loop, and the session's own methods: building it, restoring it."""
STATE = {"session", "opened", "loop", "row", "s"}
"""Names of variables that hold the state of a training."""
MODULES = sorted(str(file.relative_to(PACKAGE)) for file in PACKAGE.rglob("*.py"))


def parameters(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """Yields (function, annotation) for every parameter."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            for argument in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs):
                if argument.annotation is not None:
                    yield node.name, ast.unparse(argument.annotation)


def writes(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yields (line, target) for every assignment to an attribute or an item."""
    for node in ast.walk(tree):
        targets = node.targets if isinstance(node, ast.Assign) else ()
        if isinstance(node, ast.AugAssign | ast.AnnAssign):
            targets = (node.target,)
        for target in targets:
            if isinstance(target, ast.Attribute | ast.Subscript):
                yield target.lineno, ast.unparse(target)


def test_no_function_takes_the_loop():
    takers = [
        f"{module}: {name}"
        for module in MODULES
        for name, kind in parameters(ast.parse((PACKAGE / module).read_text()))
        if kind.strip("\"'").rpartition(".")[2] == "Loop"
    ]
    assert not takers


def test_only_the_loop_writes_into_the_state_of_a_training():
    wrong: list[str] = []
    for module in MODULES:
        if not module.startswith(("training/", "evaluation/", "selfplay/")) or module in OWNERS:
            continue
        for line, target in writes(ast.parse((PACKAGE / module).read_text())):
            root, *path = target.split(".")
            owner = root if root != "self" else path[0] if len(path) > 1 else ""
            if owner in STATE and path:
                wrong.append(f"{module}:{line}: {target}")
    assert not wrong


def test_the_rule_finds_a_write_into_the_session():
    tree = ast.parse("def f(session):\n    session.end_reason = None\n")
    assert [target for _, target in writes(tree)] == ["session.end_reason"]
