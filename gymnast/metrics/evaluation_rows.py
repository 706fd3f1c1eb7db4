"""The rows of a metric store that evaluation curves depend on, found without reading the others."""

from __future__ import annotations

import sqlite3
import struct
from collections.abc import Iterable

from gymnast.metrics.store import MetricStore
from gymnast.metrics.summaries import StoredRow, read_schemas

ENV_STEPS = "clock/env_steps"


def evaluation_rows(store: MetricStore, scored: str, start: str) -> list[dict[str, float]]:
    """Returns, in order, the rows with the key `scored`, the env steps of the policy that was evaluated, and
    the rows that give their positions on other clocks: the last row before these env steps and the first one
    after them. Also the first row with the key `start`, and the last row of all."""
    with store.snapshot() as db:
        return [] if db is None else _EvaluationRows(db).read(scored, start)


class _EvaluationRows:
    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._schemas = read_schemas(db)
        self._kept: dict[int, StoredRow] = {}
        """Position -> row to be returned."""

    def read(self, scored: str, start: str) -> list[dict[str, float]]:
        for key, names in self._schemas.items():
            if start in names:
                self._keep(self._select("schema = ?", "id LIMIT 1", key))
        self._keep(self._select("TRUE", "id DESC LIMIT 1"))
        evaluated: list[StoredRow] = []
        for key, names in self._schemas.items():
            if scored in names:
                evaluated += self._select("schema = ?", "id", key)
        self._keep(evaluated)
        for row in evaluated:
            self._keep_around(self._value(row, scored), row)
        return [self._unpacked(self._kept[position]) for position in sorted(self._kept)]

    def _keep_around(self, env_steps: float, later: StoredRow) -> None:
        """Keeps the first row that has reached `env_steps`, and the row before it. `later`: a row that
        probably has, and not long ago."""
        if self._value(later, ENV_STEPS) < env_steps:
            later = self._kept[max(self._kept)]
            if self._value(later, ENV_STEPS) < env_steps:
                return  # no row has; the last one is kept anyway
        # Search backwards in growing steps, then halve the range. Env steps never decrease.
        below, step = -1, 1
        while later[0] - below > 1:
            middle = max(later[0] - step, 0) if below < 0 else (below + later[0]) // 2
            found = self._last_up_to(middle)
            if (
                found is not None
                and found[0] > below
                and self._value(found, ENV_STEPS) >= env_steps
            ):
                later = found
            else:
                below = middle  # no row up to here has reached it
            step *= 2
        before = self._last_up_to(later[0] - 1)
        self._keep([later] if before is None else [before, later])

    def _last_up_to(self, position: int) -> StoredRow | None:
        return next(iter(self._select("id <= ?", "id DESC LIMIT 1", position)), None)

    def _keep(self, rows: Iterable[StoredRow]) -> None:
        self._kept |= {row[0]: row for row in rows}

    def _select(self, condition: str, order: str, *arguments: int) -> list[StoredRow]:
        query = "SELECT id, schema, data FROM rows WHERE superseded = 0"
        found = self._db.execute(f"{query} AND {condition} ORDER BY {order}", arguments)
        return found.fetchall()

    def _value(self, row: StoredRow, key: str) -> float:
        """Returns one value of a row that has the key."""
        _, schema, data = row
        (value,) = struct.unpack_from("<d", data, 8 * self._schemas[schema].index(key))
        return value

    def _unpacked(self, row: StoredRow) -> dict[str, float]:
        _, schema, data = row
        names = self._schemas[schema]
        return dict(zip(names, struct.unpack(f"<{len(names)}d", data), strict=True))
