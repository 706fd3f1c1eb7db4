"""The rows of a run as charts need them: a line per metric, with a limited number of points."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from gymnast.insight.chart import ChartSeries
from gymnast.runs.curve import ClockAxis, Row

POINTS = 300
"""Maximum number of points of a series. Longer series are averaged, with minimum and maximum as a band."""


class ChartSource(ABC):
    """Gives charts the rows of a run over one clock. Its series have no label yet."""

    x: str
    """The clock on the x axis."""
    keys: Sequence[str]
    """Every key that a row has."""
    evaluations: Sequence[Row]
    """The rows that evaluation curves depend on, in order."""
    first_rows: Sequence[Row]
    """Rows from the first one on, but not necessarily all."""
    axis: ClockAxis
    """Maps env steps to the clock `x`."""

    @abstractmethod
    def line(self, key: str) -> ChartSeries:
        """Returns the series of a metric of training: a point for each row that has it, averaged if there are
        more than POINTS."""

    @abstractmethod
    def shares(self, keys: Sequence[str]) -> list[ChartSeries]:
        """Returns the absolute value of each key as its share of their sum, where all of them are recorded;
        keys that are always 0 are omitted."""

    @abstractmethod
    def where_not_zero(self, key: str) -> list[float]:
        """Returns the x values of the rows in which a metric is not 0, or of the buckets with such a row."""


class RowSource(ChartSource):
    """All rows of a run, in memory."""

    def __init__(self, rows: Sequence[Row], x: str) -> None:
        self.x = x
        self.keys = list(dict.fromkeys(key for row in rows for key in row))
        self.evaluations = self.first_rows = self._rows = rows
        self.axis = ClockAxis(rows, x)

    def line(self, key: str) -> ChartSeries:
        with_key = [row for row in self._rows if key in row]
        ys = [finite_or_none(row[key]) for row in with_key]
        return _pooled(ChartSeries(key, "", self._positions(with_key), ys))

    def shares(self, keys: Sequence[str]) -> list[ChartSeries]:
        # A share is only defined in a row that has every part, and a sum above 0.
        complete = [row for row in self._rows if all(key in row for key in keys)]
        complete = [row for row in complete if 0 < sum(abs(row[key]) for key in keys) < math.inf]
        keys = [key for key in keys if any(row[key] for row in complete)]
        xs = self._positions(complete)
        sums = [sum(abs(row[k]) for k in keys) for row in complete]
        series: list[ChartSeries] = []
        for key in keys:
            parts = zip(complete, sums, strict=True)
            ys: list[float | None] = [abs(row[key]) / whole for row, whole in parts]
            series.append(replace(_pooled(ChartSeries(key, "", xs, ys)), low=None, high=None))
        return series if xs else []

    def where_not_zero(self, key: str) -> list[float]:
        return self._positions([row for row in self._rows if row.get(key)])

    def _positions(self, rows: Sequence[Row]) -> list[float]:
        return [row[f"clock/{self.x}"] for row in rows]


def finite_or_none(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _pooled(series: ChartSeries) -> ChartSeries:
    """Averages a series of more than POINTS points over POINTS bins of equal numbers of rows; its band are
    their extremes."""
    if len(series.x) <= POINTS:
        return series
    edges = [i * len(series.x) // POINTS for i in range(POINTS + 1)]
    bins = [[y for y in series.y[a:b] if y is not None] for a, b in pairwise(edges)]
    return replace(
        series,
        x=[sum(series.x[a:b]) / (b - a) for a, b in pairwise(edges)],
        y=[sum(finite) / len(finite) if finite else None for finite in bins],
        low=[min(finite, default=None) for finite in bins],
        high=[max(finite, default=None) for finite in bins],
    )
