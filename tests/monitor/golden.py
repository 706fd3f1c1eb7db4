"""The golden files of the monitor: the overview and the manifest of the committed fixture.

A change of these is a change of what users see: look at the difference that the test prints. If it is
intended, regenerate them and commit both:

python -m tests.monitor.golden
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from difflib import unified_diff
from pathlib import Path
from tempfile import TemporaryDirectory

from gymnast.monitor.manifest import manifest_text
from gymnast.monitor.overview import overview_csv
from tests.monitor.fixture import GOLDEN, copy_fixture, fixture_reports

COMMAND = "python -m tests.monitor.golden"


def golden_texts(copy: Path) -> dict[str, str]:
    """Returns file -> content, computed from a copy of the fixture, which must be the working directory."""
    texts: dict[str, str] = {}
    for name, report in fixture_reports(copy).items():
        texts[f"{name}/run_overview.csv"] = overview_csv(report.overview)
        texts[f"{name}/manifest.json"] = manifest_text(report)
    return texts


def difference(stored: Mapping[str, str], computed: Mapping[str, str]) -> str:
    """Returns what differs, as a diff per file with the command that regenerates the files; empty if nothing
    does."""
    lines: list[str] = []
    for file in sorted({*stored, *computed}):
        before, after = stored.get(file, ""), computed.get(file, "")
        lines += unified_diff(
            _readable(before), _readable(after), f"golden/{file}", f"now/{file}", lineterm=""
        )
    if not lines:
        return ""
    advice = (
        f"The monitor shows other numbers or charts than before. If that is intended: {COMMAND}"
    )
    return "\n".join([*lines, advice])


def read_golden() -> dict[str, str]:
    files = sorted(file for file in GOLDEN.rglob("*") if file.is_file())
    return {file.relative_to(GOLDEN).as_posix(): file.read_text() for file in files}


def _readable(text: str) -> list[str]:
    """Returns the lines of a text; a CSV with one line per cell, so that a diff names the column."""
    lines = text.splitlines()
    if not lines or lines[0].startswith("{"):
        return lines
    head, *rows = (line.split(",") for line in lines)
    run = head.index("run")
    cells = [
        f"{row[run]} {name}: {cell}" for row in rows for name, cell in zip(head, row, strict=True)
    ]
    return [", ".join(head), *cells]


if __name__ == "__main__":
    with TemporaryDirectory() as scratch:
        place = copy_fixture(Path(scratch))
        os.chdir(place)
        for name, text in golden_texts(place).items():
            (GOLDEN / name).parent.mkdir(parents=True, exist_ok=True)
            (GOLDEN / name).write_text(text)
            print(GOLDEN / name)
