"""Counts one tree, or two as before and after.

python -m benchmarks.codebase .                         # a Markdown table
python -m benchmarks.codebase /path/to/old . --json     # every number, for programs

A tree is a directory with the project in it, such as one made by `git worktree add`. Its code is executed by
the interpreter in its own `.venv` if there is one, and otherwise by this interpreter with its native kernels.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from benchmarks.codebase import duplication, reading, size

TRACE = Path(__file__).with_name("trace.py")


def measure_tree(tree: Path) -> dict[str, Any]:
    """Returns every measure of a tree."""
    executed, listed = trace_training(tree), size.listed_files(tree)
    both = sorted({*executed["rollout"]["names"]} & {*listed["names"]})
    return {
        "tree": str(tree),
        "executed": executed,
        "listed": listed,
        "to read": {"files": len(both), "lines": sum(size.n_lines(tree / n) for n in both)},
        **size.measure_size(tree),
        **reading.measure_readability(tree),
        "repeated windows": duplication.repeated_windows(tree, ("gymnast",)),
        "repeated windows, whole tree": duplication.repeated_windows(
            tree, ("gymnast", "tests", "benchmarks", "docs")
        ),
    }


def trace_training(tree: Path) -> dict[str, Any]:
    """Returns the files and lines that training PPO on CartPole executes, as `trace.py` finds them."""
    own_python = tree / ".venv" / "bin" / "python"
    python = str(own_python) if own_python.exists() else sys.executable
    completed = subprocess.run(
        [python, str(TRACE), str(tree)], capture_output=True, text=True, cwd=tree, check=False
    )
    if completed.returncode:
        raise SystemExit(f"{tree}: the traced training failed\n{completed.stderr[-2000:]}")
    return json.loads(completed.stdout.splitlines()[-1])


def rows(counts: dict[str, Any]) -> dict[str, str]:
    """Returns measure -> value as a reader wants to see it."""
    run, path, both = counts["executed"], counts["listed"], counts["to read"]
    folders, longest = counts["folders"], counts["longest"]
    largest = max(folders, key=folders.__getitem__)
    # Keys must differ, so equal measures end in spaces, which `markdown` strips.
    return {
        "files of the package": f"{counts['files']:,}",
        "lines of the package": f"{counts['lines']:,}",
        "one rollout of PPO executes, files": f"{run['rollout']['files']:,}",
        "their lines": f"{run['rollout']['lines']:,}",
        "of them executed": f"{run['rollout']['executed']:,}",
        "a whole training of PPO executes, files": f"{run['training']['files']:,}",
        "their lines ": f"{run['training']['lines']:,}",
        "of them executed ": f"{run['training']['executed']:,}",
        "architecture.md, environment to checkpoint, files": f"{path['files']:,}",
        "their lines  ": f"{path['lines']:,}",
        "to read for PPO: both of a rollout and in architecture.md, files": f"{both['files']:,}",
        "their lines   ": f"{both['lines']:,}",
        "largest flat folder": f"{largest}: {folders[largest]} files",
        "folders with more than 20 files": f"{sum(n > 20 for n in folders.values())}",
        **{f"longest {kind}": f"{name}: {n} lines" for kind, (name, n) in longest.items()},
        "lines with a comment": f"{counts['comment share']:.2%}",
        "lines that are only a comment": f"{counts['whole comment share']:.2%}",
        "docstrings": f"{counts['docstrings']:,}",
        "docstrings that open as a fragment": f"{counts['docstring fragments']:,}",
        "banned words": f"{counts['banned words']:,}",
        "British spellings": f"{counts['british spellings']:,}",
        "`Any` per 1,000 lines": f"{counts['any per 1000 lines']:.1f}",
        "repeated windows of 6 lines, package": f"{counts['repeated windows']:,}",
        "the same, whole tree": f"{counts['repeated windows, whole tree']:,}",
    }


def markdown(trees: list[dict[str, Any]]) -> str:
    columns = [rows(counts) for counts in trees]
    heads = ["before", "after"] if len(trees) == 2 else ["now"]
    lines = ["| measure | " + " | ".join(heads) + " |", "|---|" + "---|" * len(heads)]
    for measure in columns[0]:
        cells = " | ".join(column[measure] for column in columns)
        lines.append(f"| {measure.strip()} | {cells} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("trees", type=Path, nargs="+", metavar="TREE", help="one tree, or two")
    parser.add_argument("--json", action="store_true", help="print every number")
    options = parser.parse_args()
    if len(options.trees) > 2:
        parser.error("expected one tree, or two as before and after")
    counts = [measure_tree(tree.resolve()) for tree in options.trees]
    print(json.dumps(counts, indent=1) if options.json else markdown(counts))


if __name__ == "__main__":
    main()
