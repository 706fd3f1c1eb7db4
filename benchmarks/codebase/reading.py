"""Counts what makes code readable or not: comments, docstrings, banned words, uninformative types."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from pathlib import Path
from typing import Any

from benchmarks.codebase.size import sources
from tests import wording

PRAGMA = re.compile(r"#\s*(noqa|pyright|type:|pragma|fmt:|ruff)")
"""Comments for tools explain nothing to a reader."""


def measure_readability(tree: Path) -> dict[str, Any]:
    """Returns the measures of the package; banned words and spellings also count README and docs."""
    texts = [path.read_text(encoding="utf-8") for path in sources(tree)]
    lines = sum(len(text.splitlines()) for text in texts)
    comments = [comment_lines(text) for text in texts]
    trees = [ast.parse(text) for text in texts]
    prose = [*texts, *(page.read_text(encoding="utf-8") for page in _pages(tree))]
    return {
        "comment share": sum(any_ for any_, _ in comments) / lines,
        "whole comment share": sum(whole for _, whole in comments) / lines,
        "docstrings": sum(len(list(wording.docstrings(module))) for module in trees),
        "docstring fragments": sum(len(wording.docstring_fragments(text)) for text in texts),
        "banned words": sum(len(wording.banned_words(text)) for text in prose),
        "british spellings": sum(len(wording.british_spellings(text)) for text in prose),
        "any per 1000 lines": 1000 * sum(map(_n_any, trees)) / lines,
    }


def comment_lines(text: str) -> tuple[int, int]:
    """Returns how many lines have a comment for readers, and how many are nothing but one."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    comments = [t for t in tokens if t.type == tokenize.COMMENT and not PRAGMA.match(t.string)]
    return len(comments), sum(token.line.lstrip().startswith("#") for token in comments)


def _pages(tree: Path) -> list[Path]:
    return [tree / "README.md", *sorted((tree / "docs").rglob("*.md"))]


def _n_any(module: ast.Module) -> int:
    return sum(isinstance(node, ast.Name) and node.id == "Any" for node in ast.walk(module))
