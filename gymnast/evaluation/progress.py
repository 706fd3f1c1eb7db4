"""Progress of an evaluation, for the user who waits for it."""

from __future__ import annotations

import time
from collections.abc import Callable

from gymnast.text import formatting

PROGRESS_SECONDS = 5.0
"""Interval of progress reports."""
ProgressCallback = Callable[[int, int, float], None]
"""Called with (episodes done, episodes planned or 0 if unknown, elapsed seconds)."""


def progress_text(done: int, total: int, seconds: float) -> str:
    """Returns a text such as `12 of 100 episodes after 5.0 s`; `total` is 0 if it is not known."""
    of = f" of {total:,}" if total else ""
    return f"{done:,}{of} episodes after {formatting.duration(seconds)}"


class ThrottledReport:
    """Limits progress reports to one per PROGRESS_SECONDS; to be called at every step."""

    def __init__(self, report: ProgressCallback) -> None:
        self._report, self._began = report, time.monotonic()
        self._last = self._began

    def __call__(self, done: int, total: int) -> None:
        now = time.monotonic()
        if now - self._last > PROGRESS_SECONDS:
            self._last = now
            self._report(done, total, now - self._began)
