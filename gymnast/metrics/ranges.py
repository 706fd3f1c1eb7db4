"""Comparing the recent values of a key with the bounds and the healthy range of its metric."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from operator import le
from typing import NotRequired, TypedDict

from gymnast.metrics.metric import Limits, Metric
from gymnast.metrics.run_history import WINDOW, Phase

PATIENCE = 5
"""Number of bad rows in succession that raise a warning."""
SLACK = 1e-4
"""Tolerance beyond a bound for rounding errors (relative, or absolute below 1)."""


class MonitorState(TypedDict):
    """The state of a monitor that a checkpoint stores, as plain JSON. The fields are those of KeyMonitor."""

    recent: list[float]
    bad: int
    side: str
    worst: NotRequired[float]
    alerting: str


class KeyMonitor:
    """The state of one key: its recent values, and the alert that they raised, if any."""

    __slots__ = (
        "alerting",
        "bad",
        "bounds_only",
        "healthy",
        "high",
        "low",
        "metric",
        "recent",
        "side",
        "worst",
    )

    def __init__(self, metric: Metric) -> None:
        self.metric = metric
        # Task-dependent bounds were resolved when the run started, so no limits are needed here.
        low, high = metric.bounds_for(Limits())
        self.low = low - SLACK * max(1.0, abs(low)) if math.isfinite(low) else low
        self.high = high + SLACK * max(1.0, abs(high)) if math.isfinite(high) else high
        self.healthy = metric.healthy_for(Limits())
        self.bounds_only = self.healthy == (-math.inf, math.inf)
        """Whether the metric has no healthy range, so that only its bounds are checked."""
        self.recent: list[float] = []
        self.bad = 0
        """Number of rows in succession whose short mean was on the same unhealthy side."""
        self.side = ""
        """The side on which the latest short mean was unhealthy: low, high, or empty."""
        self.worst = 0.0
        """The most extreme short mean of those rows."""
        self.alerting = ""
        """The kind of the active alert; empty if there is none."""

    def check(self, value: float, phases: set[Phase]) -> str:
        """Adds a finite value within the bounds and returns the kind of alert that the recent values justify:
        low, high, or empty. Other values are not added: the kind is `nan` for one that is not finite,
        `impossible` for one outside of the bounds. `phases`: the current phases of training."""
        if not math.isfinite(value):
            return "nan"
        if not self.low <= value <= self.high:
            return "impossible"
        return "" if self.bounds_only else self.check_healthy(value, phases)

    def check_healthy(self, value: float, phases: set[Phase]) -> str:
        """Adds a value within the bounds. Returns low or high if the short mean has been on that side of the
        healthy range for PATIENCE rows, else an empty string. In a skipped phase, a value counts as
        healthy."""
        recent, (low, high) = self.recent, self.healthy
        full = len(recent) == WINDOW
        if full:
            del recent[0]
        recent.append(value)
        mean = sum(recent) / len(recent)
        side = "low" if mean < low else "high" if mean > high else ""
        if side and phases & self.metric.skipped_phases:
            side = ""
        # A change of sides starts counting anew.
        self.bad = self.bad + 1 if side and side == self.side else int(bool(side))
        self.side = side
        if side:
            farther = max if side == "high" else min
            # means of fewer than WINDOW rows are noisier, so they are not compared with full ones
            self.worst = farther(self.worst, mean) if self.bad > 1 and full else mean
        return side if self.bad >= PATIENCE else ""

    def message(self, key: str, kind: str, value: float) -> str:
        """Returns what is wrong with the `value` of `key`, for an alert of this kind (nan, impossible, low,
        high)."""
        text = self.metric.format
        if kind == "nan":
            return f"{key} is {value}"
        if kind == "impossible":
            bounds = self.metric.format_range(self.metric.bounds_for(Limits()))
            return f"{key} is {text(value)}, which is impossible: its bounds are {bounds}"
        healthy = self.metric.format_range(self.healthy)
        return f"{key} is {kind}: {text(self.worst)} (mean of {WINDOW} rows), healthy is {healthy}"

    def advice(self, kind: str) -> str:
        """Returns what to do about an alert of this kind (nan, impossible, low, high)."""
        if kind == "nan":
            return "Something overflowed or was divided by zero; look at the row before this one."
        if kind == "impossible":
            return "This is a bug, or the facts of the environment are wrong; tuning will not help."
        return self.metric.if_low if kind == "low" else self.metric.if_high

    def state(self) -> MonitorState:
        """Returns, as plain JSON, what a resumed run needs to continue this monitor: everything but the
        metric and its ranges."""
        return {
            "recent": list(self.recent),
            "bad": self.bad,
            "side": self.side,
            "worst": self.worst,
            "alerting": self.alerting,
        }

    def load(self, state: MonitorState) -> None:
        self.recent.extend(state["recent"])
        self.bad, self.side, self.alerting = state["bad"], state["side"], state["alerting"]
        self.worst = state.get("worst", sum(self.recent) / max(len(self.recent), 1))


class RowMonitor:
    """The ranges of all keys of a row, prepared for rows with exactly these keys."""

    def __init__(self, monitors: Mapping[str, KeyMonitor]) -> None:
        """`monitors`: key -> its monitor, in the order of the keys in a row."""
        self.monitors = [*monitors.items()]
        self.monitored = [
            (index, *item) for index, item in enumerate(self.monitors) if not item[1].bounds_only
        ]
        """Index in the row, key and range of the metrics that have a healthy range."""
        largest = sys.float_info.max  # finite bounds, so that NaN and infinity never pass
        self._low = [max(span.low, -largest) for span in monitors.values()]
        self._high = [min(span.high, largest) for span in monitors.values()]

    def within_bounds(self, values: Sequence[float]) -> bool:
        """Returns whether all values of a row, in the order of its keys, are finite and within their bounds.
        This is the fast path of every row."""
        # comparisons with NaN are false, so a NaN fails too
        return all(map(le, self._low, values)) and all(map(le, values, self._high))
