"""Writes what happens in a training: events, metric rows, and the fields of run.json that change."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from gymnast.clock import Clock
from gymnast.collect.collector import Collector
from gymnast.config.config import Config
from gymnast.measure.limits import metric_limits
from gymnast.measure.pace import Pace
from gymnast.metrics.alerts import Alerts
from gymnast.metrics.recorder import Recorder
from gymnast.metrics.specs import run_metrics
from gymnast.metrics.store import MetricStore
from gymnast.runs.curve import RETURN_KEY, SCORED_STEPS_KEY, short_curve
from gymnast.runs.info import branch_point
from gymnast.runs.run import Run
from gymnast.training.lifecycle.unused_settings import unused_settings
from gymnast.training.live.settings import alert_settings

REPORT_SECONDS = 2.0
"""Interval at which run.json is updated with the clocks, between checkpoints."""


@dataclass
class RunWriter:
    run: Run
    recorder: Recorder
    store: MetricStore
    clock: Clock
    """The clocks of the training, which every event carries."""
    last_report: float = 0.0
    """Monotonic time at which run.json was last updated with the clocks."""
    curve: dict[float, float] = field(default_factory=dict[float, float])
    """Env steps of every version that was evaluated -> its mean return."""
    pace: Pace = field(init=False)
    branch_point: int | None = field(init=False)

    def __post_init__(self) -> None:
        self.pace, self.branch_point = Pace(self.clock), branch_point(self.run.info)

    @property
    def alerts(self) -> Alerts:
        return self.recorder.alerts

    def event(self, kind: str, **detail: object) -> None:
        """Writes an event, with the clocks, to events.jsonl and passes it to the console and log."""
        counters = self.clock.counters()
        self.run.record_event(kind, counters, **detail)
        self.recorder.event({"kind": kind, **counters, **detail})

    def row(self, row: dict[str, float]) -> None:
        """Records the metrics of a rollout."""
        self.recorder.write(row)
        if RETURN_KEY in row and SCORED_STEPS_KEY in row:
            self.curve[row[SCORED_STEPS_KEY]] = row[RETURN_KEY]

    def progress(self) -> dict[str, object]:
        """Returns the fields of run.json about how far the run is: clocks, budget, speed and curve."""
        steps = sorted(self.curve)
        return {
            "clocks": self.clock.counters(),
            "limits": dict(self.clock.limits),
            "rates": self.pace.rates(),
            "curve": short_curve((steps, [self.curve[at] for at in steps]), self.branch_point),
        }

    def report_progress(self) -> None:
        """Updates the progress in run.json, at most every REPORT_SECONDS."""
        if time.monotonic() - self.last_report > REPORT_SECONDS:
            self.last_report = time.monotonic()
            self.run.update(**self.progress())

    def live_settings(self, live: Mapping[str, object], limits: Mapping[str, float]) -> None:
        """Writes the live changes (dotted key -> plain value) and the budget that they result in (clock ->
        limit) to run.json."""
        self.run.update(**self.progress() | {"live": dict(live), "limits": dict(limits)})

    def restore_progress(self) -> None:
        """Reads the evaluations so far from the stored rows, and measures the speed from now on: after a
        resume."""
        wanted = (RETURN_KEY, SCORED_STEPS_KEY)
        columns = [column.tolist() for column in self.store.read(wanted).values()]
        self.curve = {at: y for y, at in zip(*columns, strict=True) if y == y and at == at}
        self.pace = Pace(self.clock)

    def unused_settings(self, keys: Iterable[str], cfg: Config, collector: Collector) -> None:
        """Writes an event for each of these settings that has no effect with this config and these
        environments."""
        for key, why in unused_settings(keys, cfg, collector):
            self.event("setting without effect", key=key, why=why)

    def adopt_settings(self, cfg: Config, collector: Collector) -> None:
        """Lets metrics and alerts follow changed settings: the declared bounds of metrics and the advice of
        alerts depend on them."""
        self.recorder.replace_metrics(
            run_metrics(cfg, metric_limits(collector, cfg)), alert_settings(cfg, self.run)
        )
