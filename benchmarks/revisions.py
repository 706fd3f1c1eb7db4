"""Compares the speed of two revisions of gymnast on the benchmark tasks, in CPU time.

    git worktree add /path/to/old REVISION      # with a .venv of its own, or one that imports this tree
    python -m benchmarks.revisions /path/to/old . --tasks a,b,c,e --rounds 7

The two trees are sampled in turn, in alternating order and on one core, so that other load affects both
alike. A ratio above 1 means that the second tree is slower.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks import sample
from benchmarks.tasks import TASKS


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("trees", nargs=2, type=Path, metavar="TREE")
    parser.add_argument("--tasks", default="a,b,c,e", help="letters, separated by commas")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--core", type=int, default=0)
    parser.add_argument("--scale", type=float, default=1.0, help="fraction of every budget")
    parser.add_argument("--out", type=Path, help="also write all samples to this JSON file")
    options = parser.parse_args()
    trees = [tree.resolve() for tree in options.trees]
    found: dict[str, Any] = {"revisions": [revision(tree) for tree in trees], "tasks": {}}
    for letter in options.tasks.split(","):
        rounds = [sample_round(trees, letter, number, options) for number in range(options.rounds)]
        ratios = [after / before for before, after in rounds]
        found["tasks"][letter] = {
            "cpu_seconds": rounds,
            "ratio": median(ratios),
            "ratios": sorted(ratios),
        }
        low, high = min(ratios), max(ratios)
        line = f"{letter}: {median(ratios):.3f} ({low:.3f} to {high:.3f} in {len(ratios)} rounds)"
        print(line, flush=True)
        if options.out is not None:
            options.out.write_text(json.dumps(found, indent=1) + "\n")


def sample_round(
    trees: list[Path], letter: str, number: int, options: argparse.Namespace
) -> tuple[float, float]:
    """Returns the CPU seconds of the first and the second tree; every other round starts with the second."""
    task = TASKS[letter]
    env_steps = task.scaled_budget(options.scale * task.budget_factor)
    seconds = [0.0, 0.0]
    with sample.pin_to_cores({options.core}):
        for which in (0, 1) if number % 2 == 0 else (1, 0):
            seconds[which] = cpu_seconds(trees[which], letter, env_steps)
    return seconds[0], seconds[1]


def cpu_seconds(tree: Path, letter: str, env_steps: int) -> float:
    with tempfile.TemporaryDirectory() as runs:
        words = ["-m", "benchmarks.ours", letter, str(env_steps), "1", runs]
        return sample.run_json([str(tree / ".venv" / "bin" / "python"), *words], root=tree)["cpu"]


def revision(tree: Path) -> str:
    command = ["git", "-C", str(tree), "describe", "--always", "--dirty"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


if __name__ == "__main__":
    main()
