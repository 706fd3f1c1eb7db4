"""The cross-play matrix: every row against every column, as data and as text; `heatmap.py` draws it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypedDict

from gymnast.league.results import Results, Tally


class CellDocument(TypedDict):
    """The results of one pair as JSON values."""

    rate: float | None
    """Win rate of the row role; None without a known outcome."""
    low: float
    high: float
    matches: int
    """Number of matches with a known outcome."""
    unknown: int
    """Number of matches with an unknown outcome."""


class MatrixDocument(TypedDict):
    """The matrix as JSON values."""

    roles: list[str]
    """The role in the rows, then the one in the columns."""
    rows: list[str]
    columns: list[str]
    cells: list[list[CellDocument]]
    """Results of each pair, [rows][columns]."""


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
        """Returns the matrix of the entrants `rows` and `columns` in this order; None means all of that role,
        in natural order."""
        rows = results.rows() if rows is None else rows
        columns = results.columns() if columns is None else columns
        cells = tuple(tuple(results.pair_tally(r, c) for c in columns) for r in rows)
        return cls(results.row_role, results.column_role, tuple(rows), tuple(columns), cells)

    def to_json(self) -> MatrixDocument:
        return {
            "roles": [self.row_role, self.column_role],
            "rows": list(self.rows),
            "columns": list(self.columns),
            "cells": [[_cell_json(tally) for tally in line] for line in self.cells],
        }


def _cell_json(tally: Tally) -> CellDocument:
    rate = tally.win_rate()
    return {
        "rate": rate.mean if tally.n_known else None,
        "low": rate.low,
        "high": rate.high,
        "matches": tally.n_known,
        "unknown": tally.unknown,
    }
