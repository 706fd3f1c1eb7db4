"""Explanations of metrics, as records and as text, for `gymnast metrics` and docs/metrics.md."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gymnast.errors import UsageError
from gymnast.metrics.families import components, matches, shaping
from gymnast.metrics.metric import ANY, Bounds, Metric
from gymnast.metrics.specs import (
    METRICS,
    SECTIONS,
    algo_metrics,
    generic_name,
    hyperparameter_metrics,
    sort_keys,
    split_key,
)
from gymnast.text.suggestions import did_you_mean


@dataclass(frozen=True)
class MetricInfo:
    """The description of a metric."""

    name: str
    section: str
    meaning: str
    unit: str
    """`share` for shares of 1; empty if it has none."""
    better: str
    """`higher`, `lower`, or empty."""
    estimator: str
    """How it is computed."""
    window: str
    """The rows or episodes that it is computed over."""
    exact: bool
    """Whether a repetition of the run gives the same value, bit for bit."""
    digits: int
    """Number of digits that are displayed."""
    priority: int
    """Its place in the live table; lower numbers are shown first."""
    in_table: bool
    bounds: tuple[float | None, float | None] | None
    """Possible values, None for an open end; None if they depend on the task or there are none."""
    bounds_text: str
    healthy: tuple[float | None, float | None] | None
    """Healthy values."""
    healthy_text: str
    """Empty if every value is healthy."""
    if_low: str
    """Advice if it is too low."""
    if_high: str


def catalog() -> Mapping[str, Metric]:
    """Returns all metrics in table order, including those of algorithms, shaping terms and spaces."""
    # imported here: it loads pydantic, which `gymnast metrics NAME` mostly does without
    from gymnast.config.sections import ALGORITHMS

    sections = [section for section, _ in ALGORITHMS.values()]
    added = {
        m.name: m for algo in sections for m in (*hyperparameter_metrics(algo), *algo_metrics(algo))
    }
    generic = [
        *shaping.builtin_term_metrics(),
        *components.generic_metrics(),
        *matches.generic_metrics(),
    ]
    known = {**METRICS, **added, **{metric.name: metric for metric in generic}}
    return {name: known[name] for name in sort_keys(known, known)}


def find(name: str) -> Metric:
    """Returns a metric by its name, with or without a scope (`eval:`).

    Raises UsageError with the closest names if there is none.
    """
    metric_name = generic_name(split_key(name)[1])
    metric = METRICS.get(metric_name) or catalog().get(metric_name)
    if metric is None:
        problem = f"there is no metric {name!r}{did_you_mean(metric_name, catalog())}"
        raise UsageError(problem, fix="`gymnast metrics` lists them all")
    return metric


def describe(metric: Metric) -> MetricInfo:
    return MetricInfo(
        name=metric.name,
        section=metric.section,
        meaning=metric.description,
        unit=metric.unit,
        better=metric.better,
        estimator=metric.estimator,
        window=metric.window,
        exact=metric.exact,
        digits=metric.digits,
        priority=metric.priority,
        in_table=metric.in_table,
        bounds=_range(metric.bounds),
        bounds_text=bounds_text(metric),
        healthy=_range(metric.healthy),
        healthy_text="" if metric.healthy == ANY else range_text(metric, metric.healthy),
        if_low=metric.if_low,
        if_high=metric.if_high,
    )


def bounds_text(metric: Metric) -> str:
    """Returns the bounds of a metric as text, followed by `no_bounds_reason` if it has one; without bounds,
    only that reason."""
    if metric.bounds is None:
        return f"none: {metric.no_bounds_reason}"
    exception = f" ({metric.no_bounds_reason})" if metric.no_bounds_reason else ""
    return range_text(metric, metric.bounds) + exception


def range_text(metric: Metric, span: Bounds) -> str:
    """Returns `span`, a range of the metric's values, as text with its unit; for a task-dependent range, the
    docstring of its function."""
    if callable(span):
        return (span.__doc__ or "depends on the task").strip()
    return metric.format_range(span)


def computation_and_checks(metric: MetricInfo) -> dict[str, str]:
    """Returns how a metric is computed and checked, title -> text; the text is empty where not applicable."""
    return {
        "estimator": metric.estimator,
        "window": metric.window,
        "bounds": metric.bounds_text,
        "healthy": metric.healthy_text,
        "if low": metric.if_low,
        "if high": metric.if_high,
    }


def page(metric: MetricInfo) -> str:
    """Returns the explanation of one metric, as `gymnast metrics NAME` prints it."""
    facts = {
        "unit": {"share": "share of 1, displayed in percent", "": "none"}.get(
            metric.unit, metric.unit
        ),
        "better": metric.better or "neither direction",
        **computation_and_checks(metric),
        "repeats": "bit for bit" if metric.exact else "no: it depends on wall time",
    }
    lines = [metric.name, f"  {metric.meaning}", ""]
    lines += [f"  {title:<10} {text}" for title, text in facts.items() if text]
    return "\n".join(lines)


def listing(metrics: Sequence[MetricInfo]) -> str:
    """Returns metrics by section, one per line; `*` marks the metrics of the live table."""
    width = max(len(metric.name) for metric in metrics) + 2
    lines: list[str] = []
    section = ""
    for metric in metrics:
        if metric.section != section:
            section = metric.section
            lines += ["", f"{section}: {SECTIONS[section]}"]
        lines.append(f"{'*' if metric.in_table else ' '} {metric.name:<{width}}{metric.meaning}")
    return "\n".join(lines[1:])


def _range(span: Bounds | None) -> tuple[float | None, float | None] | None:
    """Returns the ends of a range, None for an open end; None if it depends on the task or there is none."""
    if span is None or callable(span):
        return None
    low, high = (end if math.isfinite(end) else None for end in span)
    return low, high
