"""Explanations of metrics, as text and as plain values, for `gymnast metrics` and docs/metrics.md."""

from __future__ import annotations

import math
from collections.abc import Mapping

from gymnast.config.plain_value import PlainValue
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


def metric_to_dict(metric: Metric) -> dict[str, PlainValue]:
    """Returns one metric as plain values, for JSON."""
    return {
        "name": metric.name,
        "section": metric.section,
        "meaning": metric.description,
        "unit": metric.unit,
        "better": metric.better,
        "estimator": metric.estimator,
        "window": metric.window,
        "exact": metric.exact,
        "digits": metric.digits,
        "priority": metric.priority,
        "in_table": metric.in_table,
        "bounds": _range(metric.bounds),
        "bounds_text": bounds_text(metric),
        "healthy": _range(metric.healthy),
        "healthy_text": range_text(metric, metric.healthy),
        "if_low": metric.if_low,
        "if_high": metric.if_high,
    }


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


def computation_and_checks(metric: Metric) -> dict[str, str]:
    """Returns how a metric is computed and checked, title -> text; the text is empty where not applicable."""
    return {
        "estimator": metric.estimator,
        "window": metric.window,
        "bounds": bounds_text(metric),
        "healthy": "" if metric.healthy == ANY else range_text(metric, metric.healthy),
        "if low": metric.if_low,
        "if high": metric.if_high,
    }


def page(metric: Metric) -> str:
    """Returns the explanation of one metric, as `gymnast metrics NAME` prints it."""
    facts = {
        "unit": {"share": "share of 1, displayed in percent", "": "none"}.get(
            metric.unit, metric.unit
        ),
        "better": metric.better or "neither direction",
        **computation_and_checks(metric),
        "repeats": "bit for bit" if metric.exact else "no: it depends on wall time",
    }
    lines = [metric.name, f"  {metric.description}", ""]
    lines += [f"  {title:<10} {text}" for title, text in facts.items() if text]
    return "\n".join(lines)


def listing() -> str:
    """Returns all metrics by section, one per line; `*` marks the metrics of the live table."""
    metrics = catalog()
    width = max(map(len, metrics)) + 2
    lines: list[str] = []
    section = ""
    for name, metric in metrics.items():
        if metric.section != section:
            section = metric.section
            lines += ["", f"{section}: {SECTIONS[section]}"]
        lines.append(f"{'*' if metric.in_table else ' '} {name:<{width}}{metric.description}")
    return "\n".join(lines[1:])


def _range(span: Bounds | None) -> list[float | None] | None:
    """Returns [low, high], None for an open end; None if the range depends on the task or there is none."""
    if span is None or callable(span):
        return None
    return [end if math.isfinite(end) else None for end in span]
