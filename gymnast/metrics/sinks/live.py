"""The live table of a run in a terminal, redrawn in place with rich.

A separate thread draws, so a row costs the training loop only microseconds, and the elapsed time keeps
counting during a long rollout. Drawing never puts the terminal into a state that would have to be restored
(no hidden cursor, no alternate screen), so the terminal stays usable even after `kill -9`.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from threading import Event, Thread

from rich.console import Console as Terminal
from rich.live import Live

from gymnast.config.sections.stop import limits_after
from gymnast.metrics.alert import Alert
from gymnast.metrics.metric import Metric
from gymnast.metrics.recorder import Row
from gymnast.metrics.sinks.frame import View, frame
from gymnast.metrics.sinks.history import History
from gymnast.metrics.sinks.plain import event_line
from gymnast.text.formatting import wrap_words

REDRAW_SECONDS = 0.25
"""Minimum time between two frames."""
IDLE_SECONDS = 1.0
"""Time between two frames without a new row, when only the elapsed time changes."""
DRAWING_SHARE = 0.02
"""Drawing takes at most this share of the time; a slow terminal is redrawn less often."""
PERSISTENT_EVENTS = ("tracking", "tracking failed", "stopping", "stalled", "stall ended")
"""Events that are printed above the table; of other events only the latest is displayed."""
EVENT_ROWS, EVENT_SECONDS = 10, 5.0
"""The latest event is displayed for this many rows, and at least for this many seconds."""


class LiveTable:
    def __init__(
        self,
        terminal: Terminal,
        metrics: Mapping[str, Metric],
        title: str,
        budget: Mapping[str, float],
        pinned: Sequence[str] = (),
    ) -> None:
        """`terminal`: the rich console to draw on; `budget`: clock -> total, the main clock first; `pinned`:
        keys that are always displayed, whatever their priority."""
        self._terminal, self._metrics = terminal, metrics
        self._title, self._budget, self._pinned = title, dict(budget), pinned
        self._history = History()
        self._alerts: dict[str, Alert] = {}
        self._last_event = ""
        self._event_at, self._event_rows = 0.0, 0
        """Monotonic time of the latest event, and number of rows since then."""
        self._keys = ""
        """Help for the command keys; empty while it is hidden."""
        self._ticking = True
        """False for the last frame, which shows the time of the last row."""
        self._paused_at: float | None = None
        self._row_at = 0.0
        """Monotonic time of the latest row."""
        self._needs_redraw = False
        self._live: Live | None = None
        self._stop = Event()
        self._thread = Thread(target=self._draw_forever, name="console", daemon=True)

    def write(self, row: Row, alerts: Sequence[Alert]) -> None:
        """Takes over a row and the alerts that it raised or resolved; the drawing thread displays them. The
        first row starts that thread."""
        self._history.add(row)
        for alert in alerts:
            if alert.active:
                self._alerts[alert.id] = alert
            else:
                self._alerts.pop(alert.id, None)
        self._row_at, self._needs_redraw = time.monotonic(), True
        self._event_rows += 1
        if self._live is None:  # before the first row there is nothing to draw
            self._start()

    def event(self, event: Mapping[str, object]) -> None:
        """Takes over an event: prints it above the table (PERSISTENT_EVENTS, and all after `close`) or
        displays it as the latest. Pauses, changes of the budget and the help for keys (`keys`) also change
        the table."""
        now, kind = time.monotonic(), event.get("kind")
        self._needs_redraw = True
        if kind == "keys":  # toggles the help
            self._keys = "" if self._keys else str(event["text"])
            return
        if kind in PERSISTENT_EVENTS or self._stop.is_set():
            self._terminal.print(wrap_words(event_line(event), self._terminal.width), markup=False)
            return
        self._last_event, self._event_at, self._event_rows = event_line(event), now, 0
        changes = event.get("changes")
        if isinstance(changes, list):
            self._budget = limits_after(changes, self._budget)
        if kind == "paused":
            self._paused_at = now
        elif kind == "unpaused" and self._paused_at is not None:
            self._row_at += now - self._paused_at  # the elapsed time does not count pauses
            self._paused_at = None

    def close(self) -> None:
        """Stops the drawing thread and draws the last frame, which stays in the terminal. Does not draw if
        there was no row."""
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

    def _draw_forever(self) -> None:
        """Draws a frame after each new row or event, and every IDLE_SECONDS otherwise, until `close` or until
        the terminal is closed. Runs in the drawing thread."""
        drawn_at, pause = 0.0, REDRAW_SECONDS
        while not self._stop.wait(pause):
            began = time.monotonic()
            if not self._needs_redraw and began - drawn_at < IDLE_SECONDS:
                continue
            self._needs_redraw = False
            try:
                self._draw()
            except (OSError, ValueError):  # a closed terminal must not stop training
                return
            drawn_at = time.monotonic()
            pause = max(REDRAW_SECONDS, (drawn_at - began) / DRAWING_SHARE)

    def _draw(self) -> None:
        """Draws one frame with the present rows, alerts and times, in the present size of the terminal."""
        assert self._live is not None
        size, now = self._terminal.size, time.monotonic()
        is_recent = self._event_rows < EVENT_ROWS or now - self._event_at < EVENT_SECONDS
        view = View(
            metrics=self._metrics,
            history=self._history,
            alerts=sorted([*self._alerts.values()], key=lambda alert: (alert.level, alert.id)),
            title=self._title,
            budget=next(iter(self._budget.items()), None),
            since_row=(self._paused_at or now) - self._row_at if self._ticking else 0.0,
            last_event=self._last_event if is_recent else "",
            paused=self._paused_at is not None,
            keys=self._keys,
            pinned=self._pinned,
        )
        ascii_only = self._terminal.options.ascii_only
        # One column and one line less: some terminals wrap or scroll when the last cell is written.
        text = frame(view, size.width - 1, size.height - 1, ascii_only=ascii_only)
        self._live.update(text, refresh=True)
