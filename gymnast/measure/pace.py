"""The present speed of a training, on every clock."""

from __future__ import annotations

from collections import deque

from gymnast.clock import CLOCKS, Clock

WINDOW_SECONDS = 30.0
"""The speed is the mean over this much training time, or over all of it if a run is younger."""
SPACING_SECONDS = 1.0
"""Readings of the clocks are kept at this distance, so that short rollouts do not add up."""


class Pace:
    """Measures how fast the clocks of a training move."""

    def __init__(self, clock: Clock) -> None:
        """The measurement starts at the present counts, which a resumed run may have from another machine."""
        self._latest = clock.counters()
        self._readings = deque([self._latest])

    def add(self, clock: Clock) -> None:
        """Reads the clocks, after a rollout."""
        now = self._latest = clock.counters()
        if now["seconds"] - self._readings[-1]["seconds"] >= SPACING_SECONDS:
            self._readings.append(now)
        # The oldest reading is dropped once the next one is old enough to start the window.
        while len(self._readings) > 1 and self._age(self._readings[1]) >= WINDOW_SECONDS:
            self._readings.popleft()

    def rates(self) -> dict[str, float]:
        """Returns clock -> counts per second; empty before the first rollout."""
        oldest = self._readings[0]
        seconds = self._age(oldest)
        if seconds <= 0:
            return {}
        return {name: (self._latest[name] - oldest[name]) / seconds for name in CLOCKS}

    def _age(self, reading: dict[str, int | float]) -> float:
        """Returns the training time since a reading, in seconds."""
        return self._latest["seconds"] - reading["seconds"]
