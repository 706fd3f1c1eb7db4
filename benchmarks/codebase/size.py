"""Counts files and lines: per folder, the longest ones, and the ones that architecture.md lists."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

SECTION = "## From environment to checkpoint"
SOURCES = (".py", ".cpp", ".hpp", ".h")


def sources(tree: Path, folder: str = "gymnast") -> list[Path]:
    """Returns the Python files of a folder of a tree, without what a template contains."""
    files = (tree / folder).rglob("*.py")
    return sorted(p for p in files if "template" not in p.parts and "__pycache__" not in p.parts)


def n_lines(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def measure_size(tree: Path) -> dict[str, Any]:
    files = {path: n_lines(path) for path in sources(tree)}
    folders = Counter(str(path.parent.relative_to(tree)) for path in files)
    longest_file = max(files, key=files.__getitem__)
    longest: dict[str, tuple[str, int]] = {
        "file": (str(longest_file.relative_to(tree)), files[longest_file])
    }
    for kind, name, length in definitions(tree, list(files)):
        if length > longest.get(kind, ("", 0))[1]:
            longest[kind] = (name, length)
    return {
        "files": len(files),
        "lines": sum(files.values()),
        "folders": dict(folders.most_common()),
        "longest": longest,
    }


def definitions(tree: Path, files: list[Path]) -> Iterator[tuple[str, str, int]]:
    """Yields (kind, file:name, lines from the first to the last) for every class and function."""
    kinds = {ast.ClassDef: "class", ast.FunctionDef: "function", ast.AsyncFunctionDef: "function"}
    for path in files:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
                name = f"{path.relative_to(tree)}:{node.name}"
                yield kinds[type(node)], name, (node.end_lineno or node.lineno) - node.lineno + 1


def listed_files(tree: Path) -> dict[str, Any]:
    """Returns the files, and their lines, in the table of architecture.md from the environment to the
    checkpoint. A row's files are in its first cell with code. A folder stands for all sources in it, a file
    name without a folder for a file next to the one before it."""
    page = (tree / "docs" / "architecture.md").read_text(encoding="utf-8")
    _, found, rest = page.partition(SECTION)
    if not found:
        return {"files": 0, "lines": 0, "names": [], "missing": [f"no section {SECTION!r}"]}
    section = rest.partition("\n## ")[0]
    names: list[str] = []
    for row in re.findall(r"^\|(.+)\|$", section, re.M):
        cell = next((cell for cell in row.split("|") if "`" in cell), "")
        folder = ""
        for name in re.findall(r"`([^`]+)`", cell):
            alone = "/" not in name and folder and any(_files(tree, f"{folder}/{name}"))
            names.append(f"{folder}/{name}" if alone else name)
            folder = names[-1].rpartition("/")[0]
    files: set[Path] = set()
    missing: list[str] = []
    for name in names:
        matched = set(_files(tree, name))
        files |= matched
        missing += [] if matched else [name]
    return {
        "files": len(files),
        "lines": sum(map(n_lines, files)),
        "names": sorted(str(path.relative_to(tree)) for path in files),
        "missing": missing,
    }


def _files(tree: Path, name: str) -> Iterator[Path]:
    for base in (tree / "gymnast", tree):
        for path in base.glob(name.rstrip("/")):
            below = path.rglob("*") if path.is_dir() else (path,)
            yield from (p for p in below if p.suffix in SOURCES and "__pycache__" not in p.parts)
