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
from gymnast.metrics.blocks import Blocks, equal_parts, join
from gymnast.metrics.specs import split_key
from gymnast.metrics.summaries import SUMMARY_ROWS

MAX_ROWS = 20_000
"""Number of rows that may be read one by one to fill a chart; that takes about 30 ms."""
MAX_BLOCKS = 4_096
"""Number of blocks that are read for a series, if that is enough for its number of points."""
BLOCKS_PER_POINT = 4
"""Maximum number of blocks that are read for a point, if these are more than MAX_BLOCKS. The next larger
blocks have eight times as many rows, so that there is at least one block for two points."""


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
    totals: dict[str, int]
    """Metric -> number of rows with it in the range."""

    def of(self, name: str) -> Blocks:
        """Returns the clock and one metric, in the finest blocks that were read."""
        return self.exact[name] if name in self.exact else self.blocks.of(self.x, name)

    def has(self, name: str) -> bool:
        """Returns whether a row in the range has the metric."""
        return self.totals[name] > 0

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
    excluded: str | None = None,
    max_rows: int = MAX_ROWS,
    max_blocks: int = MAX_BLOCKS,
) -> StoredSeries:
    """Reads metrics of the metric store `path` in blocks that are small enough for `points` buckets.

    `names`: keys; a `*` at the end matches any suffix. `clock`: the clock on the x axis (`vec_steps`).
    `low`, `high`: only rows in this range of the clock; blocks of rows that are partly inside are read as a
    whole. `excluded`: metrics with this first scope (`eval`) are not read. `max_rows`: the number of rows
    that may be read one by one; `max_blocks`: the number of blocks that are read if more rows are in the
    range, unless `points` need more."""

    def read(reader: BlockReader) -> StoredSeries:
        index = reader.index
        keys = matching(names, index.names)
        if excluded is not None:
            keys = [key for key in keys if split_key(key)[0][:1] != (excluded,)]
        wanted = list(dict.fromkeys((x, *keys)))
        within = index.within(clock, low, high)
        finest = index.cover(within)
        loose = index.rows if index.loose is None else len(index.loose)
        rows = loose + sum(SUMMARY_ROWS[part.level] * (part.end - part.start) for part in finest)
        span, max_read = reader.span(finest), max(max_rows, points)
        is_part = (low, high) != (-math.inf, math.inf)
        if is_part and rows <= max_read + 2 * SUMMARY_ROWS[1]:  # few rows may be inside
            span = reader.span_within(finest, x, low, high)
            rows = loose + span[1] - span[0] + 1
        if rows <= max_read:
            blocks = _within(reader.rows(wanted, span), low, high)
        else:
            chosen = index.cover(within, max(max_blocks, BLOCKS_PER_POINT * points))
            blocks = _within(reader.blocks(wanted, chosen), low, high)
        totals = dict(zip(wanted, map(int, blocks.recorded.sum(axis=1)), strict=True))
        is_exact = blocks.recorded[0].max(initial=0) <= 1
        exact: dict[str, Blocks] = {}
        for name in keys:
            if totals[name] <= points:
                of = blocks.of(x, name)
                if not is_exact:  # the value is of one of several rows
                    of = _within(reader.rows([x, name], span, having=name), low, high)
                exact[name] = of.where(of.recorded[1] > 0)
                totals[name] = len(exact[name])
        return StoredSeries(
            keys, x, blocks, exact, index.last, index.attempt, index.rows, index.names, totals
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


def buckets_on_grid(stored: Sequence[StoredSeries], name: str, edges: np.ndarray) -> list[Series]:
    """Divides the rows of several stores into the same buckets, which are between the `edges` on the clock; x
    are the middles of the buckets. A bucket without a row is NaN before the first and after the last row of
    the store; between rows, it is on the straight line between its neighbors. A bucket with NaN alone is a
    gap."""
    each = [one.of(name) for one in stored]
    names = (stored[0].x, name)
    blocks = join(each, names)
    number = np.repeat(np.arange(len(each)), [len(one) for one in each])
    kept = blocks.recorded[1] > 0
    blocks, number = blocks.where(kept), number[kept]
    buckets = len(edges) - 1
    low, high = edges[0], edges[-1]
    share = (blocks.mean[0] - low) / (high - low) if high > low else np.zeros(len(blocks))
    # Blocks at the ends of the range may reach beyond it.
    place = np.clip((share * buckets).astype(np.int64), 0, buckets - 1) + buckets * number
    starts = np.flatnonzero(np.diff(place, prepend=-1))
    lines = _filled(blocks.of(name).merge(starts).data[:3, 0], place[starts], buckets, len(each))
    x = (edges[:-1] + edges[1:]) / 2
    return [
        Series(x, mean, low, high, one.totals[name], is_reduced=True)
        for one, (low, high, mean) in zip(stored, lines, strict=True)
    ]


def _filled(values: np.ndarray, at: np.ndarray, buckets: int, lines: int) -> np.ndarray:
    """Returns the `values` [parts, n] in their buckets `at` (ascending, through all lines), with the buckets
    between them interpolated: [lines, parts, buckets]."""
    whole = np.full((len(values), lines * buckets), np.nan)
    whole[:, at] = values
    is_empty = np.ones(lines * buckets, dtype=bool)
    is_empty[at] = False
    empty = np.flatnonzero(is_empty)
    after = np.searchsorted(at, empty)
    inside = (after > 0) & (after < len(at))
    empty, after = empty[inside], after[inside]
    same_line = at[after - 1] // buckets == at[after] // buckets
    empty = empty[same_line]
    with np.errstate(invalid="ignore"):
        for line, known in zip(whole, values, strict=True):
            line[empty] = np.interp(empty, at, known) if len(at) else np.nan
    return whole.reshape(len(values), lines, buckets).swapaxes(0, 1)


def _series(blocks: Blocks, *, reduced: bool) -> Series:
    """Returns the blocks of a clock and a metric as a series, without blocks that lack the metric."""
    total = int(blocks.recorded[1].sum())
    blocks = blocks.where(blocks.recorded[1] > 0)
    return Series(blocks.mean[0], blocks.mean[1], blocks.low[1], blocks.high[1], total, reduced)


def _within(blocks: Blocks, low: float, high: float) -> Blocks:
    """Returns the blocks that overlap the range of the clock, which is the first key, and have it."""
    return blocks.where((blocks.valid[0] > 0) & (blocks.high[0] >= low) & (blocks.low[0] <= high))
