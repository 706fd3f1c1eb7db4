"""Console output: a live table in a terminal, plain lines in a pipe, and the summary of a run at its end."""

from __future__ import annotations

import atexit
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, TextIO

from gymnast.metrics.alert import Alert
from gymnast.metrics.metric import Metric
from gymnast.metrics.recorder import Row, Summary
from gymnast.metrics.sinks.history import EVAL_KEY
from gymnast.metrics.sinks.plain import alert_line, event_line, row_line
from gymnast.text.formatting import wrap_words

if TYPE_CHECKING:
    from rich.console import Console as Terminal

LINE_SECONDS = 2.0
"""Plain output prints a row this often, and for every evaluation."""
URGENT_EVENTS = ("stopping", "stalled", "stall ended")
"""Events that are printed even with --quiet."""


class Console:
    """The console of a run. With `quiet`, only the first line of the final summary is printed."""

    def __init__(
        self,
        metrics: Mapping[str, Metric],
        *,
        title: str = "",
        budget: Mapping[str, float] | None = None,
        format_summary: Callable[[Summary], str] | None = None,
        quiet: bool = False,
        live: bool = True,
        pinned: Sequence[str] = (),
        file: TextIO | None = None,
    ) -> None:
        """`budget`: clock -> total, the main clock first. `format_summary` returns the text for the end.
        `live=False` prints plain lines in a terminal too, so that a debugger can share it. `pinned`: keys
        that are always displayed, whatever their priority."""
        self._file = file or sys.stdout
        self._terminal = None if quiet else _terminal_at(self._file)
        self._format_summary, self._quiet = format_summary, quiet
        self._closed = False
        if quiet:
            self._show = _Nothing()
        elif live and self._terminal is not None and not self._terminal.is_dumb_terminal:
            # imported here: rich takes a while to load, and a pipe does not need it
            from gymnast.metrics.sinks.live import LiveTable

            self._show = LiveTable(self._terminal, metrics, title, budget or {}, pinned)
        else:
            self._show = _Lines(self._file, metrics, pinned, next(iter(budget or {}), "env_steps"))
        # So that the terminal is left tidy also if the program ends without closing the recorder.
        atexit.register(self._close_at_exit)

    def write(self, row: Row, alerts: Sequence[Alert]) -> None:
        self._show.write(row, alerts)

    def event(self, event: Mapping[str, object]) -> None:
        if self._quiet and event.get("kind") in URGENT_EVENTS:
            with suppress(OSError, ValueError):  # the terminal or pipe is closed
                print(event_line(event), file=sys.stderr, flush=True)
        self._show.event(event)

    def close(self, summary: Summary | None) -> None:
        """Draws the last state and prints the summary; without a summary (the run failed), or without
        `format_summary`, only the former. A second call does nothing."""
        if self._closed:
            return
        self._closed = True
        atexit.unregister(self._close_at_exit)
        with suppress(OSError, ValueError):  # the terminal or pipe is closed
            self._show.close()
            if summary is not None and self._format_summary is not None:
                self._print_summary(summary, self._format_summary(summary).rstrip())

    def _print_summary(self, summary: Summary, text: str) -> None:
        """Prints `text`, the formatted summary: in a terminal with its first line colored by whether the task
        is solved, with `quiet` only the first line."""
        first, _, others = text.partition("\n")
        if self._terminal is None:  # rich ends the process on a closed pipe
            self._file.write(f"{first if self._quiet else text}\n")
            self._file.flush()
            return
        first, others = (wrap_words(part, self._terminal.width) for part in (first, others))
        styles = {True: "bold green", False: "bold yellow", None: "bold"}
        self._terminal.print(first, style=styles[summary.get("solved")], markup=False)
        self._terminal.print(others, markup=False)

    def _close_at_exit(self) -> None:
        self.close(None)


def _terminal_at(file: TextIO) -> Terminal | None:
    """Returns the rich console for `file` if it is a terminal, or if FORCE_COLOR or TTY_COMPATIBLE makes rich
    treat it as one; else None. For a pipe, rich is not even imported."""
    forced = "FORCE_COLOR" in os.environ or "TTY_COMPATIBLE" in os.environ
    with suppress(ValueError):  # the file is closed
        if forced or file.isatty():
            from rich.console import Console as Terminal

            terminal = Terminal(file=file, highlight=False, soft_wrap=True)
            return terminal if terminal.is_terminal else None
    return None


class _Nothing:
    """Shows nothing, for --quiet."""

    def write(self, row: Row, alerts: Sequence[Alert]) -> None: ...

    def event(self, event: Mapping[str, object]) -> None: ...

    def close(self) -> None: ...


class _Lines:
    """Plain text, for pipes and files."""

    def __init__(
        self,
        file: TextIO,
        metrics: Mapping[str, Metric],
        pinned: Sequence[str] = (),
        clock: str = "env_steps",
    ) -> None:
        """`clock`: that of the budget."""
        self._file, self._metrics, self._pinned, self._clock = file, metrics, pinned, clock
        self._last = float("-inf")
        self._unprinted: Row | None = None

    def write(self, row: Row, alerts: Sequence[Alert]) -> None:
        """Prints every alert, and the row if it has an evaluation or LINE_SECONDS have passed since the last
        one."""
        for alert in alerts:
            self._put(alert_line(alert))
        now = time.monotonic()
        self._unprinted = row
        if now - self._last >= LINE_SECONDS or EVAL_KEY in row:
            self._last = now
            self._print_row()

    def event(self, event: Mapping[str, object]) -> None:
        self._put(event_line(event))

    def close(self) -> None:
        """Prints the last row, if it has not been printed."""
        self._print_row()

    def _print_row(self) -> None:
        if self._unprinted is not None:
            self._put(row_line(self._unprinted, self._metrics, self._pinned, self._clock))
            self._unprinted = None

    def _put(self, line: str) -> None:
        with suppress(OSError, ValueError):  # a closed pipe must not stop training
            self._file.write(f"{line}\n")
            self._file.flush()
