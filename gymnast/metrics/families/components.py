"""Metrics per discrete action, per dimension of a Box action and per component of a vector observation.

Their keys end with an index that starts at 0: `rollout/action_share.2`.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TypeVar

from gymnast.metrics.metric import INF, Dimension, Limits, Metric

MAX_COMPONENTS = 32
"""Spaces with more dimensions than this get no per-dimension metrics."""
STD = "standard deviation, in the unit of the value"
_OPEN = "unbounded where neither the spaces nor the facts give a range"
_INDEX = re.compile(r"\.(\d+)$")
T = TypeVar("T")


def task_metrics(limits: Limits) -> list[Metric]:
    """Returns the per-dimension metrics for the spaces of one task, with their labels and bounds. A space
    with more than MAX_COMPONENTS dimensions has none."""
    return [
        *(_share(k, label) for k, label in enumerate(_few(limits.action_labels))),
        *(metric(k, p) for k, p in enumerate(_few(limits.action_dims)) for metric in (_mean, _std)),
        *(_obs(k, part) for k, part in enumerate(_few(limits.obs_dims))),
    ]


def generic_metrics() -> list[Metric]:
    """Returns the metrics with K in place of the index, for the docs and `gymnast metrics`."""
    any_part = Dimension("", -INF, INF)
    generic = (metric("K", any_part) for metric in (_mean, _std, _obs))
    reason = "in a run they follow from the space and the facts of that dimension"
    return [_share("K", ""), *(replace(m, bounds=None, no_bounds_reason=reason) for m in generic)]


def generic_name(name: str) -> str:
    """Returns the name with K for its index: `rollout/obs_mean.3` -> `rollout/obs_mean.K`."""
    return split_index(name)[0]


def split_index(name: str) -> tuple[str, int]:
    """Splits off the index: `rollout/obs_mean.3` -> (`rollout/obs_mean.K`, 3).

    A name without an index is returned unchanged, with index 0.
    """
    index = _INDEX.search(name)
    return (f"{name[: index.start()]}.K", int(index[1])) if index else (name, 0)


def _few(parts: tuple[T, ...]) -> tuple[T, ...]:
    """Returns the parts if there are at most MAX_COMPONENTS, so that each gets a metric, else an empty
    tuple."""
    return parts if len(parts) <= MAX_COMPONENTS else ()


def _share(k: object, label: str) -> Metric:
    """Declares the metric for the share of one discrete action. `k`: its index, or "K" in the generic
    declaration for the docs; `label`: its name, or empty."""
    return Metric(
        f"rollout/action_share.{k}",
        f"Share of steps in which action {_which(k, label)} was taken. Discrete actions only.",
        unit="share",
        digits=1,
        priority=8,
        bounds=(0, 1),
    )


def _mean(k: object, part: Dimension) -> Metric:
    """Declares the metric for the mean of one dimension of a Box action. `k`: its index, or "K" in the
    generic declaration for the docs; `part`: its name and range, infinite if unknown."""
    return Metric(
        f"rollout/action_mean.{k}",
        f"Mean of action dimension {_which(k, part.name)}, as passed to the environment; options "
        "are counted from 0. Box actions, and Dict and Tuple actions with one.",
        priority=8,
        bounds=(part.low, part.high),
        no_bounds_reason=_OPEN,  # the bounds are infinite then
    )


def _std(k: object, part: Dimension) -> Metric:
    """Declares the metric for the standard deviation of one dimension of a Box action. `k`: its index, or "K"
    in the generic declaration for the docs; `part`: its name and range, infinite if unknown."""
    return Metric(
        f"rollout/action_std.{k}",
        f"Standard deviation of action dimension {_which(k, part.name)}, as passed to the environment; "
        "options are counted from 0. Box actions, and Dict and Tuple actions with one.",
        priority=9,
        estimator=STD,
        bounds=(0, (part.high - part.low) / 2),  # Popoviciu's inequality
    )


def _obs(k: object, part: Dimension) -> Metric:
    """Declares the metric for the mean of one component of a vector observation. `k`: its index, or "K" in
    the generic declaration for the docs; `part`: its name and range, infinite if unknown."""
    return Metric(
        f"rollout/obs_mean.{k}",
        f"Mean of observation component {_which(k, part.name)}, as the environment returned it.",
        priority=9,
        bounds=(part.low, part.high),
        no_bounds_reason=_OPEN,  # the bounds are infinite then
    )


def _which(k: object, label: str) -> str:
    return f"{k} ({label})" if label else f"{k}"
