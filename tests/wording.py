"""The rules of wording, as functions of a file's text: docstring openings, banned words, spelling.

python -m tests.wording                 # every violation, as path:line: what is wrong
python -m tests.wording gymnast/algos   # only below these paths
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDERS = ("gymnast", "docs", "tests", "benchmarks", "native")
PAGES = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "Makefile")
SUFFIXES = (".py", ".pyi", ".md", ".yaml", ".cpp", ".h", ".hpp", ".cc", ".txt")
RULES = (
    "tests/wording.py",
    "tests/test_wording.py",
    "tests/benchmarks/test_codebase.py",
)
"""Files that quote what they forbid."""

FRAGMENTS = frozenset(
    [
        "Of",
        "As",
        "Where",
        "Wherever",
        "Those",
        "What",
        "Whatever",
        "Whose",
        "Which",
        "Who",
        "Whom",
        "Whoever",
        "Why",
        "By",
        "In",
        "Into",
        "With",
        "Without",
        "From",
        "At",
        "On",
        "Onto",
        "Over",
        "Under",
        "To",
        "Toward",
        "Than",
        "And",
        "Or",
        "But",
        "Nor",
        "Also",
        "Among",
        "Beside",
        "Besides",
        "Between",
        "Against",
        "Behind",
        "Above",
        "Below",
        "Along",
        "Within",
        "Upon",
        "Until",
        "Unless",
        "Because",
        "Since",
        "Though",
        "Per",
        "Like",
        "Not",
    ]
)
"""A docstring that opens with one of these is not a sentence about the thing it documents."""
CLAUSES = frozenset(["For", "When", "Whenever", "While", "After", "Before", "Once", "That"])
"""These open a sentence only if a main clause follows, after a comma."""
PREDICATES = frozenset(["Whether", "How"])
"""These describe a field or a property. A function returns whether or how."""

BANNED = (
    r"tell(?!\(\)|\(\[)|tells|telling|told|untold",  # file.tell() and CMA.tell([...]) are of others
    r"mend|mends|mended|mending",
    r"beside",
    r"obey|obeys|obeyed|obeying",
    r"hear|hears|heard|hearing",
    r"dear|dearer|dearest",
    r"undone",
    r"so[ -]?manieth|manieth",
    r"begun again",
    r"in doubt",
    r"is said",
    r"what is paid",
    r"those that",
    r"goes on|go on|going on|went on",
)
"""Words and phrases of VOCABULARY.md's list of what not to write, each with its inflections."""
BRITISH = (
    r"(?:normal|optim|random|minim|maxim|general|initial|summar|recogn|organ|util|serial|quant|penal|"
    r"standard|visual|vector|categor|stabil|final|special|synchron|parallel|discret|regular|priorit|"
    r"emphas|real|memor|custom|character|equal|local|central)is(?:e|es|ed|er|ers|ing|ation|ations)",
    r"(?:un|re|de)(?:normal|optim|random|initial)is(?:e|es|ed|er|ers|ing|ation|ations)",
    r"colou?r(?<=our)(?:s|ed|ing|ful|less)?",
    r"(?:behavi|neighb|fav|hon|lab|hum)our(?:s|ed|ing|able|ite|ites|hood)?",
    r"cent(?:re|res|red|ring)",
    r"artefacts?",
    r"analys(?:e|ed|es|ing)(?<!analyses)",
)
"""Spellings that American English does not have."""

# Letters alone bound a word, so that parts of identifiers (`numbers_told`, `told_by`) count as words.
_EDGES = r"(?<![A-Za-z])(?:{})(?![A-Za-z])"
# A phrase may be broken by the end of a line, with or without a comment sign.
_BANNED = re.compile(_EDGES.format("|".join(BANNED)).replace(" ", r"(?:\s|_|#|//)+"), re.I)
_BRITISH = re.compile(_EDGES.format("|".join(BRITISH)), re.I)


@dataclass(frozen=True)
class Violation:
    line: int
    text: str


def violations(name: str, text: str) -> list[Violation]:
    """Returns everything that is wrong with the wording of a file, in the order of its lines."""
    found = [*banned_words(text), *british_spellings(text)]
    if name.endswith(".py"):
        found += docstring_fragments(text)
    return sorted(found, key=lambda violation: violation.line)


def banned_words(text: str) -> list[Violation]:
    return [Violation(line, f"banned: {word}") for line, word in _matches(_BANNED, text)]


def british_spellings(text: str) -> list[Violation]:
    return [Violation(line, f"not American: {word}") for line, word in _matches(_BRITISH, text)]


def docstring_fragments(text: str) -> list[Violation]:
    """Returns the docstrings of a module, its classes, functions and fields that do not open a sentence."""
    return [
        Violation(line, f"docstring fragment: {opening(doc)}")
        for line, doc, is_field in docstrings(ast.parse(text))
        if is_fragment(doc, is_field=is_field)
    ]


def is_fragment(doc: str, *, is_field: bool = False) -> bool:
    words = doc.split()
    first = re.sub(r"\W+$", "", words[0]) if words else ""
    if first in CLAUSES:
        sentence = re.split(r"[.:;](?:\s|$)", " ".join(words), maxsplit=1)[0]
        return "," not in sentence
    return first in FRAGMENTS or (first in PREDICATES and not is_field)


def opening(doc: str) -> str:
    """Returns the first words of a docstring, to be shown."""
    return " ".join(doc.split()[:6])


def docstrings(tree: ast.Module) -> Iterator[tuple[int, str, bool]]:
    """Yields (line, text, whether it documents a field or a property) for every docstring."""
    for node in blocks(tree):
        for position, statement in enumerate(getattr(node, "body", ())):
            value = statement.value if isinstance(statement, ast.Expr) else None
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                yield value.lineno, value.value, position > 0 or _is_property(node)


def blocks(node: ast.AST) -> Iterator[ast.AST]:
    """Yields a module or statement and everything below it that may have statements. Expressions, which are
    most of a tree, have none."""
    yield node
    for part in ("body", "handlers", "cases", "orelse", "finalbody"):
        for below in getattr(node, part, ()):
            yield from blocks(below)


def checked_files() -> list[Path]:
    """Returns every text file that the rules apply to: not those of the virtual environments of peers."""
    below = (path for folder in FOLDERS for path in (ROOT / folder).rglob("*"))
    files = [p for p in below if p.suffix in SUFFIXES and p.is_file() and not _is_foreign(p)]
    pages = [ROOT / name for name in PAGES]
    return sorted(p for p in (*files, *pages) if p.relative_to(ROOT).as_posix() not in RULES)


def _is_foreign(path: Path) -> bool:
    """Returns whether a file is in a hidden folder or a cache, and so not ours."""
    folders = path.relative_to(ROOT).parts[:-1]
    return any(folder.startswith(".") or folder == "__pycache__" for folder in folders)


def all_violations(files: list[Path]) -> dict[str, list[Violation]]:
    """Returns path -> violations, for the files that have any."""
    named = {path.relative_to(ROOT).as_posix(): path for path in files}
    found = {n: violations(n, p.read_text(encoding="utf-8")) for n, p in named.items()}
    return {name: wrong for name, wrong in found.items() if wrong}


def _matches(pattern: re.Pattern[str], text: str) -> Iterator[tuple[int, str]]:
    for found in pattern.finditer(text):
        yield text.count("\n", 0, found.start()) + 1, " ".join(found[0].split())


def _is_property(node: ast.AST) -> bool:
    decorators = getattr(node, "decorator_list", [])
    return any("property" in ast.unparse(decorator) for decorator in decorators)


def main(arguments: list[str]) -> None:
    found = all_violations(checked_files())
    for name, wrong in found.items():
        if not arguments or name.startswith(tuple(arguments)):
            for violation in wrong:
                print(f"{name}:{violation.line}: {violation.text}")


if __name__ == "__main__":
    main(sys.argv[1:])
