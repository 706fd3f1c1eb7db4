"""Measures whether somebody uses the server."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager


class Activity:
    """Counts the requests that are being answered; an open stream is one."""

    def __init__(self) -> None:
        self._open = 0
        self._last = time.monotonic()

    @contextmanager
    def request(self) -> Iterator[None]:
        """Counts a request while inside."""
        self._open += 1
        try:
            yield
        finally:
            self._open -= 1
            self.touch()

    def touch(self) -> None:
        self._last = time.monotonic()

    @property
    def idle_seconds(self) -> float:
        """Seconds since the last request; 0 while one is open."""
        return 0.0 if self._open else time.monotonic() - self._last
