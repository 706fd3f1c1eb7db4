"""Numbers and tables as the page writes them."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import Any


def times(values: Sequence[float]) -> str:
    """The median, and how far the repetitions lie apart."""
    return f"**{median(values):.2f}** ({min(values):.2f} to {max(values):.2f})"


def rounded(number: float) -> str:
    """Three digits are more than these measurements hold."""
    return f"{float(f'{number:.3g}'):,.0f}"


def table(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(str, cells))} |" for cells in lines)
