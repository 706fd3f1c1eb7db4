"""The one way a number leaves the loop: checked against its declaration, kept, judged, shown to sinks."""

from __future__ import annotations

import math
import time
from collections.abc import Collection, Mapping, Sequence
from contextlib import ExitStack
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol, TypedDict

from gymnast.clock import CLOCKS
from gymnast.errors import GymnastError
from gymnast.metrics.alerts import Alert, Alerts
from gymnast.metrics.specs import Metric, split
from gymnast.text.closest import closest

if TYPE_CHECKING:
    from gymnast.metrics.store import MetricStore

TOGETHER_SECONDS = 0.25
"""Rows that come faster than this are judged and shown together: between two rollouts the processor
has forgotten how, and a row by itself takes three times as long."""

Row = Mapping[str, float]
"""One iteration: `[scope:]metric` -> value. Carries every clock."""


class Score(TypedDict):
    """Raw return of an evaluation, with its 95% interval."""

    mean: float
    low: float
    high: float
    episodes: int


class Summary(TypedDict, total=False):
    """How a run ended; what `Recorder.close` passes on."""

    id: str
    name: str
    preset: str
    path: str
    solved: bool | None
    """None where there is no threshold to clear."""
    confirmed: bool
    """The score was measured on held-out seeds, at the end."""
    reason: str
    score: Score | None
    threshold: float | None
    env_steps: int
    seconds: float
    best: int | None
    """Env steps of the best checkpoint."""
    interrupted: bool
    """A signal ended it before it was done."""
    stopped: bool
    """A signal or a command ended it before it was done."""


class Sink(Protocol):
    """Somewhere finished rows are shown or kept. It looks; it cannot change the run."""

    def write(self, row: Row, alerts: Sequence[Alert]) -> None:
        """A row, and the alerts it raised or resolved."""
        ...

    def event(self, event: Mapping[str, Any]) -> None: ...

    def close(self, summary: Summary | None) -> None:
        """No summary means that the run broke off."""
        ...


class Recorder:
    def __init__(
        self,
        metrics: Mapping[str, Metric],
        sinks: Sequence[Sink],
        settings: Mapping[str, Any] | None = None,
        roles: Collection[str] = (),
        record: MetricStore | None = None,
    ) -> None:
        """`settings`, `roles`: see Alerts. `record`: where rows are kept, before anything else."""
        self._alerts = Alerts(metrics, settings, roles)
        self._metrics = metrics
        self._sinks = list(sinks)
        self._record = record
        self._checked: set[tuple[str, ...]] = set()
        self._waiting: list[dict[str, float]] = []
        """Rows that are kept, but not yet judged and shown."""
        self._settled = -math.inf
        """When rows were last judged and shown."""
        self._closed = False
        self._greeted = False

    @property
    def alerts(self) -> Alerts:
        """Of all rows so far."""
        self.settle()
        return self._alerts

    def write(self, row: Row) -> None:
        """Keep one iteration; judge and show it now, or with those of the next moment."""
        if self._closed:
            raise RuntimeError("a row was written after the record was closed; it would be lost")
        self._check(row)
        numbers = dict(zip(row, map(float, row.values()), strict=True))
        if self._record is not None:
            self._record.append(numbers)
        self._waiting.append(numbers)
        if time.monotonic() - self._settled >= TOGETHER_SECONDS:
            self.settle()

    def settle(self) -> list[Alert]:
        """Judge and show the rows that wait; returns the alerts that they raised or resolved.

        The first row of a resumed run also names those that already held.
        """
        changed: list[Alert] = []
        if not self._waiting:
            return changed
        self._settled = time.monotonic()
        rows, self._waiting = self._waiting, []  # a sink may answer a row with an event
        for numbers in rows:
            alerts = self._alerts.judge(numbers)
            if not self._greeted:  # a resumed run's sinks learn what already holds
                self._greeted = True
                alerts += [alert for alert in self._alerts.active() if alert not in alerts]
            finished = MappingProxyType(numbers)
            for sink in self._sinks:
                sink.write(finished, alerts)
            changed += alerts
        return changed

    def redeclare(self, metrics: Mapping[str, Metric], settings: Mapping[str, Any]) -> None:
        """The same names with other bounds: a setting that they depend on has changed."""
        self._metrics = metrics
        self.alerts.redeclare(metrics, settings)

    def event(self, event: Mapping[str, Any]) -> None:
        """Events have a file of their own; what led to one is on disk and shown when it is told."""
        self.settle()
        if self._record is not None:
            self._record.flush()
        for sink in self._sinks:
            sink.event(event)

    def close(self, summary: Summary | None = None) -> None:
        """Show what waits and close every sink, also when one of them fails. A second call does
        nothing."""
        if self._closed:
            return
        self._closed = True
        with ExitStack() as stack:
            for sink in reversed(self._sinks):
                stack.callback(sink.close, summary)
            if self._record is not None:
                stack.callback(self._record.close)
            self.settle()

    def _check(self, row: Row) -> None:
        keys = tuple(row)
        if keys in self._checked:
            return
        names = {key: split(key)[1] for key in keys}
        for key in sorted(key for key, name in names.items() if name not in self._metrics):
            raise GymnastError(
                f"metric {key!r} is not declared{closest(names[key], self._metrics)}",
                fix="declare it in gymnast/metrics/families, or under `metrics:` in the preset",
            )
        missing = [f"clock/{clock}" for clock in CLOCKS if f"clock/{clock}" not in keys]
        if missing:
            raise GymnastError(f"a row carries every clock; this one lacks {', '.join(missing)}")
        self._checked.add(keys)
