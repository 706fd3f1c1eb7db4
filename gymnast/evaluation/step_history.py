"""The steps of the episodes that an evaluation is playing."""

from __future__ import annotations

import numpy as np

Array = np.ndarray
INITIAL_CAPACITY = 64
"""Initial capacity in vector steps."""


class StepHistory:
    """The steps of all copies as arrays [T, N, ...], no further back than running episodes need."""

    def __init__(self) -> None:
        self.steps = 0
        """Number of vector steps played."""
        self._first_kept = 0
        """The vector step in row 0 of the columns."""
        self._columns: list[Array] = []
        """One array [capacity, N, ...] per quantity."""

    def add(self, row: tuple[Array, ...], needed: int) -> None:
        """Appends one vector step. `row`: its arrays [N, ...], one per quantity, with the same shapes and
        dtypes in every call; steps before the vector step `needed` may be dropped."""
        at = self.steps - self._first_kept
        if not self._columns or at == len(self._columns[0]):
            self._make_room(row, needed)
            at = self.steps - self._first_kept
        for column, values in zip(self._columns, row, strict=True):
            column[at] = values
        self.steps += 1

    def of(self, copy: int, since: int) -> list[Array]:
        """Returns the columns [T, ...] of one copy from vector step `since` on, as copies."""
        rows = slice(since - self._first_kept, self.steps - self._first_kept)
        return [column[rows, copy].copy() for column in self._columns]

    def _make_room(self, row: tuple[Array, ...], needed: int) -> None:
        """Replaces the columns by larger ones with the steps from vector step `needed` on. `row` (see `add`)
        gives their shapes and dtypes."""
        # At least half of the new capacity is free, so appending costs O(1) on average.
        kept = [column[needed - self._first_kept :] for column in self._columns]
        capacity = max(INITIAL_CAPACITY, 2 * len(kept[0])) if kept else INITIAL_CAPACITY
        self._columns = [np.empty((capacity, *values.shape), values.dtype) for values in row]
        for column, values in zip(self._columns, kept, strict=False):
            column[: len(values)] = values
        self._first_kept = needed if kept else 0
