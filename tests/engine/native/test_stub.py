"""The stub of the compiled module matches the module."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gymnast
from gymnast import _native

STUB = Path(gymnast.__file__).with_name("_native.pyi")


def said(body: list[ast.stmt], before: str = "") -> Iterator[tuple[str, list[str]]]:
    """Returns the names of functions and of their parameters in the stub."""
    for one in body:
        if isinstance(one, ast.ClassDef):
            yield from said(one.body, f"{one.name}.")
        elif isinstance(one, ast.FunctionDef):
            yield before + one.name, [arg.arg for arg in one.args.args]


def there(holder: Any, before: str = "") -> Iterator[tuple[str, list[str]]]:
    """Returns the names of functions and of their parameters in the module."""
    for name, one in vars(holder).items():
        if isinstance(one, type):
            yield from there(one, f"{one.__name__}.")
        elif signature := getattr(one, "__nb_signature__", None):
            text = signature[0][0]
            while "[" in text:
                text = re.sub(r"\[[^\[\]]*\]", "", text)
            taken = text[text.index("(") + 1 : text.index(")")]
            yield before + name, [part.split(":")[0].strip() for part in taken.split(",") if part]


def test_every_function_has_the_signature_of_the_stub():
    stub = dict(said(ast.parse(STUB.read_text()).body))
    assert stub == dict(there(_native))
    assert "Network.conv" in stub
