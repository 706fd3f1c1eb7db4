"""Formats numbers and Markdown tables for the page."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import Any


def ratio_text(values: Sequence[float]) -> str:
    """Returns the median and the range of the repetitions as text."""
    return f"**{median(values):.2f}** ({min(values):.2f} to {max(values):.2f})"


def rounded(number: float) -> str:
    """Returns a number rounded to three digits, more than these measurements are accurate to."""
    return f"{float(f'{number:.3g}'):,.0f}"


def table(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(str, cells))} |" for cells in lines)
