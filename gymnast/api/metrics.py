"""Metrics: what they mean, and when they are healthy."""

from __future__ import annotations

from gymnast.metrics.explain import MetricInfo, catalog, describe, find


def metrics(name: str = "") -> list[MetricInfo]:
    """Describes every metric, or the one named, with or without a scope (`eval:`). Raises UsageError with the
    closest names if there is none."""
    every = [find(name)] if name else catalog().values()
    return [describe(metric) for metric in every]
