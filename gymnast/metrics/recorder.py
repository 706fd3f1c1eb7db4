"""The one way a number leaves the loop: checked against its declaration, judged, shown to sinks."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import ExitStack
from types import MappingProxyType
from typing import Any, Protocol, TypedDict

from gymnast.clock import CLOCKS
from gymnast.errors import GymnastError
from gymnast.metrics.alerts import Alert, Alerts
from gymnast.metrics.specs import Metric, split
from gymnast.text.closest import closest

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
    ) -> None:
        """`settings`, `roles`: see Alerts."""
        self.alerts = Alerts(metrics, settings, roles)
        self._metrics = metrics
        self._sinks = list(sinks)
        self._checked: set[tuple[str, ...]] = set()
        self._closed = False
        self._greeted = False

    def write(self, row: Row) -> list[Alert]:
        """Record one iteration; returns the alerts that it raised or resolved.

        The first row of a resumed run also names those that already held.
        """
        if self._closed:
            raise RuntimeError("a row was written after the record was closed; it would be lost")
        self._check(row)
        numbers = dict(zip(row, map(float, row.values()), strict=True))
        alerts = self.alerts.judge(numbers)
        if not self._greeted:  # a resumed run's sinks learn what already holds
            self._greeted = True
            alerts += [alert for alert in self.alerts.active() if alert not in alerts]
        finished = MappingProxyType(numbers)
        for sink in self._sinks:
            sink.write(finished, alerts)
        return alerts

    def redeclare(self, metrics: Mapping[str, Metric], settings: Mapping[str, Any]) -> None:
        """The same names with other bounds: a setting that they depend on has changed."""
        self._metrics = metrics
        self.alerts.redeclare(metrics, settings)

    def event(self, event: Mapping[str, Any]) -> None:
        for sink in self._sinks:
            sink.event(event)

    def close(self, summary: Summary | None = None) -> None:
        """Close every sink, also when one of them fails. A second call does nothing."""
        if self._closed:
            return
        self._closed = True
        with ExitStack() as stack:
            for sink in reversed(self._sinks):
                stack.callback(sink.close, summary)

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
