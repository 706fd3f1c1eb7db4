"""The cross-play matrix: every row against every column, as data and as text; `heatmap.py` draws it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from gymnast.league.results import Results, Tally


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

    def to_json(self) -> dict[str, Any]:
        """Returns the matrix as JSON values. Win rates in `cells`, [rows][columns], are from the side of the
        row role."""
        return {
            "roles": [self.row_role, self.column_role],
            "rows": list(self.rows),
            "columns": list(self.columns),
            "cells": [[_cell_json(tally) for tally in line] for line in self.cells],
        }


def _cell_json(tally: Tally) -> dict[str, Any]:
    """Returns the results of one pair as JSON values: `rate` (None without a known outcome), its interval,
    the number of `matches` with a known outcome, and of those with an `unknown` one."""
    rate = tally.win_rate()
    return {
        "rate": rate.mean if tally.n_known else None,
        "low": rate.low,
        "high": rate.high,
        "matches": tally.n_known,
        "unknown": tally.unknown,
    }
