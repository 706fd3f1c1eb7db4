"""Solves tasks about prepared runs by MCP and by the command line, and counts calls and tokens.

python -m benchmarks.assistant --data /tmp/assistant --out benchmarks/results/assistant.json  # 5 minutes
python -m benchmarks.assistant --data /tmp/assistant --only 06-fault-gamma --verbose
python -m benchmarks.assistant --data /tmp/assistant --tasks my_tasks/  # your own, with a runs.yaml

The runs are trained once with fixed seeds and kept in `--data`; each side works on a copy of them. The truth
of a task is known from how its runs were prepared. Tokens are bytes / 4 of what is sent and received, without
the definitions of the tools, which are counted once (`gymnast --help` on the command line).
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.assistant.prepare import prepare
from benchmarks.assistant.sessions import Played, play_cli, play_mcp
from benchmarks.assistant.table import write_table
from benchmarks.assistant.task import FOLDER, Task, load_tasks
from benchmarks.code_revision import measurement_info

MAX_CALLS, LESS = 5, 3.0
"""Goals: at most so many calls per task by MCP, and so many times fewer tokens than by the command line."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of the runs, kept")
    parser.add_argument("--tasks", type=Path, default=FOLDER, help="folder of the tasks")
    parser.add_argument("--only", nargs="*", default=[], help="names of tasks")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--docs", type=Path, help="page whose table is replaced")
    parser.add_argument("--verbose", action="store_true", help="print the answers")
    options = parser.parse_args()
    tasks = load_tasks(options.tasks, options.only)
    prepared = prepare(options.data, options.tasks)
    sides: dict[str, dict[str, Played]] = {}
    definitions: dict[str, int] = {}
    for side, play in (("mcp", play_mcp), ("cli", play_cli)):
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            copy = Path(folder) / "work"
            shutil.copytree(prepared.parent, copy)
            sides[side], definitions[side] = play(tasks, copy / prepared.name)
    result = summary(tasks, sides, definitions)
    for task in tasks:
        report(task, sides, options.verbose)
    print(json.dumps({key: value for key, value in result.items() if key != "tasks"}, indent=1))
    if options.out is not None:
        stored = measurement_info("assistant") | result
        options.out.write_text(json.dumps(stored, indent=1) + "\n")
    if options.docs is not None:
        write_table(options.docs, result)
    sys.exit(0 if result["solved"]["mcp"] == len(tasks) else 1)


def summary(
    tasks: list[Task], sides: dict[str, dict[str, Played]], definitions: dict[str, int]
) -> dict[str, Any]:
    """Returns the totals, whether the goals are met, and what each task took."""
    tokens = {side: sum(one.tokens for one in played.values()) for side, played in sides.items()}
    most = max(one.calls for one in sides["mcp"].values())
    return {
        "n_tasks": len(tasks),
        "solved": {s: sum(one.solved for one in played.values()) for s, played in sides.items()},
        "calls": {s: sum(one.calls for one in played.values()) for s, played in sides.items()},
        "most_calls": {s: max(one.calls for one in played.values()) for s, played in sides.items()},
        "tokens": tokens,
        "definition_tokens": definitions,
        "times_fewer_tokens": round(tokens["cli"] / tokens["mcp"], 2),
        "goals": {
            f"at most {MAX_CALLS} calls per task": most <= MAX_CALLS,
            f"at least {LESS:g} times fewer tokens": tokens["cli"] >= LESS * tokens["mcp"],
        },
        "tasks": {
            task.name: {
                "question": task.question,
                "known": task.known,
                **{
                    side: asdict(played[task.name]) | {"tokens": played[task.name].tokens}
                    for side, played in sides.items()
                },
            }
            for task in tasks
        },
    }


def report(task: Task, sides: dict[str, dict[str, Played]], verbose: bool) -> None:
    """Prints one line per task, and what is wrong."""
    mcp, cli = sides["mcp"][task.name], sides["cli"][task.name]
    marks = "".join("+" if one.solved else "-" for one in (mcp, cli))
    print(
        f"{marks} {task.name:<28} calls {mcp.calls} {cli.calls}  tokens {mcp.tokens:>6} {cli.tokens:>7}"
    )
    for side, one in (("mcp", mcp), ("cli", cli)):
        if verbose:
            print(f"    {side}: {one.answer}")
        for wrong in one.wrong:
            print(f"    {side}: {wrong}")


if __name__ == "__main__":
    main()
