"""The rows that the live table keeps in memory: the whole run, downsampled, and the latest two."""

from __future__ import annotations

import math
from collections import deque
from threading import RLock

from gymnast.metrics.recorder import Row

EVAL_KEY = "eval:clock/env_steps"
"""Rows with the result of an evaluation have this key."""
_LATE_KEYS = ("eval", "clock/", "progress/")


def is_late_evaluation(row: Row) -> bool:
    """True if the row only holds the result of an evaluation that finished after the row of its rollout."""
    return EVAL_KEY in row and all(key.startswith(_LATE_KEYS) for key in row)


class History:
    """A downsampled history of rows. Thread-safe: training adds rows while another thread draws.

    Only few rows hold an evaluation, so these are downsampled separately.
    """

    def __init__(self, limit: int = 128) -> None:
        self._all = _Downsampled(limit)
        self._evaluated = _Downsampled(limit)
        self._latest: dict[str, float] = {}
        """Latest value of every key: some metrics are not in every row, such as those of the network."""
        self._lock = RLock()  # a signal handler may draw while a row is being added

    def add(self, row: Row) -> None:
        with self._lock:
            self._latest |= row
            if EVAL_KEY in row:
                self._evaluated.add(row)
            if not is_late_evaluation(row):
                self._all.add(row)

    def names(self) -> set[str]:
        """Returns the keys of the latest row and of the latest evaluation."""
        with self._lock:
            recent = [rows.recent[-1] for rows in (self._all, self._evaluated) if rows.recent]
        return {key for row in recent for key in row}

    def latest(self, key: str) -> float:
        """Returns the latest value of a key, whichever row it was in; NaN if there is none."""
        with self._lock:
            return self._latest.get(key, math.nan)

    def change(self, key: str) -> float:
        """Returns the latest value minus the one before; NaN if either is missing."""
        return self._recent(key, 1) - self._recent(key, 2)

    def values(self, key: str) -> list[float]:
        """Returns the finite values of a key over the whole run, evenly downsampled, ending with the
        latest."""
        with self._lock:
            rows = self._of(key)
            kept = [*rows.kept] if rows.last_is_kept else [*rows.kept, rows.recent[-1]]
        values = (row.get(key, math.nan) for row in kept)
        return [value for value in values if math.isfinite(value)]

    def _recent(self, key: str, age: int) -> float:
        with self._lock:
            recent = self._of(key).recent
            return recent[-age].get(key, math.nan) if len(recent) >= age else math.nan

    def _of(self, key: str) -> _Downsampled:
        """Returns the rows that contain this key: those with an evaluation for `eval:...`, else all."""
        return self._evaluated if key.startswith("eval") and ":" in key else self._all


class _Downsampled:
    """Keeps every n-th row; n doubles whenever there are too many."""

    def __init__(self, limit: int) -> None:
        self.kept: list[Row] = []
        self.recent: deque[Row] = deque(maxlen=2)
        """The latest two rows, kept or not, for the latest value and its change."""
        self.last_is_kept = True
        self._limit, self._stride, self._count = limit, 1, 0

    def add(self, row: Row) -> None:
        """Adds a row, which is kept if its number is a multiple of the stride. More than `limit` kept rows
        are halved, and the stride doubles."""
        self.recent.append(row)
        self.last_is_kept = self._count % self._stride == 0
        if self.last_is_kept:
            self.kept.append(row)
        self._count += 1
        if len(self.kept) > self._limit:
            self.kept = self.kept[::2]
            self._stride *= 2
            self.last_is_kept = (self._count - 1) % self._stride == 0
