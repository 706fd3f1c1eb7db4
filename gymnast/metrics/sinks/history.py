"""What a live view remembers of past rows: the whole run, thinned, and the latest two."""

from __future__ import annotations

import math
from collections import deque
from threading import RLock

from gymnast.metrics.recorder import Row

EVALUATED = "eval:clock/env_steps"
"""Rows that carry an evaluation's result have this key."""


_BESIDE = ("eval", "clock/", "progress/")


def is_late(row: Row) -> bool:
    """Whether this is an evaluation's result that came after the row of its rollout."""
    return EVALUATED in row and all(key.startswith(_BESIDE) for key in row)


class History:
    """Few rows carry an evaluation, so those are remembered apart.

    A writer and a drawing thread may use it at once.
    """

    def __init__(self, limit: int = 128) -> None:
        self._all = _Thinned(limit)
        self._evaluated = _Thinned(limit)
        self._lock = RLock()  # a signal handler may draw while a row is being added

    def add(self, row: Row) -> None:
        with self._lock:
            if EVALUATED in row:
                self._evaluated.add(row)
            if not is_late(row):
                self._all.add(row)

    def names(self) -> set[str]:
        """Every key of the latest row and of the latest evaluation."""
        with self._lock:
            recent = [rows.recent[-1] for rows in (self._all, self._evaluated) if rows.recent]
        return {key for row in recent for key in row}

    def latest(self, key: str) -> float:
        """NaN where there is none."""
        return self._recent(key, 1)

    def change(self, key: str) -> float:
        """Latest value minus the one before; NaN where either is missing."""
        return self._recent(key, 1) - self._recent(key, 2)

    def values(self, key: str) -> list[float]:
        """Finite values over the whole run, evenly thinned, ending with the latest."""
        with self._lock:
            rows = self._of(key)
            kept = [*rows.kept] if rows.last_is_kept else [*rows.kept, rows.recent[-1]]
        found = (row.get(key, math.nan) for row in kept)
        return [value for value in found if math.isfinite(value)]

    def _recent(self, key: str, age: int) -> float:
        with self._lock:
            recent = self._of(key).recent
            return recent[-age].get(key, math.nan) if len(recent) >= age else math.nan

    def _of(self, key: str) -> _Thinned:
        return self._evaluated if key.startswith("eval") and ":" in key else self._all


class _Thinned:
    """Every n-th row, n doubling whenever there are too many."""

    def __init__(self, limit: int) -> None:
        self.kept: list[Row] = []
        self.recent: deque[Row] = deque(maxlen=2)
        self.last_is_kept = True
        self._limit, self._stride, self._seen = limit, 1, 0

    def add(self, row: Row) -> None:
        self.recent.append(row)
        self.last_is_kept = self._seen % self._stride == 0
        if self.last_is_kept:
            self.kept.append(row)
        self._seen += 1
        if len(self.kept) > self._limit:
            self.kept = self.kept[::2]
            self._stride *= 2
            self.last_is_kept = (self._seen - 1) % self._stride == 0
