"""Every stored document is read by `gymnast.runs.document`, which restores every number and checks types."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, NotRequired, TypedDict

import pytest

import gymnast
from gymnast.runs import document

PACKAGE = Path(gymnast.__file__).parent
MESSAGES = "messages between our own processes"
OTHERS = "files of other programs, which have other types"
REQUESTS = "what a client or a program of the user sends"
ALLOWED = {
    "runs/document.py": "the reader",
    "metrics/database.py": "the names of a metric store, checked there: metrics are below runs",
    "metrics/sinks/wandb.py": "names of videos that the sink itself has written",
    "config/environments.py": "a file of the package",
    "privacy/content.py": "cleans any JSON without interpreting it",
    "tasks/worker.py": MESSAGES,
    "tasks/child.py": MESSAGES,
    "envs/backends/messages.py": MESSAGES,
    "inspector/protocol.py": MESSAGES,
    "nightly/jobs.py": MESSAGES,
    "foreign/hyperparameters.py": OTHERS,
    "foreign/files.py": OTHERS,
    "foreign/wandb_file.py": OTHERS,
    "foreign/table.py": OTHERS,
    "trajectories/lines.py": "lines of the user, which pydantic validates with messages of its own",
    "sweep/process.py": REQUESTS,
    "sweep/wandb_server.py": REQUESTS,
    "mcp/parameters.py": REQUESTS,
    "studio/requests.py": REQUESTS,
}
"""File -> why it reads JSON in another way."""


def json_readers() -> Iterator[str]:
    """Yields every file of the package that uses json.load, json.loads or json.JSONDecoder."""
    for file in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_bytes())):
            reads = (
                isinstance(node, ast.Attribute)
                and isinstance(node.value, ast.Name)
                and node.value.id == "json"
                and node.attr in ("load", "loads", "JSONDecoder")
            )
            if reads or (isinstance(node, ast.ImportFrom) and node.module == "json"):
                yield str(file.relative_to(PACKAGE))


def test_stored_documents_are_read_by_one_reader():
    assert {*json_readers()} == {*ALLOWED}


class Part(TypedDict):
    size: float
    kind: NotRequired[Literal["a", "b"]]


class Whole(TypedDict):
    name: str
    parts: list[Part]
    best: Part | None
    counts: dict[str, int | float]
    pair: NotRequired[tuple[str, int]]


GOOD = {"name": "x", "parts": [{"size": 1}], "best": None, "counts": {"a": 1.5}, "more": [1]}


def test_a_document_of_its_type_is_returned_with_every_number():
    stored = document.dumps(GOOD | {"best": {"size": float("-inf"), "kind": "b"}, "pair": ("a", 1)})
    assert document.parse(Whole, stored)["best"] == {"size": float("-inf"), "kind": "b"}


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"name": 3}, r"name is a number \(expected a string\)"),
        (
            {"parts": [{"size": 1}, {"size": "1"}]},
            r"parts\.1\.size is a string \(expected a number\)",
        ),
        ({"parts": [{}]}, r"parts\.0\.size is missing"),
        ({"best": {"size": True}}, r"best\.size is a boolean"),
        ({"best": {"size": 1.0, "kind": "c"}}, r"best\.kind is a string \(expected 'a' or 'b'\)"),
        ({"counts": {"a": None}}, r"counts\.a is null \(expected a number\)"),
        ({"pair": ["a"]}, "pair is a list"),
    ],
)
def test_the_place_of_another_type_is_named(change: dict[str, object], problem: str):
    with pytest.raises(ValueError, match=problem):
        document.parse(Whole, document.dumps(GOOD | change))


@pytest.mark.parametrize(
    "text",
    [
        *("[" * 100_000, "NaN", "{", '{"$float": "high"}', "[]", "null"),
        *("1" + "0" * 400, "9" * 5000, '"\\ud800"', b'"\xed\xa0\x80"'),
    ],
)
def test_what_is_no_document_is_a_value_error(text: str | bytes):
    with pytest.raises(ValueError, match=r"."):
        document.parse(Whole, text)
