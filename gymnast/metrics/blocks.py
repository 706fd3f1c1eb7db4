"""Blocks: the minimum, maximum and mean of several keys over consecutive rows.

A single row is the smallest block. Blocks of any sizes can be merged into larger ones: extremes and counts
are exact, whatever the order of merging.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from gymnast.metrics.summaries import PARTS, StoredRow


@dataclass(frozen=True)
class Blocks:
    """Consecutive blocks of rows, for several keys."""

    names: tuple[str, ...]
    data: np.ndarray
    """One array with everything, so that selecting and joining blocks is one operation: float64 of shape
    [parts, keys, blocks], with the parts `low`, `high`, `mean`, `valid` and `recorded`."""

    def __len__(self) -> int:
        return self.data.shape[2]

    @property
    def low(self) -> np.ndarray:
        """Minimum of the values that are not NaN; NaN without any. Shape [keys, blocks], like all others."""
        return self.data[0]

    @property
    def high(self) -> np.ndarray:
        return self.data[1]

    @property
    def mean(self) -> np.ndarray:
        """Mean of the values that are not NaN; bit for bit the value if there is only one."""
        return self.data[2]

    @property
    def valid(self) -> np.ndarray:
        """Number of values that are not NaN."""
        return self.data[3]

    @property
    def recorded(self) -> np.ndarray:
        """Number of rows that have the key, whether its value is NaN or not."""
        return self.data[4]

    def of(self, *names: str) -> Blocks:
        """Returns the blocks of some of the keys, in this order."""
        if names == self.names:
            return self
        places = [self.names.index(name) for name in names]
        return Blocks(
            names, self.data[:, places[0] :][:, :1] if len(places) == 1 else self.data[:, places]
        )

    def where(self, kept: np.ndarray) -> Blocks:
        """Returns those of the blocks where the boolean array `kept` is true."""
        at = np.flatnonzero(kept)
        if len(at) == len(self):
            return self
        if len(at) and at[-1] - at[0] + 1 == len(at):  # consecutive blocks need not be copied
            return Blocks(self.names, self.data[:, :, at[0] : at[-1] + 1])
        return Blocks(self.names, self.data[:, :, at])

    def merge(self, starts: Sequence[int] | np.ndarray) -> Blocks:
        """Merges blocks: each new one reaches from one of `starts` (ascending, from 0 on) to the next."""
        if not len(starts):
            return self
        at = np.asarray(starts)
        data = np.empty((len(PARTS), len(self.names), len(at)))
        low, high, mean, valid, _ = data
        np.fmin.reduceat(self.low, at, axis=1, out=low)
        np.fmax.reduceat(self.high, at, axis=1, out=high)
        np.add.reduceat(self.data[3:], at, axis=2, out=data[3:])
        with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
            sums = np.where(self.valid > 0, self.mean * self.valid, 0.0)
            np.divide(np.add.reduceat(sums, at, axis=1), valid, out=mean)
        # A mean is between the extremes; by rounding and overflow, the computed one might not be.
        np.clip(mean, low, high, out=mean)
        return Blocks(self.names, data)


class DecodedRows:
    """Rows of a metric store as matrices: one for each schema."""

    def __init__(self, rows: Sequence[StoredRow], schemas: Mapping[int, Sequence[str]]) -> None:
        """`schemas`: schema id -> names of the values of a row."""
        self._count = len(rows)
        self._groups: list[tuple[dict[str, int], slice | np.ndarray, np.ndarray]] = []
        """One item per schema: name -> column of its matrix, the places of its rows, and its matrix."""
        keys = [schema for _, schema, _ in rows]
        used = dict.fromkeys(keys)
        for key in used:
            at = slice(None) if len(used) == 1 else np.flatnonzero(np.array(keys) == key)
            packed = b"".join([data for _, schema, data in rows if schema == key])
            matrix = np.frombuffer(packed, "<f8").reshape(-1, len(schemas[key]))
            columns = {name: column for column, name in enumerate(schemas[key])}
            self._groups.append((columns, at, matrix))

    def __len__(self) -> int:
        return self._count

    def blocks(self, names: Sequence[str]) -> Blocks:
        """Returns some keys of the rows, each row as a block of its own."""
        data = np.full((len(PARTS), len(names), self._count), np.nan)
        data[4] = 0
        for columns, at, matrix in self._groups:
            for place, name in enumerate(names):
                if (column := columns.get(name)) is not None:
                    data[:3, place, at] = matrix[:, column]
                    data[4, place, at] = 1
        np.equal(data[0], data[0], out=data[3])
        return Blocks(tuple(names), data)


def single_rows(
    rows: Sequence[StoredRow], schemas: Mapping[int, Sequence[str]], names: Sequence[str]
) -> Blocks:
    """Returns each row as a block of its own. `schemas`: schema id -> names of its values."""
    return DecodedRows(rows, schemas).blocks(names)


def join(parts: Iterable[Blocks], names: Sequence[str]) -> Blocks:
    """Returns the blocks of all parts, one after the other. Each part has the keys `names`."""
    found = [part.data for part in parts]
    if len(found) == 1:
        return Blocks(tuple(names), found[0])
    empty = np.empty((len(PARTS), len(names), 0))
    return Blocks(tuple(names), np.concatenate([empty, *found], axis=2))


def equal_parts(weights: np.ndarray, parts: int) -> np.ndarray:
    """Returns where to start `parts` groups (or fewer) of consecutive items such that their weights, which
    are whole numbers, are about equal."""
    before = np.cumsum(weights) - weights
    group = before * parts // max(weights.sum(), 1)
    return np.flatnonzero(np.diff(group, prepend=-1))
