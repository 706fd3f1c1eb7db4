"""The building blocks of a report, independent of its format."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from gymnast.insight.chart import ChartData


@dataclass(frozen=True)
class Heading:
    text: str
    level: int = 2


@dataclass(frozen=True)
class Paragraph:
    text: str


@dataclass(frozen=True)
class Table:
    head: Sequence[str]
    """Column titles; empty if the first column names the rows."""
    rows: Sequence[Sequence[str]]
    code_columns: tuple[int, ...] = ()
    """Indices of the columns that are set as code."""


@dataclass(frozen=True)
class Figure:
    chart: ChartData


@dataclass(frozen=True)
class Picture:
    """A picture whose content a table repeats: without matplotlib, it is left out."""

    name: str
    """Stem of its file."""
    title: str
    draw: Callable[[], bytes]
    """Returns the picture as PNG."""


Block = Heading | Paragraph | Table | Figure | Picture
