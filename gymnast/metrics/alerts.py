"""Judging rows: what is impossible is an error at once, what is unhealthy a warning when it lasts.

A bare threshold cries on more than half of the rows of a healthy run, so the healthy range is held
against a short mean, and only several bad rows in a row raise.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from gymnast.metrics.metric import Limits, Metric
from gymnast.metrics.specs import spec

WINDOW = 5
"""Rows in the mean that is held against the healthy range."""
PATIENCE = 5
"""Bad rows in a row before a warning is raised."""
SLACK = 1e-4
"""How far past a bound rounding may carry a value (relative, or absolute below 1)."""


@dataclass(frozen=True)
class Alert:
    id: str
    """`policy/kl:high`: a row's key and what is wrong with it (nan, impossible, low, high)."""
    level: Literal["error", "warning"]
    message: str
    advice: str
    first: int
    """Env steps at which it was first raised."""
    last: int
    """Env steps of the latest row it held for."""
    count: int
    """Rows it held for."""
    active: bool


class Alerts:
    def __init__(self, metrics: Mapping[str, Metric]) -> None:
        self._metrics = metrics
        self._watches: dict[str, _Watch] = {}
        self._alerts: dict[str, Alert] = {}

    def judge(self, row: Mapping[str, float]) -> list[Alert]:
        """Takes the row in; returns the alerts that it raised or resolved."""
        env_steps = int(row.get("clock/env_steps", 0))
        changed: list[Alert] = []
        for key, value in row.items():
            watch = self._watches.get(key)
            if watch is None:
                watch = self._watches[key] = _Watch(spec(key, self._metrics))
            kind = watch.judge(value)
            if kind or watch.alerting:
                changed += self._turn(key, watch, kind, value, env_steps)
        return changed

    def redeclare(self, metrics: Mapping[str, Metric]) -> None:
        """Judge by these bounds from now on; what was seen so far stays."""
        seen, self._metrics = self.state(), metrics
        self.load(seen)

    def all(self) -> list[Alert]:
        """Every alert of the run, by id."""
        return [self._alerts[id] for id in sorted(self._alerts)]

    def active(self) -> list[Alert]:
        """What holds now, errors first."""
        return sorted((a for a in self.all() if a.active), key=lambda a: a.level)

    def state(self) -> dict[str, Any]:
        """All that a resumed run needs to judge on as if it had not stopped; plain JSON."""
        watches = {
            key: {"recent": list(w.recent), "bad": w.bad, "side": w.side, "alerting": w.alerting}
            for key, w in self._watches.items()
        }
        return {"watches": watches, "alerts": [asdict(alert) for alert in self.all()]}

    def load(self, state: Mapping[str, Any]) -> None:
        self._alerts = {alert["id"]: Alert(**alert) for alert in state["alerts"]}
        self._watches = {}
        for key, saved in state["watches"].items():
            watch = self._watches[key] = _Watch(spec(key, self._metrics))
            watch.recent.extend(saved["recent"])
            watch.bad, watch.side, watch.alerting = saved["bad"], saved["side"], saved["alerting"]

    def _turn(
        self, key: str, watch: _Watch, kind: str, value: float, env_steps: int
    ) -> list[Alert]:
        changed = []
        if watch.alerting and watch.alerting != kind:
            id = f"{key}:{watch.alerting}"
            changed.append(replace(self._alerts[id], active=False))
        if kind:
            id = f"{key}:{kind}"
            before = self._alerts.get(id)
            alert = Alert(
                id=id,
                level="error" if kind in ("nan", "impossible") else "warning",
                message=watch.message(key, kind, value),
                advice=watch.advice(kind),
                first=before.first if before else env_steps,
                last=env_steps,
                count=before.count + 1 if before else 1,
                active=True,
            )
            self._alerts[id] = alert
            if watch.alerting != kind:
                changed.append(alert)
        watch.alerting = kind
        self._alerts.update((alert.id, alert) for alert in changed)
        return changed


class _Watch:
    """One key's recent values against its metric's ranges."""

    __slots__ = ("alerting", "bad", "healthy", "high", "low", "metric", "recent", "side")

    def __init__(self, metric: Metric) -> None:
        self.metric = metric
        low, high = metric.bounds_for(Limits())
        self.low = low - SLACK * max(1.0, abs(low)) if math.isfinite(low) else low
        self.high = high + SLACK * max(1.0, abs(high)) if math.isfinite(high) else high
        self.healthy = metric.healthy_for(Limits())
        self.recent: deque[float] = deque(maxlen=WINDOW)
        self.bad = 0
        """Rows in a row whose mean was on the bad side."""
        self.side = ""
        self.alerting = ""
        """The kind of alert that holds, if any."""

    def judge(self, value: float) -> str:
        """nan, impossible, low, high, or nothing."""
        if not math.isfinite(value):
            return "nan"
        self.recent.append(value)
        if not self.low <= value <= self.high:
            return "impossible"
        low, high = self.healthy
        if low == -math.inf and high == math.inf:
            return ""
        mean = sum(self.recent) / len(self.recent)
        side = "low" if mean < low else "high" if mean > high else ""
        self.bad = self.bad + 1 if side and side == self.side else int(bool(side))
        self.side = side
        return side if self.bad >= PATIENCE else ""

    def message(self, key: str, kind: str, value: float) -> str:
        shown = self.metric.format
        if kind == "nan":
            return f"{key} is {value}"
        if kind == "impossible":
            bounds = self.metric.format_range(self.metric.bounds_for(Limits()))
            return f"{key} is {shown(value)}, which is impossible: it is {bounds}"
        mean = shown(sum(self.recent) / len(self.recent))
        healthy = self.metric.format_range(self.healthy)
        return f"{key} is {kind}: {mean} on average, healthy is {healthy}"

    def advice(self, kind: str) -> str:
        if kind == "nan":
            return "Something overflowed or was divided by zero; look at the row before."
        if kind == "impossible":
            return "This is a bug or a wrong fact of the environment, not a matter of tuning."
        return self.metric.if_low if kind == "low" else self.metric.if_high
