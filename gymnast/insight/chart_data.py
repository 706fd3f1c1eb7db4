"""The charts of a run as plain data: series with their own x values, lines, bands and marks.

A metric that was not recorded has no series, and a row that lacks it has no point: nothing missing is drawn
as zero. An evaluation is drawn at the clock of the policy version that it scored.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from gymnast.clock import CLOCKS
from gymnast.errors import UsageError
from gymnast.insight.charts import CHARTS, PAGE, Chart, chart_family
from gymnast.metrics.metric import Limits
from gymnast.metrics.specs import METRICS, sort_keys, split_key
from gymnast.runs.curve import ClockAxis, Row, curve_of
from gymnast.runs.events import CHANGED
from gymnast.text.formatting import change, number

POINTS = 300
"""Maximum number of points of a series. Longer series are averaged, with minimum and maximum as a band."""
MAX_SERIES = 12
"""Maximum number of lines in a chart, and of series in a stack before it becomes a heat map."""
EVENTS = (CHANGED, "resumed", "stage", "budget changed")
"""Events that change how a run trains; drawn as a vertical line."""


def charts(
    rows: Sequence[Row],
    info: Mapping[str, Any],
    events: Sequence[Mapping[str, Any]] = (),
    x: str = "vec_steps",
    actions: Sequence[str] = (),
) -> list[dict[str, Any]]:
    """Returns every chart that has data in these rows, over the clock `x`.

    `info`: content of run.json; `events`: those of the run, of which some are marked in every
    chart; `actions`: a name per discrete action, or per dimension of a Box action. Raises
    UsageError if `x` is not a clock."""
    if x not in CLOCKS:
        raise UsageError(f"{x!r} cannot be the x axis of a chart", fix=f"use {', '.join(CLOCKS)}")
    keys, axis = list(dict.fromkeys(key for row in rows for key in row)), ClockAxis(rows, x)
    limits = Limits(entropy=_max_entropy(rows, keys))
    marks = [
        {"kind": event["kind"], "text": _event_text(event), "x": axis(event.get("env_steps", 0))}
        for event in events
        if event["kind"] in EVENTS
    ]
    charts_with_data: list[dict[str, Any]] = []
    for chart in CHARTS:
        series, left_out = _series(chart, rows, keys, x)
        if chart.family == "actions":
            series = [line | {"label": _action_name(line["label"], actions)} for line in series]
        if series:
            charts_with_data.append(
                {
                    **_chart(chart, series, limits, x),
                    "left_out": left_out,
                    "lines": list(_lines(chart, limits, info)),
                    "ticks": _ticks(chart, rows, x),
                    "events": marks,
                }
            )
    _mark_alerts(charts_with_data, info.get("alerts", ()), axis)
    return charts_with_data


def empty_chart(name: str, family: str, title: str, x: str) -> dict[str, Any]:
    """Returns a line chart without series."""
    return {
        "name": name,
        "family": family,
        "title": title,
        "about": f"{PAGE}#{family}",
        "kind": "line",
        "x": x,
        "unit": "",
        "log": False,
        "each": False,
        "series": [],
        "left_out": 0,
        "healthy": None,
        "range": None,
        "lines": [],
        "ticks": None,
        "alerts": [],
        "events": [],
    }


def _chart(chart: Chart, series: list[dict[str, Any]], limits: Limits, x: str) -> dict[str, Any]:
    """Returns a chart with its series, unit and healthy range, but without its marks. Shares with
    more than MAX_SERIES series become a heat map. `limits`: what the bounds of metrics depend
    on."""
    metric = METRICS.get(split_key(series[0]["key"])[1])
    shares = chart.kind == "stacked"
    positive = all(y is None or y > 0 for line in series for y in line["y"])
    return empty_chart(chart.name, chart.family, chart.title, x) | {
        "kind": "heat" if shares and len(series) > MAX_SERIES else chart.kind,
        "unit": "share" if shares or chart.scale_each else metric.unit if metric else "",
        "log": chart.log and positive,
        "each": chart.scale_each,
        "series": series,
        "healthy": None if metric is None else _ends(metric.healthy_for(limits)),
        "range": _ends(metric.bounds_for(limits)) if metric and chart.show_bounds else None,
    }


def _series(
    chart: Chart, rows: Sequence[Row], keys: Sequence[str], x: str
) -> tuple[list[dict[str, Any]], int]:
    """Returns the series of a chart, and how many were omitted because there are too many."""
    matching = _matching(chart.keys, keys) or _matching(chart.fallback_keys, keys)
    if chart.kind == "stacked":
        return _stacked(matching, rows, x), 0
    series = [
        _evaluated(rows, key, x) if _is_eval(key) else _line(rows, key, x) for key in matching
    ]
    series = [line for line in series if any(y is not None for y in line["y"])]
    labels = [line["label"] for line in series]
    if len(set(labels)) < len(labels):  # short labels are ambiguous: use the full keys
        series = [line | {"label": line["key"]} for line in series]
    if chart.scale_each:
        # Scaled to its maximum, every constant is the same line at 1; one is kept if all are constant.
        varying = [line for line in series if len(set(line["y"])) > 1]
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


def _line(rows: Sequence[Row], key: str, x: str) -> dict[str, Any]:
    """Returns the series of a metric of training: a point for each row that has it, averaged if
    there are more than POINTS."""
    with_key = [row for row in rows if key in row]
    xs, ys = [row[f"clock/{x}"] for row in with_key], [_finite(row[key]) for row in with_key]
    line = {"key": key, "label": _label(key), "x": xs, "y": ys, "low": None, "high": None}
    return line if len(xs) <= POINTS else line | _pooled(xs, ys)


def _evaluated(rows: Sequence[Row], key: str, x: str) -> dict[str, Any]:
    """Returns the series of an evaluation metric, with its 95 % confidence interval if it was recorded."""
    xs, ys = curve_of(rows, x, key)
    scope = key.rpartition(":")[0]
    bands: dict[str, list[float | None] | None] = {"low": None, "high": None}
    if key.endswith("episode/return"):
        for end in bands:
            at, values = curve_of(rows, x, f"{scope}:episode/{end}")
            if at == xs:  # an interval is drawn only if every point of the curve has one
                bands[end] = [_finite(value) for value in values]
    return {"key": key, "label": _label(key), "x": xs, "y": [_finite(y) for y in ys], **bands}


def _stacked(keys: Sequence[str], rows: Sequence[Row], x: str) -> list[dict[str, Any]]:
    """Returns each key as its share of the sum of all keys, in the rows that have all of them; keys
    that are always 0 are omitted."""
    # A share is only defined in a row that has every part, and a sum above 0.
    complete = [row for row in rows if all(key in row for key in keys)]
    complete = [row for row in complete if 0 < sum(row[key] for key in keys) < math.inf]
    keys = [key for key in keys if any(row[key] for row in complete)]
    xs = [row[f"clock/{x}"] for row in complete]
    sums = [sum(row[k] for k in keys) for row in complete]
    series: list[dict[str, Any]] = []
    for key in keys:
        ys: list[float | None] = [row[key] / s for row, s in zip(complete, sums, strict=True)]
        pooled = {"x": xs, "y": ys} if len(xs) <= POINTS else _pooled(xs, ys)
        line = {"key": key, "label": _label(key), **pooled}
        series.append(line | {"low": None, "high": None})
    return series if xs else []


def _pooled(xs: Sequence[float], ys: Sequence[float | None]) -> dict[str, list[Any]]:
    """Averages a long series over POINTS bins of equal numbers of rows; low and high are their extremes."""
    edges = [i * len(xs) // POINTS for i in range(POINTS + 1)]
    pooled: dict[str, list[Any]] = {"x": [], "y": [], "low": [], "high": []}
    for a, b in pairwise(edges):
        finite = [y for y in ys[a:b] if y is not None]
        pooled["x"].append(sum(xs[a:b]) / (b - a))
        pooled["y"].append(sum(finite) / len(finite) if finite else None)
        pooled["low"].append(min(finite, default=None))
        pooled["high"].append(max(finite, default=None))
    return pooled


def _lines(chart: Chart, limits: Limits, info: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yields the horizontal lines of a chart: the threshold of the run in the score chart, the
    maximum in the entropy chart, each if it is known."""
    if chart.name == "score" and info.get("threshold") is not None:
        goal = info["threshold"]
        yield {"y": goal, "label": f"threshold {number(goal)}"}
    bound = METRICS[chart.keys[0]].bounds_for(limits)[1] if chart.name == "entropy" else math.inf
    if math.isfinite(bound):
        yield {"y": bound, "label": "maximum"}


def _ticks(chart: Chart, rows: Sequence[Row], x: str) -> dict[str, Any] | None:
    """Returns the label and the x values of the rows to be marked with a tick; None if there are
    none."""
    at = [row[f"clock/{x}"] for row in rows if chart.tick_metric and row.get(chart.tick_metric)]
    return {"label": chart.tick_label, "x": at} if at else None


def _mark_alerts(
    charts: list[dict[str, Any]], alerts: Sequence[Mapping[str, Any]], axis: ClockAxis
) -> None:
    """Adds each alert to the chart that draws its metric, or else to the first chart of its family."""
    for alert in alerts:
        key = alert["id"].rpartition(":")[0]
        family = [chart for chart in charts if chart["family"] == chart_family(key)]
        with_metric = [c for c in family if any(line["key"] == key for line in c["series"])]
        for chart in (with_metric or family)[:1]:
            fields = {name: alert[name] for name in ("id", "level", "message", "count")}
            span = {"x": axis(alert["first"]), "until": axis(alert["last"])}
            chart["alerts"].append(fields | span)


def _max_entropy(rows: Sequence[Row], keys: Sequence[str]) -> float | None:
    """Returns the maximum entropy of the policy, derived from the rows; None if they do not determine it."""
    for row in rows:
        if row.get("policy/entropy_share", 0.0) > 0:  # share = entropy / maximum
            return row["policy/entropy"] / row["policy/entropy_share"]
    n_actions = len(_matching(("rollout/action_share.*",), keys))
    return math.log(n_actions) if n_actions > 1 else None


def _ends(span: tuple[float, float]) -> list[float | None] | None:
    ends = [end if math.isfinite(end) else None for end in span]
    return None if ends == [None, None] else ends


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


def _event_text(event: Mapping[str, Any]) -> str:
    changes = "; ".join(map(change, event.get("changes", ())))
    return f"{event['kind']}: {changes}" if changes else str(event["kind"])
