"""The page about foreign runs has the present tables of names and the output of the present code."""

from __future__ import annotations

from tests.foreign.page import PAGE, current


def test_the_tables_and_outputs_of_the_page_are_current() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert text.count("```text") >= 4
    assert current(text) == text, "run: python -m tests.foreign.page"
