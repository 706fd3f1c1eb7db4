"""The terminal: a live table while training, an ending afterwards; plain lines into a pipe.

A thread of its own draws, so a row costs the loop microseconds and elapsed time goes on during a
long rollout. Drawing never puts the terminal into a state that would need restoring: no hidden
cursor, no alternate screen; so even `kill -9` leaves it usable.
"""

from __future__ import annotations

import atexit
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from threading import Event, Thread
from typing import Any, TextIO

from rich.console import Console as Terminal
from rich.live import Live

from gymnast.config.sections.stop import limits_after
from gymnast.metrics.alerts import Alert
from gymnast.metrics.metric import Metric
from gymnast.metrics.recorder import Row, Summary
from gymnast.metrics.sinks.frame import View, frame
from gymnast.metrics.sinks.history import EVALUATED, History
from gymnast.metrics.sinks.plain import alert_line, event_line, row_line

REDRAW_SECONDS = 0.25
"""Never more often than this."""
IDLE_SECONDS = 1.0
"""Without a new row only the elapsed time moves."""
DRAWING_SHARE = 0.02
"""Drawing takes at most this share of the time: a slow terminal is redrawn less often."""
LINE_SECONDS = 2.0
"""Into a pipe: a line this often, and for every evaluation."""


class Console:
    """Where a person watches a run. `quiet` prints nothing but the first line of the ending."""

    def __init__(
        self,
        metrics: Mapping[str, Metric],
        *,
        title: str = "",
        budget: Mapping[str, float] | None = None,
        ending: Callable[[Summary], str] | None = None,
        quiet: bool = False,
        live: bool = True,
        file: TextIO | None = None,
    ) -> None:
        """`budget`: clock -> total, the main one first. `ending`: the summary as text. Without
        `live`: plain lines on a terminal too, which a debugger may then share."""
        self._terminal = Terminal(file=file or sys.stdout, highlight=False, soft_wrap=True)
        self._ending, self._quiet = ending, quiet
        self._closed = False
        show = _Nothing() if quiet else None
        drawn = live and self._terminal.is_terminal and not self._terminal.is_dumb_terminal
        if show is None and drawn:
            show = _LiveTable(self._terminal, metrics, title, budget or {})
        self._show: _Nothing | _LiveTable | _Lines = show or _Lines(self._terminal, metrics)
        atexit.register(self._abandon)

    def write(self, row: Row, alerts: Sequence[Alert]) -> None:
        self._show.write(row, alerts)

    def event(self, event: Mapping[str, Any]) -> None:
        self._show.event(event)

    def close(self, summary: Summary | None) -> None:
        if self._closed:
            return
        self._closed = True
        atexit.unregister(self._abandon)
        with suppress(OSError, ValueError):  # nobody is watching any more
            self._show.close()
            if summary is not None and self._ending is not None:
                self._tell(summary, self._ending(summary).rstrip())

    def _tell(self, summary: Summary, ending: str) -> None:
        first, _, others = ending.partition("\n")
        if self._quiet or not self._terminal.is_terminal:  # rich ends the process on a closed pipe
            self._terminal.file.write(f"{first if self._quiet else ending}\n")
            self._terminal.file.flush()
            return
        moods = {True: "bold green", False: "bold yellow", None: "bold"}
        self._terminal.print(first, style=moods[summary.get("solved")], markup=False)
        self._terminal.print(others, markup=False)

    def _abandon(self) -> None:
        self.close(None)


class _Nothing:
    def write(self, row: Row, alerts: Sequence[Alert]) -> None: ...

    def event(self, event: Mapping[str, Any]) -> None: ...

    def close(self) -> None: ...


class _Lines:
    """Plain text, for pipes and files."""

    def __init__(self, terminal: Terminal, metrics: Mapping[str, Metric]) -> None:
        self._file, self._metrics = terminal.file, metrics
        self._last = float("-inf")
        self._untold: Row | None = None

    def write(self, row: Row, alerts: Sequence[Alert]) -> None:
        for alert in alerts:
            self._put(alert_line(alert))
        now = time.monotonic()
        self._untold = row
        if now - self._last >= LINE_SECONDS or EVALUATED in row:
            self._last = now
            self._tell()

    def event(self, event: Mapping[str, Any]) -> None:
        self._put(event_line(event))

    def close(self) -> None:
        """The last row is always told."""
        self._tell()

    def _tell(self) -> None:
        if self._untold is not None:
            self._put(row_line(self._untold, self._metrics))
            self._untold = None

    def _put(self, line: str) -> None:
        with suppress(OSError, ValueError):  # nobody is reading: training goes on
            self._file.write(f"{line}\n")
            self._file.flush()


class _LiveTable:
    def __init__(
        self,
        terminal: Terminal,
        metrics: Mapping[str, Metric],
        title: str,
        budget: Mapping[str, float],
    ) -> None:
        self._terminal, self._metrics = terminal, metrics
        self._title, self._budget = title, dict(budget)
        self._history = History()
        self._alerts: dict[str, Alert] = {}
        self._last_event = ""
        self._keys = ""
        self._ticking = True
        self._paused_at: float | None = None
        self._row_at = 0.0
        self._fresh = False
        self._live: Live | None = None
        self._stop = Event()
        self._thread = Thread(target=self._draw_on, name="console", daemon=True)

    def write(self, row: Row, alerts: Sequence[Alert]) -> None:
        self._history.add(row)
        for alert in alerts:
            if alert.active:
                self._alerts[alert.id] = alert
            else:
                self._alerts.pop(alert.id, None)
        self._row_at, self._fresh = time.monotonic(), True
        if self._live is None:
            self._start()

    def event(self, event: Mapping[str, Any]) -> None:
        now, kind = time.monotonic(), event.get("kind")
        self._fresh = True
        if kind == "keys":  # shown, and hidden again
            self._keys = "" if self._keys else event["text"]
            return
        self._last_event = event_line(event)
        self._budget = limits_after(event.get("changes", ()), self._budget)
        if kind == "paused":
            self._paused_at = now
        elif kind == "unpaused" and self._paused_at is not None:
            self._row_at += now - self._paused_at
            self._paused_at = None

    def close(self) -> None:
        self._stop.set()
        if self._live is None:
            return
        self._thread.join(timeout=1.0)
        self._ticking = False
        try:
            self._draw()
        finally:
            self._live.stop()

    def _start(self) -> None:
        live = Live(console=self._terminal, auto_refresh=False, vertical_overflow="crop")
        live.start()
        self._live = live
        self._terminal.show_cursor(True)  # rich hides it
        self._thread.start()

    def _draw_on(self) -> None:
        drawn, pause = 0.0, REDRAW_SECONDS
        while not self._stop.wait(pause):
            began = time.monotonic()
            if not self._fresh and began - drawn < IDLE_SECONDS:
                continue
            self._fresh = False
            try:
                self._draw()
            except (OSError, ValueError):  # the terminal went away: training goes on
                return
            drawn = time.monotonic()
            pause = max(REDRAW_SECONDS, (drawn - began) / DRAWING_SHARE)

    def _draw(self) -> None:
        assert self._live is not None
        size = self._terminal.size
        view = View(
            metrics=self._metrics,
            history=self._history,
            alerts=sorted([*self._alerts.values()], key=lambda alert: (alert.level, alert.id)),
            title=self._title,
            budget=next(iter(self._budget.items()), None),
            since_row=(self._paused_at or time.monotonic()) - self._row_at
            if self._ticking
            else 0.0,
            last_event=self._last_event,
            paused=self._paused_at is not None,
            keys=self._keys,
        )
        ascii_only = self._terminal.options.ascii_only
        picture = frame(view, size.width - 1, size.height - 1, ascii_only=ascii_only)
        self._live.update(picture, refresh=True)
