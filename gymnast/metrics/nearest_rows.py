"""Finds the rows around a step of a run without reading the others."""

from __future__ import annotations

import sqlite3

from gymnast.metrics.store import MetricStore

CLOCK = "clock/env_steps"


def position_before(store: MetricStore, env_steps: float, count: int) -> int:
    """Returns the position after which `numbered_rows` has the `count` rows nearest to a number of env
    steps."""
    first = _first_at(store, env_steps)
    with store.snapshot() as db:
        if db is None:
            return 0
        later = len(_positions(db, f"id >= {first}", "ASC", count))
        earlier = _positions(db, f"id < {first}", "DESC", count)
    wanted = earlier_rows(len(earlier), later, count)
    return (earlier[wanted - 1] if wanted else first) - 1


def earlier_rows(earlier: int, later: int, count: int) -> int:
    """Returns how many of `count` rows around a step are before it: half of them, or more if there are too
    few `later` ones. `earlier`: the number of rows before it."""
    return min(earlier, max(count // 2, count - later))


def _first_at(store: MetricStore, env_steps: float) -> int:
    """Returns the position of the first row with at least this many env steps; one after the last row if
    there is none. The clock never decreases, so a binary search finds it."""
    latest = next(store.numbered_rows(1), None)
    low, high = 0, 1 if latest is None else latest[0] + 1
    while low + 1 < high:  # every row up to `low` is earlier, none from `high` on is
        middle = (low + high) // 2
        position, row = next(store.numbered_rows(after=middle - 1, limit=1))
        if position >= high or row[CLOCK] >= env_steps:
            high = middle
        else:
            low = position
    return high


def _positions(db: sqlite3.Connection, condition: str, order: str, count: int) -> list[int]:
    query = f"SELECT id FROM rows WHERE superseded = 0 AND {condition} ORDER BY id {order} LIMIT ?"
    return [position for (position,) in db.execute(query, (count,))]
