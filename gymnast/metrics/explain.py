"""What a metric means, in words and as plain values: for `gymnast metrics` and docs/metrics.md."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from gymnast.errors import UsageError
from gymnast.metrics.families import components, matches, shaping
from gymnast.metrics.metric import ANY, Bounds, Metric
from gymnast.metrics.specs import (
    METRICS,
    SECTIONS,
    hyperparameters,
    in_order,
    own_metrics,
    pattern_of,
    split,
)
from gymnast.text.closest import closest


def catalogue() -> Mapping[str, Metric]:
    """The table and what algorithms, shaping terms and parts of spaces add to it, in table order."""
    from gymnast.config.sections import ALGORITHMS

    sections = [section for section, _ in ALGORITHMS.values()]
    added = {m.name: m for algo in sections for m in (*hyperparameters(algo), *own_metrics(algo))}
    of_tasks = [*shaping.shipped(), *components.patterns(), *matches.patterns()]
    known = {**METRICS, **added, **{metric.name: metric for metric in of_tasks}}
    return {name: known[name] for name in in_order(known, known)}


def find(name: str) -> Metric:
    """By name; a scope before it (`eval:`) is understood, a misspelling answered."""
    metric_name = pattern_of(split(name)[1])
    metric = METRICS.get(metric_name) or catalogue().get(metric_name)
    if metric is None:
        problem = f"there is no metric {name!r}{closest(metric_name, catalogue())}"
        raise UsageError(problem, fix="`gymnast metrics` lists them all")
    return metric


def described(metric: Metric) -> dict[str, Any]:
    """One metric as plain values."""
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
    """The bounds, or why there are none."""
    if metric.bounds is None:
        return f"none: {metric.no_bounds_reason}"
    open_when = f" ({metric.no_bounds_reason})" if metric.no_bounds_reason else ""
    return range_text(metric, metric.bounds) + open_when


def range_text(metric: Metric, span: Bounds) -> str:
    """In words; a range that depends on the task is worded by its function."""
    if callable(span):
        return (span.__doc__ or "depends on the task").strip()
    return metric.format_range(span)


def how_it_is_judged(metric: Metric) -> dict[str, str]:
    """What a number is made of and held against; empty where there is nothing to say."""
    return {
        "estimator": metric.estimator,
        "window": metric.window,
        "bounds": bounds_text(metric),
        "healthy": "" if metric.healthy == ANY else range_text(metric, metric.healthy),
        "if low": metric.if_low,
        "if high": metric.if_high,
    }


def page(metric: Metric) -> str:
    """One metric, explained for a person."""
    spread = {
        "unit": {"share": "share of 1, shown in per cent", "": "none"}.get(
            metric.unit, metric.unit
        ),
        "better": metric.better or "neither direction",
        **how_it_is_judged(metric),
        "repeats": "bit for bit" if metric.exact else "no: it depends on wall time",
    }
    lines = [metric.name, f"  {metric.description}", ""]
    lines += [f"  {title:<10} {text}" for title, text in spread.items() if text]
    return "\n".join(lines)


def listing() -> str:
    """Every metric by section, one line each; `*` marks those of the live table."""
    metrics = catalogue()
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
    """[low, high] with null for an open end; null where it depends on the task or there is none."""
    if span is None or callable(span):
        return None
    return [end if math.isfinite(end) else None for end in span]
