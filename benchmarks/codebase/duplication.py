"""Counts repeated code: windows of six lines that occur more than once, whatever their names are.

Lines without code, docstrings and imports are left out. Inside of a window, the first name becomes n0, the
second n1 and so on, and numbers and strings become one sign each; so code that was copied and consistently
renamed is found, and code that only has the same shape with other relations between its names is not.
"""

from __future__ import annotations

import ast
import io
import keyword
import tokenize
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from benchmarks.codebase.size import sources

WINDOW = 6
MIN_TOKENS = 30
"""A window with fewer tokens is a list of names or the end of a call, which many places have."""
Token = tuple[int, str]


def repeated_windows(tree: Path, folders: tuple[str, ...]) -> int:
    """Returns how many windows have the same normalized code as another one."""
    files = [path for folder in folders for path in sources(tree, folder)]
    texts = (path.read_text(encoding="utf-8") for path in files)
    counts = Counter(window for text in texts for window in windows(text))
    return sum(count for count in counts.values() if count > 1)


def windows(text: str) -> Iterator[str]:
    """Yields the normalized code of every window of a file."""
    lines = code_lines(text)
    for start in range(len(lines) - WINDOW + 1):
        window = lines[start : start + WINDOW]
        if sum(map(len, window)) >= MIN_TOKENS:
            yield normalized(window)


def normalized(window: list[list[Token]]) -> str:
    """Returns the code of a window with its names replaced in order of appearance, and without values."""
    names: dict[str, str] = {}

    def sign(token: Token) -> str:
        kind, text = token
        if kind == tokenize.NAME and not keyword.iskeyword(text):
            return names.setdefault(text, f"n{len(names)}")
        return {tokenize.NUMBER: "0", tokenize.STRING: "''"}.get(kind, text)

    return "\n".join(" ".join(map(sign, line)) for line in window)


def code_lines(text: str) -> list[list[Token]]:
    """Returns the tokens of every physical line that has code other than an import or a docstring."""
    skipped = set(_skipped(ast.parse(text)))
    silent = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}
    lines: dict[int, list[Token]] = {}
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        line = token.start[0]
        if token.type not in silent and token.string and line not in skipped:
            lines.setdefault(line, []).append((token.type, token.string))
    return [lines[number] for number in sorted(lines)]


def _skipped(module: ast.Module) -> Iterator[int]:
    """Yields the lines of imports and docstrings."""
    for node in ast.walk(module):
        if isinstance(node, (ast.Import, ast.ImportFrom, ast.Expr)):
            is_code = isinstance(node, ast.Expr) and not isinstance(node.value, ast.Constant)
            last = node.end_lineno or node.lineno
            yield from () if is_code else range(node.lineno, last + 1)
