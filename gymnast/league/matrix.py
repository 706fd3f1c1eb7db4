"""The cross-play matrix: every row against every column, as data; `heatmap.py` draws it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

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

    def report(self, run: str = "", picture: str = "") -> CrossPlayReport:
        """Returns the matrix as a record. `run`: the id of its run; `picture`: the file of its picture."""
        cells = tuple(tuple(_cell(tally) for tally in line) for line in self.cells)
        return CrossPlayReport(
            run, self.row_role, self.column_role, self.rows, self.columns, cells, picture
        )


@dataclass(frozen=True)
class CrossPlayCell:
    """The results of one pair."""

    rate: float | None
    """Win rate of the row role, draws counted as half; None without a known outcome."""
    low: float
    """Lower end of the 95 % interval of the win rate."""
    high: float
    """Upper end of the interval."""
    matches: int
    """Number of matches with a known outcome."""
    unknown: int
    """Number of matches with an unknown outcome."""

    def __str__(self) -> str:
        """Returns `58% [51, 65] / 200`: rate, interval and number of matches; a dash without a rate."""
        return self.rate_text() if self.rate is None else f"{self.rate_text()} / {self.matches:,}"

    def rate_text(self) -> str:
        """Returns `58% [51, 65]`, the rate and its interval; a dash without a rate."""
        if self.rate is None:
            return "-"
        return f"{100 * self.rate:.0f}% [{100 * self.low:.0f}, {100 * self.high:.0f}]"


@dataclass(frozen=True)
class CrossPlayReport:
    """The cross-play matrix of a run."""

    run: str
    """Id of the run."""
    row_role: str
    """The role in the rows; win rates are from its side."""
    column_role: str
    """The role in the columns."""
    rows: tuple[str, ...]
    """Players of the row role."""
    columns: tuple[str, ...]
    """Players of the column role."""
    cells: tuple[tuple[CrossPlayCell, ...], ...]
    """Results of each pair, [rows][columns]."""
    picture: str
    """File of the picture of the matrix."""

    def legend(self, matches: int | None = None) -> str:
        """Returns the explanation of the numbers in the cells. `matches`: the number of matches of every
        pair, if the cells do not have it."""
        counted = " /" if matches is None else f", each from {matches:,}"
        text = (
            f"win rate of the {self.row_role} [95 % interval]{counted} matches with a known outcome"
        )
        unknown = sum(cell.unknown for line in self.cells for cell in line)
        return f"{text}; {unknown:,} unknown, not counted" if unknown else text


def _cell(tally: Tally) -> CrossPlayCell:
    rate = tally.win_rate()
    return CrossPlayCell(
        rate.mean if tally.n_known else None, rate.low, rate.high, tally.n_known, tally.unknown
    )
