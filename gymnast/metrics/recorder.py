"""The recorder: every row of metrics that training produces goes through it.

It checks a row against the declarations, stores it, checks it for alerts and passes it to the sinks.
"""

from __future__ import annotations

import math
import time
from collections.abc import Collection, Mapping, Sequence
from contextlib import ExitStack
from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol, TypedDict

from gymnast.clock import CLOCKS
from gymnast.config.plain_value import PlainValue
from gymnast.errors import GymnastError
from gymnast.metrics.alert import Alert
from gymnast.metrics.alerts import Alerts
from gymnast.metrics.score import Score
from gymnast.metrics.specs import Metric, split_key
from gymnast.text.suggestions import did_you_mean

if TYPE_CHECKING:
    from gymnast.metrics.store import MetricStore

BATCH_SECONDS = 0.25
"""Rows that arrive faster than this are checked and passed to the sinks in one batch: right after a rollout
the code is no longer in the CPU caches, so a single row takes three times as long as a row of a batch."""

Row = Mapping[str, float]
"""Metrics of one iteration: `[scope:]metric` -> value. Contains every clock."""


class Summary(TypedDict, total=False):
    """The result of a run, which `Recorder.close` passes to the sinks."""

    id: str
    name: str
    preset: str
    path: str
    solved: bool | None
    """None if there is no threshold."""
    confirmed: bool
    """Whether the score was measured on held-out seeds, at the end."""
    reason: str
    score: Score | None
    threshold: float | None
    env_steps: int
    seconds: float
    best: int | None
    """Env steps of the best checkpoint."""
    interrupted: bool
    """Whether a signal was received, even if only after the run had another reason to end."""
    doubts: list[str]
    """Reasons why the score may not show that the task was learned, one clause each (`runs.doubts`)."""
    stopped: bool
    """Whether it was interrupted or a command ended it, so that it can be resumed."""


class Sink(Protocol):
    """A destination for finished rows, such as the console or a log. It cannot change the run."""

    def write(self, row: Row, alerts: Sequence[Alert]) -> None:
        """Receives a row, and the alerts that it raised or resolved."""
        ...

    def event(self, event: Mapping[str, object]) -> None: ...

    def close(self, summary: Summary | None) -> None:
        """Closes the sink; no summary means that the run failed."""
        ...


class Recorder:
    def __init__(
        self,
        metrics: Mapping[str, Metric],
        sinks: Sequence[Sink],
        settings: Mapping[str, PlainValue] | None = None,
        roles: Collection[str] = (),
        store: MetricStore | None = None,
    ) -> None:
        """`settings`, `roles`: see Alerts. `store`: the store that each row is written to first."""
        self._alerts = Alerts(metrics, settings, roles)
        self._metrics = metrics
        self._sinks = list(sinks)
        self._store = store
        self._checked: set[tuple[str, ...]] = set()
        """Sets of keys that have passed the check: nearly all rows of a run have the same few."""
        self._pending: list[dict[str, float]] = []
        """Rows that are stored, but not yet checked for alerts and passed to the sinks."""
        self._processed_at = -math.inf
        """Monotonic time at which `process_pending` last processed rows."""
        self._closed = False
        self._sent_active_alerts = False

    @property
    def alerts(self) -> Alerts:
        """The alerts of all rows so far."""
        self.process_pending()
        return self._alerts

    def write(self, row: Row) -> None:
        """Stores a row; checks it for alerts and passes it to the sinks now, or together with the next ones
        (see BATCH_SECONDS). Raises GymnastError for a key that is not declared or a missing clock, and
        RuntimeError after `close`."""
        if self._closed:
            raise RuntimeError("a row was written after the recorder was closed; it would be lost")
        self._check(row)
        numbers = dict(zip(row, map(float, row.values()), strict=True))
        if self._store is not None:
            self._store.append(numbers)
        self._pending.append(numbers)
        if time.monotonic() - self._processed_at >= BATCH_SECONDS:
            self.process_pending()

    def process_pending(self) -> list[Alert]:
        """Checks the waiting rows for alerts and passes them to the sinks. Returns the alerts that were
        raised or resolved.

        With the first row after this object was created, all active alerts are passed on and returned too:
        the sinks of a resumed run do not know the alerts from before.
        """
        changed: list[Alert] = []
        if not self._pending:
            return changed
        self._processed_at = time.monotonic()
        # Emptied first: a sink may report an event, which calls this method again.
        rows, self._pending = self._pending, []
        for numbers in rows:
            alerts = self._alerts.check_row(numbers)
            if not self._sent_active_alerts:
                # The sinks of a resumed run do not know the alerts from before.
                self._sent_active_alerts = True
                alerts += [alert for alert in self._alerts.active() if alert not in alerts]
            finished = MappingProxyType(numbers)  # sinks cannot change what others see
            for sink in self._sinks:
                sink.write(finished, alerts)
            changed += alerts
        return changed

    def replace_metrics(
        self, metrics: Mapping[str, Metric], settings: Mapping[str, PlainValue]
    ) -> None:
        """Replaces the declarations and settings after a setting has changed: the same metrics with other
        bounds."""
        self._metrics = metrics
        self.alerts.replace_metrics(metrics, settings)

    def event(self, event: Mapping[str, object]) -> None:
        """Passes an event to the sinks, after all rows that came before it are stored and passed on."""
        self.process_pending()
        if self._store is not None:
            self._store.flush()
        for sink in self._sinks:
            sink.event(event)

    def close(self, summary: Summary | None = None) -> None:
        """Passes on the waiting rows, then closes the store and every sink, even if one of them fails.
        `summary`: the result of the run; None if it failed.

        A second call does nothing.
        """
        if self._closed:
            return
        self._closed = True
        # An ExitStack runs every callback, last one first, even if one raises: first the pending rows
        # are passed on, then the store is closed, then the sinks in their order.
        with ExitStack() as stack:
            for sink in reversed(self._sinks):
                stack.callback(sink.close, summary)
            if self._store is not None:
                stack.callback(self._store.close)
            self.process_pending()

    def _check(self, row: Row) -> None:
        """Raises GymnastError for a key that is not declared, or a missing clock."""
        keys = tuple(row)
        if keys in self._checked:
            return
        names = {key: split_key(key)[1] for key in keys}
        for key in sorted(key for key, name in names.items() if name not in self._metrics):
            raise GymnastError(
                f"metric {key!r} is not declared{did_you_mean(names[key], self._metrics)}",
                fix="declare it in gymnast/metrics/families, or under `metrics:` in the preset",
            )
        missing = [f"clock/{clock}" for clock in CLOCKS if f"clock/{clock}" not in keys]
        if missing:
            raise GymnastError(
                f"a row must contain every clock; this one lacks {', '.join(missing)}"
            )
        self._checked.add(keys)
