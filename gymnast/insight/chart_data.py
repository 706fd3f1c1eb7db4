"""The charts of a run, filled from its rows, events and alerts.

A metric that was not recorded has no series, and a row that lacks it has no point: nothing missing is drawn
as zero. An evaluation is drawn at the clock of the policy version that it scored.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from gymnast.clock import CLOCKS, DEFAULT_CLOCK
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
from gymnast.insight.chart_source import ChartSource, RowSource, finite_or_none
from gymnast.insight.charts import CHARTS, PAGE, Chart, chart_family
from gymnast.metrics.alert import Alert
from gymnast.metrics.metric import Limits
from gymnast.metrics.specs import METRICS, sort_keys, split_key
from gymnast.runs.curve import ClockAxis, Row, curve_of, read_rows
from gymnast.runs.events import CHANGED
from gymnast.runs.info import EventInfo, RunInfo
from gymnast.runs.run import Run
from gymnast.text.formatting import change, number

MAX_ROWS = 2_000
"""Maximum number of rows that are read as a whole."""
MAX_SERIES = 12
"""Maximum number of lines in a chart, and of series in a stack before it becomes a heat map."""
EVENTS = (CHANGED, "resumed", "stage", "budget changed")
"""Events that change how a run trains; drawn as a vertical line."""


def charts_of_run(run: Run, x: str = DEFAULT_CLOCK) -> list[ChartData]:
    """Returns every chart of a run that has data, over the clock `x`. If the run has more than MAX_ROWS rows,
    series are read in buckets. Raises UsageError if `x` is not a clock."""
    _check_clock(x)
    with run.metrics() as store:
        is_long = store.count(MAX_ROWS + 1) > MAX_ROWS
    if is_long:
        from gymnast.insight.bucket_source import BucketSource  # imports NumPy

        source = BucketSource(run, x, chart_keys)
    else:
        source = RowSource(read_rows(run), x)
    actions = run.config_section("facts").get("actions")
    names = [str(name) for name in actions] if isinstance(actions, list) else []  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    return charts(source, run.info, run.events(), x, names)


def charts(
    rows: Sequence[Row] | ChartSource,
    info: RunInfo,
    events: Sequence[EventInfo] = (),
    x: str = DEFAULT_CLOCK,
    actions: Sequence[str] = (),
) -> list[ChartData]:
    """Returns every chart that has data in these rows, over the clock `x`.

    `rows`: all of them, or a source that reads those of a long run in buckets, for the same clock. `info`:
    content of run.json; `events`: those of the run, of which some are marked in every chart; `actions`: a
    name per discrete action, or per dimension of a Box action. Raises UsageError if `x` is not a clock."""
    _check_clock(x)
    source = rows if isinstance(rows, ChartSource) else RowSource(rows, x)
    axis, limits = source.axis, Limits(entropy=_max_entropy(source))
    marks = [
        ChartEvent(event["kind"], _event_text(event), axis(event.get("env_steps", 0)))
        for event in events
        if event["kind"] in EVENTS
    ]
    charts_with_data: list[ChartData] = []
    for chart in CHARTS:
        series, left_out = _series(chart, source)
        if chart.family == "actions":
            series = [replace(line, label=_action_name(line.label, actions)) for line in series]
        if chart.name == "score":
            series = [_named_score(line, source.keys) for line in series]
        if series:
            charts_with_data.append(
                replace(
                    _chart(chart, series, limits, x),
                    left_out=left_out,
                    lines=list(_lines(chart, limits, info["threshold"])),
                    ticks=_ticks(chart, source),
                    events=marks,
                )
            )
    return _with_alerts(charts_with_data, [Alert.from_stored(a) for a in info["alerts"]], axis)


def _check_clock(x: str) -> None:
    if x not in CLOCKS:
        raise UsageError(f"{x!r} cannot be the x axis of a chart", fix=f"use {', '.join(CLOCKS)}")


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


def chart_keys(keys: Sequence[str]) -> list[str]:
    """Returns those of `keys`, the keys of a run's rows, that a chart draws; without evaluations."""
    drawn = [key for chart in CHARTS for key in _drawn(chart, keys) if not _is_eval(key)]
    ticks = [chart.tick_metric for chart in CHARTS if chart.tick_metric in keys]
    return list(dict.fromkeys((*drawn, *ticks)))


def _drawn(chart: Chart, keys: Sequence[str]) -> list[str]:
    return _matching(chart.keys, keys) or _matching(chart.fallback_keys, keys)


def _series(chart: Chart, source: ChartSource) -> tuple[list[ChartSeries], int]:
    """Returns the series of a chart, and how many were omitted because there are too many."""
    matching = _drawn(chart, source.keys)
    if chart.kind == "stacked":
        shares = source.shares(matching)
        return [replace(line, label=_label(line.key)) for line in shares], 0
    series = [
        _evaluated(source, key) if _is_eval(key) else replace(source.line(key), label=_label(key))
        for key in matching
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


def _evaluated(source: ChartSource, key: str) -> ChartSeries:
    """Returns the series of an evaluation metric, with its 95 % confidence interval if it was recorded."""
    xs, ys = curve_of(source.evaluations, source.x, key)
    line = ChartSeries(key, _label(key), xs, [finite_or_none(y) for y in ys])
    if not key.endswith("episode/return"):
        return line
    scope = key.rpartition(":")[0]
    low, high = (_bound(source, f"{scope}:episode/{end}", xs) for end in ("low", "high"))
    return replace(line, low=low, high=high)


def _bound(source: ChartSource, key: str, xs: Sequence[float]) -> list[float | None] | None:
    """Returns the confidence bounds `key` of the evaluations at `xs`; None unless every one has a bound."""
    at, values = curve_of(source.evaluations, source.x, key)
    return [finite_or_none(value) for value in values] if at == xs else None


def _lines(chart: Chart, limits: Limits, threshold: float | None) -> Iterator[ChartLine]:
    """Yields the horizontal lines of a chart: the threshold of the run in the score chart, the
    maximum in the entropy chart, each if it is known."""
    if chart.name == "score" and threshold is not None:
        yield ChartLine(threshold, f"threshold {number(threshold)}")
    bound = METRICS[chart.keys[0]].bounds_for(limits)[1] if chart.name == "entropy" else math.inf
    if math.isfinite(bound):
        yield ChartLine(bound, "maximum")


def _ticks(chart: Chart, source: ChartSource) -> ChartTicks | None:
    """Returns the label and the x values of the rows to be marked with a tick; None if there are
    none."""
    at = source.where_not_zero(chart.tick_metric) if chart.tick_metric in source.keys else []
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


def _max_entropy(source: ChartSource) -> float | None:
    """Returns the maximum entropy of the policy, derived from the rows; None if they do not determine it."""
    for row in source.first_rows:
        if row.get("policy/entropy_share", 0.0) > 0:  # share = entropy / maximum
            return row["policy/entropy"] / row["policy/entropy_share"]
    n_actions = len(_matching(("rollout/action_share.*",), source.keys))
    return math.log(n_actions) if n_actions > 1 else None


def _ends(span: tuple[float, float]) -> Span | None:
    low, high = (finite_or_none(end) for end in span)
    return None if low is None and high is None else (low, high)


def _label(key: str) -> str:
    """Returns `evaluation` for `eval:episode/return`; else the scopes and the name without its section."""
    scopes, name = split_key(key)
    others = [scope for scope in scopes if scope != "eval"]
    if name.startswith("episode/"):
        words = ["evaluation" if _is_eval(key) else "training", *others]
    else:
        words = [*others, name.partition("/")[2]]
    return " ".join(words)


def _named_score(line: ChartSeries, keys: Sequence[str]) -> ChartSeries:
    """Returns the evaluated score with a label that says what it is: in a game with winners not a return."""
    has_winners = any(_is_eval(key) and key.endswith(":match/win_rate") for key in keys)
    if line.key != "eval:episode/return" or not has_winners:
        return line
    return replace(line, label="score (win rate of the weaker role)")


def _action_name(label: str, actions: Sequence[str]) -> str:
    """Replaces the index by the name of the action: `action_share.1` -> `right`."""
    index = label.rpartition(".")[2]
    has_name = index.isdigit() and int(index) < len(actions)
    return actions[int(index)] if has_name else index


def _event_text(event: EventInfo) -> str:
    changes = "; ".join(map(change, event.get("changes", ())))
    return f"{event['kind']}: {changes}" if changes else str(event["kind"])
