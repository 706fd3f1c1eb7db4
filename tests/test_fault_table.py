"""Every test that docs/faults.md names exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "faults.md").read_text()
ROWS = [
    line for line in PAGE.splitlines() if line.startswith("| ") and "what goes wrong" not in line
]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.split("|")[1].strip())
def test_every_line_of_the_table_names_a_test_that_exists(row: str):
    (file, test), *more = re.findall(r"`(tests/[\w/]+\.py):(test_\w+)`", row)
    assert not more
    assert f"def {test}(" in (ROOT / file).read_text()
