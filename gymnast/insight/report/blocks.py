"""What a report is made of, whatever it is written in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


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
    """Empty words where the first column names the rows."""
    rows: Sequence[Sequence[str]]
    code: tuple[int, ...] = ()
    """Columns of keys, values and commands."""


@dataclass(frozen=True)
class Figure:
    chart: Mapping[str, Any]
    """As `chart_data.charts` gives it."""


Block = Heading | Paragraph | Table | Figure
