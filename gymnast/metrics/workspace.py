"""A workspace for charts of a run, as data: sections and panels in the order of every other view.

The names are those of the `wandb-workspaces` library: a section's `panels`, a LinePlot's `x`, `y` and
`range_y`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from itertools import groupby
from typing import Any

from gymnast.metrics.metric import Limits, Metric, Range
from gymnast.metrics.specs import SECTIONS, in_order, section, spec

VERSION = 1
BOUNDED = "policy/entropy"
"""The metric whose bound is a line on its chart: how undecided a policy can be."""


def bound_of(key: str, metrics: Mapping[str, Metric]) -> tuple[str, float] | None:
    """The series that draws a key's upper bound, and its value; None where there is none."""
    if key.rpartition(":")[2] != BOUNDED:
        return None
    high = _bounds(key, metrics)[1]
    return (f"bounds/{key}", high) if math.isfinite(high) else None


def workspace(
    keys: Iterable[str], metrics: Mapping[str, Metric], *, x: str, media: Mapping[str, str]
) -> dict[str, Any]:
    """`keys`: of all rows so far; `media`: type of panel by key."""
    sections = [
        {
            "name": name,
            "title": SECTIONS.get(name.partition("/")[0], ""),
            "panels": [_panel(key, metrics, x) for key in found],
        }
        for name, found in groupby(in_order(keys, metrics), section)
    ]
    shown = [{"type": kind, "title": key, "media_keys": [key]} for key, kind in media.items()]
    sections.append({"name": "media", "title": "Films, histograms, tables", "panels": shown})
    return {"version": VERSION, "sections": sections}


def _panel(key: str, metrics: Mapping[str, Metric], x: str) -> dict[str, Any]:
    metric, bound = spec(key, metrics), bound_of(key, metrics)
    return {
        "type": "LinePlot",
        "title": f"{key} ({metric.unit})" if metric.unit else key,
        "x": x,
        "y": [key, bound[0]] if bound else [key],
        "range_y": [end if math.isfinite(end) else None for end in _bounds(key, metrics)],
        "better": metric.better,
        "priority": metric.priority,
        "description": metric.description,
    }


def _bounds(key: str, metrics: Mapping[str, Metric]) -> Range:
    return spec(key, metrics).bounds_for(Limits())
