"""The charts of a run, filled from its rows, events and alerts.

A metric that was not recorded has no series, and a row that lacks it has no point: nothing missing is drawn
as zero. An evaluation is drawn at the clock of the policy version that it scored.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from gymnast.clock import CLOCKS
from gymnast.errors import UsageError
from gymnast.insight.chart import (
    ChartAlert,
    ChartData,
    ChartEvent,
    ChartLine,
    ChartSeries,
    ChartTicks,
    Span,
)
from gymnast.insight.charts import CHARTS, PAGE, Chart, chart_family
from gymnast.metrics.alert import Alert
from gymnast.metrics.metric import Limits
from gymnast.metrics.specs import METRICS, sort_keys, split_key
from gymnast.runs.curve import ClockAxis, Row, curve_of
from gymnast.runs.details import alert_from_info
from gymnast.runs.events import CHANGED
from gymnast.runs.info import EventInfo, RunInfo
from gymnast.text.formatting import change, number

POINTS = 300
"""Maximum number of points of a series. Longer series are averaged, with minimum and maximum as a band."""
MAX_SERIES = 12
"""Maximum number of lines in a chart, and of series in a stack before it becomes a heat map."""
EVENTS = (CHANGED, "resumed", "stage", "budget changed")
"""Events that change how a run trains; drawn as a vertical line."""


def charts(
    rows: Sequence[Row],
    info: RunInfo,
    events: Sequence[EventInfo] = (),
    x: str = "vec_steps",
    actions: Sequence[str] = (),
) -> list[ChartData]:
    """Returns every chart that has data in these rows, over the clock `x`.

    `info`: content of run.json; `events`: those of the run, of which some are marked in every
    chart; `actions`: a name per discrete action, or per dimension of a Box action. Raises
    UsageError if `x` is not a clock."""
    if x not in CLOCKS:
        raise UsageError(f"{x!r} cannot be the x axis of a chart", fix=f"use {', '.join(CLOCKS)}")
    keys, axis = list(dict.fromkeys(key for row in rows for key in row)), ClockAxis(rows, x)
    limits = Limits(entropy=_max_entropy(rows, keys))
    marks = [
        ChartEvent(event["kind"], _event_text(event), axis(event.get("env_steps", 0)))
        for event in events
        if event["kind"] in EVENTS
    ]
    charts_with_data: list[ChartData] = []
    for chart in CHARTS:
        series, left_out = _series(chart, rows, keys, x)
        if chart.family == "actions":
            series = [replace(line, label=_action_name(line.label, actions)) for line in series]
        if series:
            charts_with_data.append(
                replace(
                    _chart(chart, series, limits, x),
                    left_out=left_out,
                    lines=list(_lines(chart, limits, info["threshold"])),
                    ticks=_ticks(chart, rows, x),
                    events=marks,
                )
            )
    return _with_alerts(charts_with_data, [alert_from_info(a) for a in info["alerts"]], axis)


def line_chart(name: str, family: str, title: str, x: str, series: list[ChartSeries]) -> ChartData:
    """Returns a line chart without marks."""
    return ChartData(name, family, title, f"{PAGE}#{family}", x, series)


def _chart(chart: Chart, series: list[ChartSeries], limits: Limits, x: str) -> ChartData:
    """Returns a chart with its series, unit and healthy range, but without its marks. Shares with
    more than MAX_SERIES series become a heat map. `limits`: what the bounds of metrics depend
    on."""
    metric = METRICS.get(split_key(series[0].key)[1])
    shares = chart.kind == "stacked"
    positive = all(y is None or y > 0 for line in series for y in line.y)
    return replace(
        line_chart(chart.name, chart.family, chart.title, x, series),
        kind="heat" if shares and len(series) > MAX_SERIES else chart.kind,
        unit="share" if shares or chart.scale_each else metric.unit if metric else "",
        log=chart.log and positive,
        scale_each=chart.scale_each,
        healthy=None if metric is None else _ends(metric.healthy_for(limits)),
        range=_ends(metric.bounds_for(limits)) if metric and chart.show_bounds else None,
    )


def _series(
    chart: Chart, rows: Sequence[Row], keys: Sequence[str], x: str
) -> tuple[list[ChartSeries], int]:
    """Returns the series of a chart, and how many were omitted because there are too many."""
    matching = _matching(chart.keys, keys) or _matching(chart.fallback_keys, keys)
    if chart.kind == "stacked":
        return _stacked(matching, rows, x), 0
    series = [
        _evaluated(rows, key, x) if _is_eval(key) else _line(rows, key, x) for key in matching
    ]
    series = [line for line in series if any(y is not None for y in line.y)]
    labels = [line.label for line in series]
    if len(set(labels)) < len(labels):  # short labels are ambiguous: use the full keys
        series = [replace(line, label=line.key) for line in series]
    if chart.scale_each:
        # Scaled to its maximum, every constant is the same line at 1; one is kept if all are constant.
        varying = [line for line in series if len(set(line.y)) > 1]
        series = varying or series[:1]
    return series[:MAX_SERIES], max(len(series) - MAX_SERIES, 0)


def _matching(patterns: Sequence[str], keys: Sequence[str]) -> list[str]:
    """Returns the keys that match, in the order of the patterns, then unscoped keys and low indices first."""
    matching: list[str] = []
    for pattern in patterns:
        scope, _, name = pattern.rpartition(":")
        prefix = name.removesuffix("*")
        matches = [
            key
            for key in keys
            if _is_eval(key) == (scope == "eval")
            and (
                split_key(key)[1] == name
                or (prefix != name and split_key(key)[1].startswith(prefix))
            )
        ]
        matching += sorted(sort_keys(matches), key=_scopes_and_index)
    return matching


def _scopes_and_index(key: str) -> tuple[int, int]:
    """Returns the sort key of a metric: its number of scopes, then its index (as a number: .10 after .9)."""
    index = key.rpartition(".")[2]
    return len(split_key(key)[0]), int(index) if index.isdigit() else 0


def _is_eval(key: str) -> bool:
    return split_key(key)[0][:1] == ("eval",)


def _line(rows: Sequence[Row], key: str, x: str) -> ChartSeries:
    """Returns the series of a metric of training: a point for each row that has it, averaged if
    there are more than POINTS."""
    with_key = [row for row in rows if key in row]
    xs, ys = [row[f"clock/{x}"] for row in with_key], [_finite(row[key]) for row in with_key]
    return _pooled(ChartSeries(key, _label(key), xs, ys))


def _evaluated(rows: Sequence[Row], key: str, x: str) -> ChartSeries:
    """Returns the series of an evaluation metric, with its 95 % confidence interval if it was recorded."""
    xs, ys = curve_of(rows, x, key)
    line = ChartSeries(key, _label(key), xs, [_finite(y) for y in ys])
    if not key.endswith("episode/return"):
        return line
    scope = key.rpartition(":")[0]
    low, high = (_bound(rows, x, f"{scope}:episode/{end}", xs) for end in ("low", "high"))
    return replace(line, low=low, high=high)


def _bound(rows: Sequence[Row], x: str, key: str, xs: Sequence[float]) -> list[float | None] | None:
    """Returns the confidence bounds `key` of the evaluations at `xs`; None unless every one has a bound."""
    at, values = curve_of(rows, x, key)
    return [_finite(value) for value in values] if at == xs else None


def _stacked(keys: Sequence[str], rows: Sequence[Row], x: str) -> list[ChartSeries]:
    """Returns each key as its share of the sum of all keys, in the rows that have all of them; keys
    that are always 0 are omitted."""
    # A share is only defined in a row that has every part, and a sum above 0.
    complete = [row for row in rows if all(key in row for key in keys)]
    complete = [row for row in complete if 0 < sum(row[key] for key in keys) < math.inf]
    keys = [key for key in keys if any(row[key] for row in complete)]
    xs = [row[f"clock/{x}"] for row in complete]
    sums = [sum(row[k] for k in keys) for row in complete]
    series: list[ChartSeries] = []
    for key in keys:
        ys: list[float | None] = [row[key] / s for row, s in zip(complete, sums, strict=True)]
        pooled = _pooled(ChartSeries(key, _label(key), xs, ys))
        series.append(replace(pooled, low=None, high=None))
    return series if xs else []


def _pooled(series: ChartSeries) -> ChartSeries:
    """Averages a series of more than POINTS points over POINTS bins of equal numbers of rows; its band are
    their extremes."""
    if len(series.x) <= POINTS:
        return series
    edges = [i * len(series.x) // POINTS for i in range(POINTS + 1)]
    bins = [[y for y in series.y[a:b] if y is not None] for a, b in pairwise(edges)]
    return replace(
        series,
        x=[sum(series.x[a:b]) / (b - a) for a, b in pairwise(edges)],
        y=[sum(finite) / len(finite) if finite else None for finite in bins],
        low=[min(finite, default=None) for finite in bins],
        high=[max(finite, default=None) for finite in bins],
    )


def _lines(chart: Chart, limits: Limits, threshold: float | None) -> Iterator[ChartLine]:
    """Yields the horizontal lines of a chart: the threshold of the run in the score chart, the
    maximum in the entropy chart, each if it is known."""
    if chart.name == "score" and threshold is not None:
        yield ChartLine(threshold, f"threshold {number(threshold)}")
    bound = METRICS[chart.keys[0]].bounds_for(limits)[1] if chart.name == "entropy" else math.inf
    if math.isfinite(bound):
        yield ChartLine(bound, "maximum")


def _ticks(chart: Chart, rows: Sequence[Row], x: str) -> ChartTicks | None:
    """Returns the label and the x values of the rows to be marked with a tick; None if there are
    none."""
    at = [row[f"clock/{x}"] for row in rows if chart.tick_metric and row.get(chart.tick_metric)]
    return ChartTicks(chart.tick_label, at) if at else None


def _with_alerts(
    charts: Sequence[ChartData], alerts: Sequence[Alert], axis: ClockAxis
) -> list[ChartData]:
    """Adds each alert to the chart that draws its metric, or else to the first chart of its family."""
    marks: dict[str, list[ChartAlert]] = {chart.name: [] for chart in charts}
    for alert in alerts:
        family = [chart for chart in charts if chart.family == chart_family(alert.key)]
        with_metric = [c for c in family if any(line.key == alert.key for line in c.series)]
        for chart in (with_metric or family)[:1]:
            span = axis(alert.first), axis(alert.last)
            mark = ChartAlert(alert.id, alert.level, alert.message, alert.count, *span)
            marks[chart.name].append(mark)
    return [replace(chart, alerts=marks[chart.name]) for chart in charts]


def _max_entropy(rows: Sequence[Row], keys: Sequence[str]) -> float | None:
    """Returns the maximum entropy of the policy, derived from the rows; None if they do not determine it."""
    for row in rows:
        if row.get("policy/entropy_share", 0.0) > 0:  # share = entropy / maximum
            return row["policy/entropy"] / row["policy/entropy_share"]
    n_actions = len(_matching(("rollout/action_share.*",), keys))
    return math.log(n_actions) if n_actions > 1 else None


def _ends(span: tuple[float, float]) -> Span | None:
    low, high = (_finite(end) for end in span)
    return None if low is None and high is None else (low, high)


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _label(key: str) -> str:
    """Returns `evaluation` for `eval:episode/return`; else the scopes and the name without its section."""
    scopes, name = split_key(key)
    others = [scope for scope in scopes if scope != "eval"]
    if name.startswith("episode/"):
        words = ["evaluation" if _is_eval(key) else "training", *others]
    else:
        words = [*others, name.partition("/")[2]]
    return " ".join(words)


def _action_name(label: str, actions: Sequence[str]) -> str:
    """Replaces the index by the name of the action: `action_share.1` -> `right`."""
    index = label.rpartition(".")[2]
    has_name = index.isdigit() and int(index) < len(actions)
    return actions[int(index)] if has_name else index


def _event_text(event: EventInfo) -> str:
    changes = "; ".join(map(change, event.get("changes", ())))
    return f"{event['kind']}: {changes}" if changes else str(event["kind"])
