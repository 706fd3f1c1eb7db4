"""One key's recent values against what its metric declares possible and healthy."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from operator import le
from typing import Any

from gymnast.metrics.metric import Limits, Metric
from gymnast.metrics.seen import WINDOW, Phase

PATIENCE = 5
"""Bad rows in a row before a warning is raised."""
SLACK = 1e-4
"""How far past a bound rounding may carry a value (relative, or absolute below 1)."""


class Range:
    __slots__ = (
        "alerting",
        "bad",
        "healthy",
        "high",
        "idle",
        "low",
        "metric",
        "recent",
        "side",
        "worst",
    )

    def __init__(self, metric: Metric) -> None:
        self.metric = metric
        low, high = metric.bounds_for(Limits())
        self.low = low - SLACK * max(1.0, abs(low)) if math.isfinite(low) else low
        self.high = high + SLACK * max(1.0, abs(high)) if math.isfinite(high) else high
        self.healthy = metric.healthy_for(Limits())
        self.idle = self.healthy == (-math.inf, math.inf)
        """Whether it is enough to look at each value by itself."""
        self.recent: list[float] = []
        self.bad = 0
        """Rows in a row whose mean was on the bad side."""
        self.side = ""
        self.worst = 0.0
        """Of the means of those rows, the one farthest out."""
        self.alerting = ""
        """The kind of alert that holds, if any."""

    def judge(self, value: float, phases: set[Phase]) -> str:
        """nan, impossible, low, high, or nothing."""
        if not math.isfinite(value):
            return "nan"
        if not self.low <= value <= self.high:
            return "impossible"
        return "" if self.idle else self.watch(value, phases)

    def watch(self, value: float, phases: set[Phase]) -> str:
        """Of a value that is possible: low, high, or nothing."""
        recent, (low, high) = self.recent, self.healthy
        full = len(recent) == WINDOW
        if full:
            del recent[0]
        recent.append(value)
        mean = sum(recent) / len(recent)
        side = "low" if mean < low else "high" if mean > high else ""
        if side and phases & self.metric.excused:
            side = ""
        self.bad = self.bad + 1 if side and side == self.side else int(bool(side))
        self.side = side
        if side:
            farther = max if side == "high" else min
            # a mean of fewer rows is not compared with those of all
            self.worst = farther(self.worst, mean) if self.bad > 1 and full else mean
        return side if self.bad >= PATIENCE else ""

    def message(self, key: str, kind: str, value: float) -> str:
        shown = self.metric.format
        if kind == "nan":
            return f"{key} is {value}"
        if kind == "impossible":
            bounds = self.metric.format_range(self.metric.bounds_for(Limits()))
            return f"{key} is {shown(value)}, which is impossible: it is {bounds}"
        healthy = self.metric.format_range(self.healthy)
        return f"{key} is {kind}: {shown(self.worst)} (mean of {WINDOW} rows), healthy is {healthy}"

    def advice(self, kind: str) -> str:
        if kind == "nan":
            return "Something overflowed or was divided by zero; look at the row before."
        if kind == "impossible":
            return "This is a bug or a wrong fact of the environment, not a matter of tuning."
        return self.metric.if_low if kind == "low" else self.metric.if_high

    def state(self) -> dict[str, Any]:
        return {
            "recent": list(self.recent),
            "bad": self.bad,
            "side": self.side,
            "worst": self.worst,
            "alerting": self.alerting,
        }

    def load(self, state: dict[str, Any]) -> None:
        self.recent.extend(state["recent"])
        self.bad, self.side, self.alerting = state["bad"], state["side"], state["alerting"]
        self.worst = state.get("worst", sum(self.recent) / max(len(self.recent), 1))


class Ranges:
    """Those of all keys of a row, for all rows with these keys."""

    def __init__(self, spans: Mapping[str, Range]) -> None:
        self.every = [*spans.items()]
        self.watched = [(n, *item) for n, item in enumerate(self.every) if not item[1].idle]
        """Place, key and range of those whose healthy range is to be looked at."""
        largest = sys.float_info.max  # so that neither NaN nor infinity is within any bounds
        self._low = [max(span.low, -largest) for span in spans.values()]
        self._high = [min(span.high, largest) for span in spans.values()]

    def allow(self, values: Sequence[float]) -> bool:
        """Whether all of them are finite and possible."""
        return all(map(le, self._low, values)) and all(map(le, values, self._high))
