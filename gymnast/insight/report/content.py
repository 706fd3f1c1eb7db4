"""The content of the report of a run: status, roles, alerts, next commands, settings, charts and metrics."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gymnast.insight.chart import ChartData, ChartSeries
from gymnast.insight.chart_data import line_chart
from gymnast.insight.charts import CHARTS, FAMILIES, PAGE, docs_section
from gymnast.insight.compare import Comparison
from gymnast.insight.page import (
    changed_settings,
    event_cells,
    next_steps,
    score_text,
    status_lines,
)
from gymnast.insight.report.blocks import Block, Figure, Heading, Paragraph, Table
from gymnast.insight.report.roles import role_blocks
from gymnast.insight.self_play import SelfPlay
from gymnast.metrics.specs import METRICS, sort_keys, split_key
from gymnast.runs.curve import Row
from gymnast.runs.details import RunDetails
from gymnast.text import formatting

EVENTS = 40
"""Number of the latest events in a report."""


def report_blocks(
    run: RunDetails,
    rows: Sequence[Row],
    charts: Sequence[ChartData],
    parent: Comparison | str | None,
    self_play: SelfPlay | None = None,
) -> list[Block]:
    """Returns the blocks of a report. `rows`: its metrics; `parent`: the comparison with the
    parent run, a sentence why the parent cannot be read, or None without a parent; `self_play`: the
    development of its roles, None for a single agent."""
    name = f" {run.name}" if run.name else ""
    return [
        Heading(f"Run {run.id}{name}: {run.preset}, seed {run.seed}", 1),
        Table(("", ""), list(status_lines(run))),
        # The score chart comes first; `chart_blocks` leaves it out.
        *(Figure(chart) for chart in charts if chart.name == "score"),
        *(role_blocks(self_play, rows) if self_play else ()),
        *alert_blocks(run),
        *_next(run),
        *settings_blocks(run),
        *_parent(parent),
        *chart_blocks(charts),
        *metric_blocks(rows),
        *_timing(rows),
        *event_blocks(run),
    ]


def alert_blocks(run: RunDetails) -> Iterator[Block]:
    """Yields the section about alerts: a table in the order in which they were raised, or a
    sentence if there were none."""
    yield Heading("Alerts")
    if not run.alerts:
        yield Paragraph("No alert was raised.")
        return
    lines = [
        (
            alert.level + ("" if alert.active else ", resolved"),
            alert.id,
            f"{alert.message}. {alert.advice}".rstrip(),
            f"{alert.first:,} to {alert.last:,}",
            f"{alert.count}",
            docs_section(alert.key),
        )
        for alert in sorted(run.alerts, key=lambda alert: alert.first)
    ]
    head = ("level", "alert", "problem and advice", "env steps", "rows", "more about it")
    yield Table(head, lines, code_columns=(1, 5))


def _next(run: RunDetails) -> Iterator[Block]:
    yield Heading("Next steps")
    yield Table(("command", "purpose"), list(next_steps(run)), code_columns=(0,))


def settings_blocks(run: RunDetails) -> Iterator[Block]:
    """Yields the section about settings that differ from the defaults and, if there were any, about
    those changed during training."""
    yield Heading("Settings that differ from the defaults")
    yield Table(("key", "value", "origin"), changed_settings(run), code_columns=(0, 1))
    if run.live:
        yield Paragraph("Changed during training:")
        changed = [(key, str(value)) for key, value in run.live.items()]
        yield Table(("key", "value now"), changed, code_columns=(0, 1))


def _parent(parent: Comparison | str | None) -> Iterator[Block]:
    """Yields the section that compares the run with its parent; see `report_blocks` for `parent`.
    Nothing if it is None."""
    if parent is None:
        return
    yield Heading("Comparison with the parent run")
    if isinstance(parent, str):
        yield Paragraph(parent)
        return
    lines = [
        (
            run.label,
            score_text(run.score),
            formatting.area(run.learning.area if run.learning else None),
            formatting.count(run.learning.steps_to_threshold if run.learning else None),
            formatting.count(run.clocks.get("env_steps")),
            formatting.duration(run.clocks.get("seconds")),
        )
        for run in parent.runs
    ]
    yield Table(("run", "score", "area", "steps to threshold", "env steps", "time"), lines)
    if figure := _parent_chart(parent):
        yield Figure(figure)
    if parent.config_problem:
        yield Paragraph(f"The settings cannot be compared: {parent.config_problem}")
    elif parent.config:
        differing = [(entry.key, *map(str, entry.values)) for entry in parent.config]
        head = ("setting", *(run.id for run in parent.runs))
        yield Table(head, differing, code_columns=(0, 1, 2))
    else:
        yield Paragraph("The settings are the same.")


def _parent_chart(parent: Comparison) -> ChartData | None:
    """Returns the evaluation curves of run and parent as one chart; None if there are none."""
    series = [
        ChartSeries(run.id, run.label, run.curve.x, list(run.curve.y))
        for run in parent.runs
        if run.curve.x
    ]
    if not series:
        return None
    return line_chart("parent", "score", "Evaluations of run and parent", parent.x, series)


def chart_blocks(charts: Sequence[ChartData]) -> Iterator[Block]:
    """Yields the section with all charts by family, except the score chart, which is at the top of
    the report."""
    yield Heading("Charts")
    legend = (
        "Green is the healthy range, ▲ marks the start of an alert, a dashed vertical line is an event that "
        "changed how the run trains."
    )
    yield Paragraph(f"{legend} How to read the charts: {PAGE}.")
    for family, title in FAMILIES.items():
        # The score chart is already at the top of the report.
        in_family = [c for c in charts if c.family == family and c.name != "score"]
        if in_family:
            yield Heading(title, 3)
        for chart in in_family:
            yield Figure(chart)
            if chart.left_out:
                yield Paragraph(f"{chart.left_out} more series are omitted.")


def metric_blocks(rows: Sequence[Row]) -> Iterator[Block]:
    """Yields a table of the metrics of the live table, in its order."""
    columns: dict[str, list[float]] = {}
    for row in rows:
        for key, value in row.items():
            metric = METRICS.get(split_key(key)[1])
            if metric is not None and metric.in_table:
                columns.setdefault(key, []).append(value)
    if columns:
        yield Heading("Metrics")
        lines = [
            (
                key,
                *(METRICS[split_key(key)[1]].format(f(values)) for f in (_first, min, max, _last)),
            )
            for key in sort_keys(columns)
            if (values := columns[key])
        ]
        yield Table(("metric", "first", "minimum", "maximum", "last"), lines, code_columns=(0,))


def _timing(rows: Sequence[Row]) -> Iterator[Block]:
    """Yields the section with the seconds spent on each activity, the longest first; nothing if the
    rows have no times."""
    (timing,) = (chart for chart in CHARTS if chart.name == "timing")
    parts = [key for key in timing.keys if any(key in row for row in rows)]
    seconds_spent = {part: sum(row.get(part, 0.0) for row in rows) for part in parts}
    total = sum(seconds_spent.values())
    if total > 0:
        yield Heading("Wall time by activity")
        lines = [
            (part.removeprefix("time/"), formatting.duration(seconds), f"{seconds / total:.1%}")
            for part, seconds in sorted(seconds_spent.items(), key=lambda item: -item[1])
        ]
        yield Table(("activity", "time", "share"), lines)


def event_blocks(run: RunDetails) -> Iterator[Block]:
    """Yields the section with the latest EVENTS events; nothing if there were none."""
    events = run.events
    if events:
        yield Heading("Events")
        if len(events) > EVENTS:
            yield Paragraph(f"The latest {EVENTS} of {len(events)}.")
        yield Table(("env steps", "event", "detail"), event_cells(events[-EVENTS:]))


def _first(values: Sequence[float]) -> float:
    return values[0]


def _last(values: Sequence[float]) -> float:
    return values[-1]
