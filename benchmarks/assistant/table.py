"""The table of the tasks in the documentation, made from a stored result."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

START, END = "<!-- assistant tasks -->", "<!-- end of assistant tasks -->"


def markdown(result: dict[str, Any]) -> str:
    """Returns the totals as text, and one line per task: calls and tokens of both sides."""
    lines = [
        _totals(result),
        "",
        "| task | MCP: calls | tokens | command line: calls | tokens |",
        "|---|--:|--:|--:|--:|",
    ]
    for task in result["tasks"].values():
        cells = (f"{_calls(task[side])} | {task[side]['tokens']:,}" for side in ("mcp", "cli"))
        lines.append(f"| {task['question']} | {' | '.join(cells)} |")
    totals = (f"{result['calls'][side]} | {result['tokens'][side]:,}" for side in ("mcp", "cli"))
    lines.append(f"| **all {result['n_tasks']}** | {' | '.join(totals)} |")
    return "\n".join(lines)


def write_table(page: Path, result: dict[str, Any]) -> None:
    """Replaces the table of a page."""
    text = page.read_text(encoding="utf-8")
    page.write_text(with_table(text, result), encoding="utf-8")


def with_table(text: str, result: dict[str, Any]) -> str:
    """Returns the text of a page with the table of a result."""
    pattern = re.compile(f"{re.escape(START)}.*?{re.escape(END)}", re.S)
    return pattern.sub(lambda _: f"{START}\n\n{markdown(result)}\n\n{END}", text)


def _totals(result: dict[str, Any]) -> str:
    solved, count = result["solved"], result["n_tasks"]
    definitions = result["definition_tokens"]
    tokens, most = result["tokens"], result["most_calls"]["mcp"]
    return (
        f"Solved by MCP: {solved['mcp']} of {count}, with at most {most} calls per task; by the command "
        f"line: {solved['cli']} of {count}. MCP took {tokens['mcp']:,} tokens and the command line "
        f"{tokens['cli']:,}, which is {result['times_fewer_tokens']} times as many. In addition, the "
        f"definitions of all tools have {definitions['mcp']:,} tokens, and `gymnast --help` has "
        f"{definitions['cli']:,}."
    )


def _calls(side: dict[str, Any]) -> str:
    return f"{side['calls']}{'' if side['solved'] else ' (not solved)'}"
