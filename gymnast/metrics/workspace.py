"""The W&B workspace of a run as data: sections and panels in the order of every other view.

Field names follow the `wandb-workspaces` library: `panels` of a section; `x`, `y` and `range_y` of a
LinePlot.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from itertools import groupby

from gymnast.config.plain_value import PlainValue
from gymnast.metrics.metric import Limits, Metric, Range
from gymnast.metrics.specs import SECTIONS, metric_for_key, section, sort_keys

VERSION = 1
BOUNDED = "policy/entropy"
"""The metric whose upper bound, the maximum entropy, is drawn as a line on its chart."""


def upper_bound_series(key: str, metrics: Mapping[str, Metric]) -> tuple[str, float] | None:
    """Returns the name and the value of the series that draws the upper bound of `key` on its chart; None if
    the key has no such series (only BOUNDED has) or no finite bound."""
    if key.rpartition(":")[2] != BOUNDED:
        return None
    high = _bounds(key, metrics)[1]
    return (f"bounds/{key}", high) if math.isfinite(high) else None


def workspace(
    keys: Iterable[str], metrics: Mapping[str, Metric], *, x: str, media: Mapping[str, str]
) -> dict[str, PlainValue]:
    """Returns the workspace as plain JSON. `keys`: those of all rows so far; `x`: the key of the x axis;
    `media`: key of a video, table or histogram -> type of its panel."""
    sections = [
        {
            "name": name,
            "title": SECTIONS.get(name.partition("/")[0], ""),
            "panels": [_panel(key, metrics, x) for key in section_keys],
        }
        for name, section_keys in groupby(sort_keys(keys, metrics), section)
    ]
    panels = [{"type": kind, "title": key, "media_keys": [key]} for key, kind in media.items()]
    sections.append({"name": "media", "title": "Videos, histograms, tables", "panels": panels})
    return {"version": VERSION, "sections": sections}


def _panel(key: str, metrics: Mapping[str, Metric], x: str) -> dict[str, PlainValue]:
    """Returns the line chart of one key over `x`, with its bounds as the range of the y axis (None for an
    open end)."""
    metric, bound = metric_for_key(key, metrics), upper_bound_series(key, metrics)
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
    # `metrics` are resolved for the run, so no limits are needed
    return metric_for_key(key, metrics).bounds_for(Limits())
