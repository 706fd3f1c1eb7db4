"""The generated parts of docs/foreign-runs.md, which `python -m tests.foreign.page` writes again."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from pathlib import Path

from gymnast.foreign.libraries import CLEANRL, SB3, Library
from tests.cli_output import cli_output
from tests.foreign.runs import FIXTURE

PAGE = Path(__file__).parents[2] / "docs" / "foreign-runs.md"
_OUTPUT = re.compile(r"```sh\n(gymnast (?:doctor|compare) [^\n]*)\n```\n\n```text\n(.*?)```", re.S)
_TABLE = re.compile(r"<!-- generated: (\w+) -->\n.*?<!-- end -->", re.S)
TABLES = {"sb3": SB3, "cleanrl": CLEANRL}


def current(text: str) -> str:
    """Returns the page with the present tables and outputs."""
    text = _TABLE.sub(lambda found: _table(found[1]), text)
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(FIXTURE, Path(folder) / "logs")
        before = Path.cwd()
        os.chdir(folder)
        try:
            return _OUTPUT.sub(_with_output, text)
        finally:
            os.chdir(before)


def _with_output(found: re.Match[str]) -> str:
    printed = cli_output(*found[1].split()[1:])
    lines = "\n".join(line.rstrip() for line in printed.splitlines())
    return f"```sh\n{found[1]}\n```\n\n```text\n{lines}\n```"


def _table(name: str) -> str:
    return f"<!-- generated: {name} -->\n{library_table(TABLES[name])}<!-- end -->"


def library_table(library: Library) -> str:
    """Returns the names of a library as a Markdown table, and the unused ones."""
    lines = ["| name | metric | conversion, and how it is computed |", "|---|---|---|"]
    for name, metric in library.metrics.items():
        note = [metric.conversion, metric.note]
        if metric.per_episode:
            note.append(
                "mean over the last 100 episodes, with `episode/return_std` and `episode/count`"
            )
        lines.append(f"| `{name}` | `{metric.key}` | {'; '.join(filter(None, note))} |")
    lines += [f"| `{name}` | | not used: {why} |" for name, why in library.unused.items()]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(current(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
