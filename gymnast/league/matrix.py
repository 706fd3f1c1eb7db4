"""The cross-play matrix: every row against every column, as data and as text; `heatmap.py` draws it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from gymnast.league.gates import format_win_rate
from gymnast.league.results import Results, Tally
from gymnast.text import formatting


@dataclass(frozen=True)
class CrossPlayMatrix:
    row_role: str
    """The role in the rows; win rates are from its side."""
    column_role: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cells: tuple[tuple[Tally, ...], ...]
    """Results of each pair, [rows][columns]; an empty tally if the pair never met."""

    @classmethod
    def from_results(
        cls,
        results: Results,
        rows: Sequence[str] | None = None,
        columns: Sequence[str] | None = None,
    ) -> CrossPlayMatrix:
        """Returns the matrix of these entrants in this order, or of all entrants in natural order."""
        rows = results.rows() if rows is None else rows
        columns = results.columns() if columns is None else columns
        cells = tuple(tuple(results.pair_tally(r, c) for c in columns) for r in rows)
        return cls(results.row_role, results.column_role, tuple(rows), tuple(columns), cells)

    @property
    def unknown(self) -> int:
        return sum(tally.unknown for line in self.cells for tally in line)

    def to_json(self) -> dict[str, Any]:
        return {
            "roles": [self.row_role, self.column_role],
            "rows": list(self.rows),
            "columns": list(self.columns),
            "cells": [[_cell_json(tally) for tally in line] for line in self.cells],
        }

    def to_text(self) -> str:
        """Formats the matrix as a table for the terminal."""
        if not self.rows or not self.columns:
            return "(no matches yet)"
        head = (f"{self.row_role} \\ {self.column_role}", *self.columns)
        lines = [
            (name, *map(_cell_text, line)) for name, line in zip(self.rows, self.cells, strict=True)
        ]
        table = formatting.table(head, lines, right=" ".join(self.columns))
        return f"{table}\n{self.legend}"

    @property
    def legend(self) -> str:
        """Explanation of the numbers in the table."""
        legend = f"win rate of the {self.row_role} [95 % interval] / matches with a known outcome"
        unknown = formatting.count(self.unknown)
        return f"{legend}; {unknown} unknown, not counted" if self.unknown else legend


def _cell_text(tally: Tally) -> str:
    """Returns a text such as `80% [71, 87] / 100`."""
    return (
        f"{format_win_rate(tally.win_rate())} / {formatting.count(tally.n_known)}"
        if tally.n_known
        else "-"
    )


def _cell_json(tally: Tally) -> dict[str, Any]:
    rate = tally.win_rate()
    return {
        "rate": rate.mean if tally.n_known else None,
        "low": rate.low,
        "high": rate.high,
        "matches": tally.n_known,
        "unknown": tally.unknown,
    }
