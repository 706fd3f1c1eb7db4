"""Runs an experiment tracker in its own thread: opened by the first row, harmless if it fails."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from queue import SimpleQueue
from typing import TYPE_CHECKING, Protocol

from gymnast.clock import CLOCKS
from gymnast.errors import GymnastError
from gymnast.metrics.alert import Alert
from gymnast.metrics.recorder import Row, Summary

if TYPE_CHECKING:
    from gymnast.metrics.tracking import OpenTracker

MAX_QUEUED_ROWS = 20_000
"""Maximum number of queued rows; a tracker that falls further behind is given up."""
FINISH_SECONDS = 300.0
"""How long the end of a run waits for a tracker to finish, which may have to upload."""
GIVEN_UP_SECONDS = 5.0
"""The same for a tracker that has already failed."""


class ReportEvent(Protocol):
    """Records an event of the run."""

    def __call__(self, kind: str, counters: Mapping[str, float], **detail: object) -> None: ...


class Tracker:
    """A sink that queues rows for a tracker and returns at once.

    The state of the tracker is reported as an event with the next row: `tracking`, with its location, and at
    most one `tracking failed`.
    """

    def __init__(
        self, name: str, open_tracker: Callable[[], OpenTracker], report: ReportEvent
    ) -> None:
        """`name`: what the tracker is called in messages and events; `open_tracker`: imports its package and
        creates its run, called in the tracker's thread; `report`: records an event of the run, called in the
        training thread."""
        self._name, self._open, self._report = name, open_tracker, report
        self._calls: SimpleQueue[Callable[[OpenTracker], None] | None] = SimpleQueue()
        """Calls for the tracker's thread; None ends it."""
        self._events: SimpleQueue[tuple[str, dict[str, str]]] = SimpleQueue()
        """Kind and detail of events from the tracker's thread, to be recorded by the training thread."""
        self._counters: dict[str, float] = {}
        """Clocks and seconds of the last row, recorded with each event."""
        self._thread: threading.Thread | None = None
        self._given_up = False
        """True after the first failure: no more calls are queued."""

    def write(self, row: Row, alerts: Sequence[Alert]) -> None:
        """Queues a row and its alerts for the tracker. The first row starts the tracker's thread."""
        self._counters = {name: int(row[f"clock/{name}"]) for name in CLOCKS}
        self._counters["seconds"] = row["clock/seconds"]
        if self._thread is None:  # opened late, so that a run that fails to start is not tracked
            self._thread = threading.Thread(target=self._work, name=self._name, daemon=True)
            self._thread.start()
        self._enqueue(lambda opened: opened.write(row, alerts))

    def event(self, event: Mapping[str, object]) -> None:
        if self._thread is not None:
            self._enqueue(lambda opened: opened.event(event))

    def close(self, summary: Summary | None) -> None:
        """Closes the tracker after all queued rows, and waits for that: FINISH_SECONDS, or GIVEN_UP_SECONDS
        if it has failed. Does nothing if there was no row."""
        if self._thread is None:
            return
        self._enqueue(lambda opened: opened.close(summary))
        self._calls.put(None)
        self._thread.join(GIVEN_UP_SECONDS if self._given_up else FINISH_SECONDS)
        if self._thread.is_alive():
            self._fail(f"not finished after {FINISH_SECONDS:.0f} s")
        self._report_events()

    def _enqueue(self, call: Callable[[OpenTracker], None]) -> None:
        """Queues a call for the tracker's thread, unless the tracker has been given up, and reports the
        events that came from that thread meanwhile. A tracker that is too far behind is given up."""
        if self._calls.qsize() > MAX_QUEUED_ROWS:
            self._fail(f"more than {MAX_QUEUED_ROWS:,} rows behind")
        if not self._given_up:
            self._calls.put(call)
        self._report_events()

    def _work(self) -> None:
        """Opens the tracker and makes the queued calls until None is queued or the tracker is given up. Runs
        in the tracker's thread; raises nothing."""
        opened = None
        try:
            opened = self._open()
            self._events.put(("tracking", {"where": opened.location}))
            while (call := self._calls.get()) is not None and not self._given_up:
                call(opened)
        except BaseException as problem:  # no failure of a tracker may stop training
            self._fail(f"{type(problem).__name__}: {problem}".partition("\n")[0].rstrip(": "))
        if opened is not None and self._given_up:
            with suppress(BaseException):
                opened.close(None)

    def _fail(self, why: str) -> None:
        """Gives the tracker up. Only the first reason is reported."""
        if not self._given_up:
            self._given_up = True
            self._events.put(("tracking failed", {"why": why}))

    def _report_events(self) -> None:
        """Reports queued events. Called in the training thread, which owns the run's events."""
        while not self._events.empty():
            kind, detail = self._events.get()
            try:
                self._report(kind, self._counters, tracker=self._name, **detail)
            except GymnastError as problem:
                logging.getLogger("gymnast").warning("%s %s: %s", self._name, kind, problem)
