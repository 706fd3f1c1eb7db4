"""The charts of a long run, read in buckets: the time they take does not depend on the number of rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path

import numpy as np

from gymnast.insight.chart import ChartSeries
from gymnast.insight.chart_source import POINTS, ChartSource, finite_or_none
from gymnast.metrics.block_reader import read_store
from gymnast.metrics.blocks import Blocks, equal_parts
from gymnast.metrics.buckets import buckets_of_rows, read_series
from gymnast.metrics.store import MetricStore
from gymnast.runs import layout
from gymnast.runs.curve import ClockAxis, Row, read_evaluation_rows
from gymnast.runs.run import Run

FIRST_ROWS = 256
MAX_ROWS = 8_192
"""Number of rows that are read one by one."""


class BucketSource(ChartSource):
    """A run of which only buckets of rows are read.

    A bucket with an infinite value has no finite mean or extreme, and is a gap. Shares are those of the sums
    over a bucket. The axis is exact at the ends of blocks of rows and linear inside, where it errs by less
    than a block: a few thousandths of the run, which is about a pixel."""

    def __init__(self, run: Run, x: str, select: Callable[[Sequence[str]], Sequence[str]]) -> None:
        """`select` returns those of a run's keys that charts may ask for."""
        path = layout.METRICS.path(run.path)
        self.x = x
        self.keys = read_store(path, lambda reader: reader.index.names)
        self.evaluations = read_evaluation_rows(run)
        self.first_rows = _first_rows(path)
        names = ["clock/env_steps", *select(self.keys)]
        self._stored = read_series(path, names, x, points=POINTS, max_rows=MAX_ROWS)
        self.axis = _axis(self._stored.blocks.of("clock/env_steps", f"clock/{x}"), x)

    def line(self, key: str) -> ChartSeries:
        series = buckets_of_rows(self._stored, key, POINTS)
        xs: list[float] = series.x.tolist()
        if not series.is_reduced:
            return ChartSeries(key, "", xs, _finite(series.mean))
        return ChartSeries(
            key, "", xs, _finite(series.mean), _finite(series.low), _finite(series.high)
        )

    def shares(self, keys: Sequence[str]) -> list[ChartSeries]:
        if not keys:
            return []
        blocks = self._stored.blocks.of(f"clock/{self.x}", *keys)
        blocks = blocks.where(blocks.recorded[1:].min(axis=0) > 0)
        merged = blocks.merge(equal_parts(blocks.recorded[0], POINTS))
        sums = np.abs(merged.mean[1:]).sum(axis=0)
        merged = merged.where((sums > 0) & (sums < np.inf))
        parts = np.abs(merged.mean[1:])
        sums = parts.sum(axis=0)
        xs: list[float] = merged.mean[0].tolist()
        return [
            ChartSeries(key, "", xs, (part / sums).tolist())
            for key, part in zip(keys, parts, strict=True)
            if part.any()
        ]

    def where_not_zero(self, key: str) -> list[float]:
        series = buckets_of_rows(self._stored, key, POINTS)
        return series.x[(series.low != 0) | (series.high != 0)].tolist()


def _first_rows(path: Path) -> list[Row]:
    with MetricStore(path) as store:
        return [row for _, row in islice(store.numbered_rows(limit=FIRST_ROWS), FIRST_ROWS)]


def _axis(blocks: Blocks, x: str) -> ClockAxis:
    """Returns the axis through the first and the last row of each block: clocks never decrease, so these have
    the smallest and the largest values."""
    ends = np.stack([blocks.low, blocks.high], axis=2).reshape(2, -1).T.tolist()
    return ClockAxis([{"clock/env_steps": a, f"clock/{x}": b} for a, b in ends], x)


def _finite(values: np.ndarray) -> list[float | None]:
    return [finite_or_none(value) for value in values.tolist()]
