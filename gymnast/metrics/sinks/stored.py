"""Keeps every row in the run's metric record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gymnast.metrics.alerts import Alert
from gymnast.metrics.recorder import Row, Summary
from gymnast.metrics.store import MetricStore


class Stored:
    def __init__(self, store: MetricStore) -> None:
        self._store = store

    def write(self, row: Row, alerts: Sequence[Alert]) -> None:
        self._store.append(row)

    def event(self, event: Mapping[str, Any]) -> None:
        """Events have a file of their own; what led to one is on disk when it happens."""
        self._store.flush()

    def close(self, summary: Summary | None) -> None:
        self._store.close()
