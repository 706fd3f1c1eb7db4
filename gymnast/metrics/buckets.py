"""Series with a limited number of points, for charts: the mean, minimum and maximum of each bucket of rows.

Every minimum and maximum of the rows is in the result. A metric with few points, such as an evaluation, is
returned exactly. What is read does not grow with the number of rows, if the store has summaries of them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gymnast.metrics.block_reader import BlockReader, read_store
from gymnast.metrics.blocks import Blocks, equal_parts
from gymnast.metrics.summaries import SUMMARY_ROWS

MAX_ROWS = 20_000
"""Number of rows that may be read one by one to fill a chart; that takes about 30 ms."""
MAX_BLOCKS = 4_096
"""Number of blocks that are read for a series, if that is enough for its number of points."""
BLOCKS_PER_POINT = 4
"""At least so many blocks are read for a point, where there are as many."""


@dataclass(frozen=True)
class Series:
    """A metric over a clock, in buckets. All arrays have the same length."""

    x: np.ndarray
    mean: np.ndarray
    """Mean of the values that are not NaN; NaN if all are."""
    low: np.ndarray
    high: np.ndarray
    total: int
    """Number of rows with the metric in the buckets."""
    is_reduced: bool
    """Whether a bucket may have several rows. If not, the values are those of the rows, bit for bit."""


@dataclass(frozen=True)
class StoredSeries:
    """Some metrics of one store, read but not yet divided into buckets."""

    names: list[str]
    """The metrics that were read."""
    x: str
    """The key of the clock."""
    blocks: Blocks
    """Blocks of the clock and of every metric."""
    exact: dict[str, Blocks]
    """Metric with few points -> its rows, one by one, with the clock."""
    cursor: int
    """Position of the last row."""
    attempt: int
    """Number of the latest attempt."""
    rows: int
    """Number of rows in the store."""
    known: list[str]
    """Every key that a row of the store has."""

    def of(self, name: str) -> Blocks:
        """Returns the clock and one metric, in the finest blocks that were read."""
        return self.exact[name] if name in self.exact else self.blocks.of(self.x, name)

    def has(self, name: str) -> bool:
        """Returns whether a row in the range has the metric."""
        return bool(self.of(name).recorded[1].any())

    def is_exact(self, name: str) -> bool:
        return name in self.exact


def read_series(
    path: Path,
    names: Sequence[str],
    clock: str,
    *,
    points: int,
    low: float = -math.inf,
    high: float = math.inf,
    max_rows: int = MAX_ROWS,
    max_blocks: int = MAX_BLOCKS,
) -> StoredSeries:
    """Reads metrics of the metric store `path` in blocks that are small enough for `points` buckets.

    `names`: keys; a `*` at the end matches any suffix. `clock`: the clock on the x axis (`vec_steps`).
    `low`, `high`: only rows in this range of the clock; blocks of rows that are partly inside are read as a
    whole. `max_rows`: the number of rows that may be read one by one; `max_blocks`: the number of blocks that
    are read if more rows are in the range, unless `points` need more."""

    def read(reader: BlockReader) -> StoredSeries:
        index = reader.index
        keys = matching(names, index.names)
        wanted = list(dict.fromkeys((x, *keys)))
        summaries = index.between(clock, low, high)
        finest = index.cover(summaries)
        loose = index.rows if index.loose is None else len(index.loose)
        rows = loose + sum(SUMMARY_ROWS[summary.level] for summary in finest)
        if rows <= max(max_rows, points):
            blocks = _within(reader.rows(wanted, finest), low, high)
        else:
            chosen = index.cover(summaries, max(max_blocks, BLOCKS_PER_POINT * points))
            blocks = _within(reader.blocks(wanted, chosen), low, high)
        exact: dict[str, Blocks] = {}
        for name in keys:
            of = blocks.of(x, name)
            if of.recorded[1].sum() <= points:
                if of.recorded[0].max(initial=0) > 1:  # the value is of one of several rows
                    of = _within(reader.rows([x, name], finest, having=name), low, high)
                exact[name] = of.where(of.recorded[1] > 0)
        return StoredSeries(
            keys, x, blocks, exact, index.last, index.attempt, index.rows, index.names
        )

    x = f"clock/{clock}"
    return read_store(path, read)


def matching(names: Sequence[str], known: Sequence[str]) -> list[str]:
    """Returns the known keys that `names` match, in the order of `names`; a `*` at the end of a name matches
    any suffix."""
    found: dict[str, None] = {}
    for name in names:
        prefix = name.removesuffix("*")
        matches = [key for key in known if key.startswith(prefix)] if prefix != name else [name]
        found |= dict.fromkeys(key for key in matches if key in known)
    return list(found)


def read_buckets(
    path: Path,
    names: Sequence[str],
    clock: str,
    *,
    points: int,
    low: float = -math.inf,
    high: float = math.inf,
) -> dict[str, Series]:
    """Returns metric -> its series with at most `points` points, for the metrics that have a row in the
    range; the arguments are those of `read_series`."""
    stored = read_series(path, names, clock, points=points, low=low, high=high)
    return {
        name: buckets_of_rows(stored, name, points) for name in stored.names if stored.has(name)
    }


def buckets_of_rows(stored: StoredSeries, name: str, points: int) -> Series:
    """Divides the rows into buckets of about equal numbers of rows. x is the mean of the clock in a bucket. A
    bucket without a row that has the metric is left out; one with NaN alone is a gap."""
    blocks = stored.of(name)
    if stored.is_exact(name):
        return _series(blocks, reduced=False)
    starts = equal_parts(blocks.recorded[0], points)
    return _series(blocks.merge(starts), reduced=True)


def buckets_on_grid(stored: StoredSeries, name: str, edges: np.ndarray) -> Series:
    """Divides the rows into buckets between the `edges` on the clock; x are the middles of the buckets. A
    bucket without a row is NaN before the first and after the last row; between rows, it is on the straight
    line between its neighbors. A bucket with NaN alone is a gap."""
    blocks = stored.of(name)
    blocks = blocks.where(blocks.recorded[1] > 0)
    buckets = len(edges) - 1
    low, high = edges[0], edges[-1]
    share = (blocks.mean[0] - low) / (high - low) if high > low else np.zeros(len(blocks))
    # Blocks at the ends of the range may reach beyond it.
    place = np.clip((share * buckets).astype(np.int64), 0, buckets - 1)
    starts = np.flatnonzero(np.diff(place, prepend=-1))
    found, at = _series(blocks.merge(starts), reduced=True), place[starts]
    x = (edges[:-1] + edges[1:]) / 2
    lines = (_on_grid(values, at, buckets) for values in (found.mean, found.low, found.high))
    return Series(x, *lines, total=found.total, is_reduced=True)


def _on_grid(values: np.ndarray, at: np.ndarray, buckets: int) -> np.ndarray:
    """Returns the values in their buckets `at`, with the buckets between them interpolated."""
    every = np.arange(buckets)
    if not len(at):
        return np.full(buckets, np.nan)
    with np.errstate(invalid="ignore"):
        line = np.interp(every, at, values, left=np.nan, right=np.nan)
    line[at] = values
    return line


def _series(blocks: Blocks, *, reduced: bool) -> Series:
    """Returns the blocks of a clock and a metric as a series, without blocks that lack the metric."""
    total = int(blocks.recorded[1].sum())
    blocks = blocks.where(blocks.recorded[1] > 0)
    return Series(blocks.mean[0], blocks.mean[1], blocks.low[1], blocks.high[1], total, reduced)


def _within(blocks: Blocks, low: float, high: float) -> Blocks:
    """Returns the blocks that overlap the range of the clock, which is the first key, and have it."""
    kept = (blocks.valid[0] > 0) & (blocks.high[0] >= low) & (blocks.low[0] <= high)
    return blocks if kept.all() else blocks.where(kept)
