"""Formats a row, an alert or an event as one line of plain text, for pipes, files and the log."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gymnast.clock import clock_label
from gymnast.metrics.alert import Alert
from gymnast.metrics.metric import Metric
from gymnast.metrics.recorder import Row
from gymnast.metrics.sinks.history import EVAL_KEY
from gymnast.metrics.specs import metric_for_key, sort_keys, split_key
from gymnast.text.events import event_detail


def row_line(
    row: Row, metrics: Mapping[str, Metric], pinned: Sequence[str] = (), clock: str = "env_steps"
) -> str:
    """Formats elapsed time, progress, the most important metrics and the pinned ones (keys of the row).
    `clock`: the one of the budget.

    The result of an evaluation is printed in a later row, so it is followed by the env steps of the
    policy that was evaluated: `eval:episode/return 464.74 @10,240`.
    """
    parts = [f"{metric_for_key('clock/seconds', metrics).format(row['clock/seconds']):>11}"]
    if "progress/share" in row:
        parts.append(
            f"{metric_for_key('progress/share', metrics).format(row['progress/share']):>6}"
        )
    if clock == "seconds":  # they come first anyway
        clock = "env_steps"
    parts.append(f"{row[f'clock/{clock}']:>10,.0f} {clock_label(clock)}")
    version = f" @{row[EVAL_KEY]:,.0f}" if EVAL_KEY in row else ""
    for key in sort_keys(row, metrics):
        metric = metric_for_key(key, metrics)
        matters = metric.in_table and (metric.priority <= 2 or key == "speed/env_steps")
        if matters or key in pinned:
            is_eval = split_key(key)[0][:1] == ("eval",)
            parts.append(f"{key} {metric.format(row[key])}{version if is_eval else ''}")
    if "progress/remaining" in row:
        left = metric_for_key("progress/remaining", metrics).format(row["progress/remaining"])
        parts.append(f"{left} left")
    return "  ".join(parts)


def alert_line(alert: Alert) -> str:
    """Formats an alert: `warning: policy/kl is high: ... Updates are too large. ...`, or `resolved: ID` if it
    is not active."""
    if not alert.active:
        return f"resolved: {alert.id}"
    return f"{alert.level}: {alert.message}. {alert.advice}".rstrip()


def event_line(event: Mapping[str, object]) -> str:
    """Formats an event: `checkpoint at 40,960 env steps: reason best`. A `message` replaces all other
    details."""
    where = f" at {event['env_steps']:,} env steps" if "env_steps" in event else ""
    detail = event_detail(event)
    return f"{event.get('kind', 'event')}{where}{': ' if detail else ''}{detail}"
