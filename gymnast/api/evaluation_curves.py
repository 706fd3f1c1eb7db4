"""Curves of the evaluations of runs. In a process that answers many requests, each is computed once until the
run changes."""

from __future__ import annotations

import os
from collections import OrderedDict
from threading import Lock
from typing import TYPE_CHECKING

from gymnast.runs import layout
from gymnast.runs.curve import Curve, Row, curve_of, read_evaluation_rows
from gymnast.runs.run import Run

if TYPE_CHECKING:
    from gymnast.metrics.column_cache import FileState

MAX_RUNS = 2048
"""Maximum number of runs whose curves are kept; the least recently used ones are dropped first."""
Curves = dict[tuple[str, str], Curve]
"""Clock and metric -> curve."""


class CurveCache:
    """Curves of runs whose metric stores have not changed since."""

    def __init__(self) -> None:
        self._lock = Lock()  # requests are answered by several threads
        self._known: OrderedDict[str, tuple[FileState, Curves]] = OrderedDict()

    def curves(self, path: str, state: FileState | None) -> Curves:
        """Returns the curves of the metric store `path` in this state, to which the caller may add some."""
        with self._lock:
            known = self._known.get(path)
            if known is not None and known[0] == state:
                self._known.move_to_end(path)
                return known[1]
            found: Curves = {}
            if state is not None and state.is_settled:
                self._known[path] = (state, found)
                self._known.move_to_end(path)
            while len(self._known) > MAX_RUNS:
                self._known.popitem(last=False)
            return found


CACHE = CurveCache()


class EvaluationReader:
    """Reads evaluations of runs over one clock, for one request."""

    def __init__(self, x: str) -> None:
        self._x = x
        self._curves: dict[str, Curves] = {}
        """Id of a run -> its known curves."""
        self._rows: dict[str, list[Row]] = {}

    def curve(self, run: Run, key: str) -> Curve:
        """Returns one metric at every evaluation, which the caller must not change. Raises RunError if the
        rows cannot be read."""
        from gymnast.metrics.column_cache import file_state

        if run.id not in self._curves:
            path = os.fspath(layout.METRICS.path(run.path))
            self._curves[run.id] = CACHE.curves(path, file_state(path))
        known = self._curves[run.id]
        if (self._x, key) not in known:
            if run.id not in self._rows:
                self._rows[run.id] = read_evaluation_rows(run)
            known[self._x, key] = curve_of(self._rows[run.id], self._x, key)
        return known[self._x, key]
