"""Blocks: the minimum, maximum and mean of several keys over consecutive rows.

A single row is the smallest block. Blocks of any sizes can be merged into larger ones: extremes and counts
are exact, whatever the order of merging.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from gymnast.metrics.summaries import StoredRow


@dataclass(frozen=True)
class Blocks:
    """Consecutive blocks of rows, for several keys. All arrays have the shape [keys, blocks]."""

    names: tuple[str, ...]
    low: np.ndarray
    """Minimum of the values that are not NaN; NaN without any."""
    high: np.ndarray
    mean: np.ndarray
    """Mean of the values that are not NaN; bit for bit the value if there is only one."""
    valid: np.ndarray
    """Number of values that are not NaN."""
    recorded: np.ndarray
    """Number of rows that have the key, whether its value is NaN or not."""

    def __len__(self) -> int:
        return self.low.shape[1]

    def of(self, *names: str) -> Blocks:
        """Returns the blocks of some of the keys, in this order."""
        return self._select([self.names.index(name) for name in names], slice(None), names)

    def where(self, kept: np.ndarray | slice) -> Blocks:
        """Returns some of the blocks: those where the boolean array `kept` is true, or a slice."""
        return self._select(slice(None), kept, self.names)

    def merge(self, starts: Sequence[int] | np.ndarray) -> Blocks:
        """Merges blocks: each new one reaches from one of `starts` (ascending, from 0 on) to the next."""
        if not len(starts):
            return self
        at = np.asarray(starts)
        low, high = np.fmin.reduceat(self.low, at, axis=1), np.fmax.reduceat(self.high, at, axis=1)
        valid = np.add.reduceat(self.valid, at, axis=1)
        with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
            sums = np.where(self.valid > 0, self.mean * self.valid, 0.0)
            mean = np.add.reduceat(sums, at, axis=1) / valid
        # A mean is between the extremes; by rounding and overflow, the computed one might not be.
        mean = np.clip(mean, low, high)
        return Blocks(
            self.names, low, high, mean, valid, np.add.reduceat(self.recorded, at, axis=1)
        )

    def _select(
        self, keys: Sequence[int] | slice, kept: np.ndarray | slice, names: tuple[str, ...]
    ) -> Blocks:
        parts = (self.low, self.high, self.mean, self.valid, self.recorded)
        return Blocks(names, *(part[keys][:, kept] for part in parts))


def single_rows(
    rows: Sequence[StoredRow], schemas: Mapping[int, Sequence[str]], names: Sequence[str]
) -> Blocks:
    """Returns each row as a block of its own. `schemas`: schema id -> names of its values."""
    values = np.full((len(names), len(rows)), np.nan)
    recorded = np.zeros((len(names), len(rows)), dtype=np.int64)
    wanted = {name: place for place, name in enumerate(names)}
    schema_of_row = np.fromiter((schema for _, schema, _ in rows), np.int64, len(rows))
    for schema in dict.fromkeys(schema_of_row.tolist()):
        columns = [column for column, name in enumerate(schemas[schema]) if name in wanted]
        if not columns:
            continue
        at = np.flatnonzero(schema_of_row == schema)
        packed = b"".join([rows[i][2] for i in at.tolist()])
        decoded = np.frombuffer(packed, "<f8").reshape(len(at), len(schemas[schema]))
        places = np.array([wanted[schemas[schema][column]] for column in columns])[:, None]
        values[places, at] = decoded[:, columns].T
        recorded[places, at] = 1
    valid = (values == values).astype(np.int64)
    return Blocks(tuple(names), values, values, values, valid, recorded)


def join(parts: Iterable[Blocks], names: Sequence[str]) -> Blocks:
    """Returns the blocks of all parts, one after the other. Each part has the keys `names`."""
    found = [part for part in parts if len(part)] or [single_rows([], {}, names)]
    if len(found) == 1:
        return found[0]
    arrays = ([part.low, part.high, part.mean, part.valid, part.recorded] for part in found)
    return Blocks(
        tuple(names), *(np.concatenate(column, axis=1) for column in zip(*arrays, strict=True))
    )


def equal_parts(weights: np.ndarray, parts: int) -> np.ndarray:
    """Returns where to start `parts` groups (or fewer) of consecutive items such that their weights are about
    equal."""
    before = np.cumsum(weights) - weights
    group = before * parts // max(int(weights.sum()), 1)
    return np.flatnonzero(np.diff(group, prepend=-1))
