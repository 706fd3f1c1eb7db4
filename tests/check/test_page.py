"""docs/checking.md lists all checks."""

from __future__ import annotations

import re
from pathlib import Path

from gymnast.check.finding import CHECKS

PAGE = Path(__file__).parents[2] / "docs" / "checking.md"


def test_the_page_lists_every_check_in_order():
    assert re.findall(r"^\| `(.+?)` \|", PAGE.read_text(), re.M) == list(CHECKS)
