"""A tracker beside training: in a thread of its own, opened by the first row, harmless when it fails."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, Protocol

from gymnast.clock import CLOCKS
from gymnast.errors import GymnastError
from gymnast.metrics.alerts import Alert
from gymnast.metrics.recorder import Row, Summary

if TYPE_CHECKING:
    from gymnast.metrics.tracking import OpenTracker

BEHIND = 20_000
"""Rows that may wait for a tracker; one that falls further behind is given up."""
FINISH_SECONDS = 300.0
"""How long the end of a run waits for a tracker to finish, which may upload meanwhile."""
GIVEN_UP_SECONDS = 5.0
"""The same for one that has failed already."""


class Report(Protocol):
    """Makes an event of the run."""

    def __call__(self, kind: str, counters: Mapping[str, float], **detail: Any) -> None: ...


class Tracker:
    """Hands rows over and goes on at once. What became of the tracker is told as an event with the
    next row: `tracking`, where it is, and at most one `tracking failed`."""

    def __init__(self, name: str, open: Callable[[], OpenTracker], tell: Report) -> None:
        self._name, self._open, self._tell = name, open, tell
        self._orders: SimpleQueue[Callable[[OpenTracker], None] | None] = SimpleQueue()
        self._news: SimpleQueue[tuple[str, dict[str, str]]] = SimpleQueue()
        self._counters: dict[str, float] = {}
        self._thread: threading.Thread | None = None
        self._given_up = False

    def write(self, row: Row, alerts: Sequence[Alert]) -> None:
        self._counters = {name: int(row[f"clock/{name}"]) for name in CLOCKS}
        self._counters["seconds"] = row["clock/seconds"]
        if self._thread is None:  # training has really started
            self._thread = threading.Thread(target=self._work, name=self._name, daemon=True)
            self._thread.start()
        self._order(lambda opened: opened.write(row, alerts))

    def event(self, event: Mapping[str, Any]) -> None:
        if self._thread is not None:
            self._order(lambda opened: opened.event(event))

    def close(self, summary: Summary | None) -> None:
        if self._thread is None:
            return
        self._order(lambda opened: opened.close(summary))
        self._orders.put(None)
        self._thread.join(GIVEN_UP_SECONDS if self._given_up else FINISH_SECONDS)
        if self._thread.is_alive():
            self._fail(f"not finished after {FINISH_SECONDS:.0f} s")
        self._tell_news()

    def _order(self, order: Callable[[OpenTracker], None]) -> None:
        if self._orders.qsize() > BEHIND:
            self._fail(f"more than {BEHIND:,} rows behind")
        if not self._given_up:
            self._orders.put(order)
        self._tell_news()

    def _work(self) -> None:
        opened = None
        try:
            opened = self._open()
            self._news.put(("tracking", {"where": opened.where}))
            while (order := self._orders.get()) is not None and not self._given_up:
                order(opened)
        except BaseException as problem:  # whatever a tracker does wrong: training goes on
            self._fail(f"{type(problem).__name__}: {problem}".partition("\n")[0].rstrip(": "))
        if opened is not None and self._given_up:
            with suppress(BaseException):
                opened.close(None)

    def _fail(self, why: str) -> None:
        if not self._given_up:
            self._given_up = True
            self._news.put(("tracking failed", {"why": why}))

    def _tell_news(self) -> None:
        """In the thread that trains, whose record this is."""
        while not self._news.empty():
            kind, detail = self._news.get()
            try:
                self._tell(kind, self._counters, tracker=self._name, **detail)
            except GymnastError as problem:
                logging.getLogger("gymnast").warning("%s %s: %s", self._name, kind, problem)
