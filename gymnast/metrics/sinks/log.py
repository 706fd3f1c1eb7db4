"""The plain-text log of a run, log.txt: readable while it runs, never larger than its cap."""

from __future__ import annotations

import logging
import re
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from gymnast.metrics.alert import Alert
from gymnast.metrics.metric import Metric
from gymnast.metrics.recorder import Row, Summary
from gymnast.metrics.sinks.history import EVAL_KEY
from gymnast.metrics.sinks.plain import alert_line, event_line, row_line
from gymnast.processes import env_output

CAP_BYTES = 10_000_000
ENDING_BYTES = 10_000
"""Reserved below the cap, so that even a full log says how the run ended."""
ROW_SECONDS = 10.0
"""The log gets a row this often, and for every evaluation; all rows are in the metric store."""

_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")


class LogFile:
    """The file `log.txt` of a run. It is appended to over attempts; a full log keeps its beginning."""

    def __init__(
        self,
        path: str | Path,
        metrics: Mapping[str, Metric],
        *,
        format_summary: Callable[[Summary], str] | None = None,
        cap: int = CAP_BYTES,
    ) -> None:
        """`path` is created, or appended to. `format_summary` returns the text for the end of the log; None
        for none. `cap`: the largest size of the file in bytes."""
        self._metrics, self._format_summary, self._cap = metrics, format_summary, cap
        self._file = open(path, "ab", buffering=0)  # noqa: SIM115  (each line is one write)
        self._size = self._file.tell()
        self._full = self._size >= cap - ENDING_BYTES
        self._last_row = float("-inf")

    def write_line(self, text: str) -> None:
        """Appends a text of one or more lines, each with a time stamp. ANSI escape codes are removed. If the
        text does not fit, a note that the log is full is written instead, once, and later texts are
        dropped."""
        lines = _ANSI.sub("", text).replace("\r", "\n").rstrip().split("\n")
        stamp = time.strftime("%Y-%m-%d %H:%M:%S ")
        if not self._full and not self._put(lines, stamp, ENDING_BYTES):
            self._full = True
            note = "the log is full; further rows and events are in metrics.db and events.jsonl"
            self._put([note], stamp, ENDING_BYTES // 2)

    def write(self, row: Row, alerts: Sequence[Alert]) -> None:
        """Logs every alert, and the row if it has an evaluation or ROW_SECONDS have passed since the last
        one."""
        for alert in alerts:
            self.write_line(alert_line(alert))
        now = time.monotonic()
        if now - self._last_row >= ROW_SECONDS or EVAL_KEY in row:
            self._last_row = now
            self.write_line(row_line(row, self._metrics))

    def event(self, event: Mapping[str, object]) -> None:
        self.write_line(event_line(event) + f"\n{event.get('traceback', '')}".rstrip())

    def fileno(self) -> int:
        return self._file.fileno()

    def close(self, summary: Summary | None) -> None:
        """Writes the formatted summary, if there is one, and closes the file. A second call does nothing."""
        if self._file.closed:
            return
        if summary is not None and self._format_summary is not None:
            # Without a reserve: this is what the reserved bytes are for.
            self._put(_ANSI.sub("", self._format_summary(summary)).rstrip().split("\n"))
        self._file.close()

    @contextmanager
    def capture_logging(self) -> Iterator[LogFile]:
        """Context manager that also logs `warnings`, `logging` records of level WARNING and above and, when
        run from the command line, the output that environments print."""
        handler, root, show = _Handler(self), logging.getLogger(), warnings.showwarning

        def log_and_show(
            message: Warning | str,
            category: type[Warning],
            filename: str,
            lineno: int,
            file: TextIO | None = None,
            line: str | None = None,
        ) -> None:
            """Logs a warning and displays it as before. Has the parameters of `warnings.showwarning`."""
            self.write_line(warnings.formatwarning(message, category, filename, lineno, line))
            show(message, category, filename, lineno, file, line)

        root.addHandler(handler)
        if not env_output.is_separated():
            warnings.showwarning = log_and_show
        try:
            with env_output.redirect_env_output(self.fileno(), self.write_line):
                yield self
        finally:
            warnings.showwarning = show
            root.removeHandler(handler)

    def _put(self, lines: Sequence[str], stamp: str = "", reserve: int = 0) -> bool:
        """Writes the lines in one write, so that threads do not interleave, each after `stamp`. Returns
        False, and writes nothing, if that would leave less than `reserve` bytes below the cap."""
        if self._file.closed:
            return True  # output of a worker that arrived after the log was closed
        text = "".join(f"{stamp}{line}\n" for line in lines)
        encoded = text.encode("utf-8", "backslashreplace")
        if self._size + len(encoded) > self._cap - reserve:
            return False
        self._file.write(encoded)
        self._size += len(encoded)
        return True


class _Handler(logging.Handler):
    """Writes log records of level WARNING and above to the log file."""

    def __init__(self, log: LogFile) -> None:
        super().__init__(logging.WARNING)
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        self._log.write_line(f"{record.levelname.lower()}: {self.format(record)}")
