"""One metric per action, per amount of a Box action and per number of an observation of a run's task.
Their keys end with the place of it, from 0: `rollout/action_share.2`."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from gymnast.metrics.metric import INF, Limits, Metric, Part

MOST = 32
"""Spaces of more than this many have none."""
STD = "standard deviation, in the value's own unit"
_OPEN = "open where spaces and facts do not give the range"
_PLACE = re.compile(r"\.(\d+)$")


def of_task(limits: Limits) -> list[Metric]:
    """Of the spaces of one task, with their labels and ranges."""
    return [
        *(_share(k, label) for k, label in enumerate(_few(limits.options))),
        *(of(k, part) for k, part in enumerate(_few(limits.amounts)) for of in (_mean, _std)),
        *(_obs(k, part) for k, part in enumerate(_few(limits.components))),
    ]


def patterns() -> list[Metric]:
    """Of any task, with K for the place: for docs and `gymnast metrics`."""
    any_part = Part("", -INF, INF)
    of_parts = (of("K", any_part) for of in (_mean, _std, _obs))
    reason = "in a run, they are those of the part: by its space and its facts"
    return [_share("K", ""), *(replace(m, bounds=None, no_bounds_reason=reason) for m in of_parts)]


def pattern_of(name: str) -> str:
    """`rollout/obs_mean.3` -> `rollout/obs_mean.K`."""
    return place_of(name)[0]


def place_of(name: str) -> tuple[str, int]:
    """`rollout/obs_mean.3` -> `rollout/obs_mean.K`, 3; any other name as it is, and 0."""
    found = _PLACE.search(name)
    return (f"{name[: found.start()]}.K", int(found[1])) if found else (name, 0)


def _few(parts: tuple[Any, ...]) -> tuple[Any, ...]:
    return parts if len(parts) <= MOST else ()


def _share(k: object, label: str) -> Metric:
    return Metric(
        f"rollout/action_share.{k}",
        f"Share of the steps at which action {_which(k, label)} was taken; Discrete actions only.",
        unit="share",
        digits=1,
        priority=8,
        bounds=(0, 1),
    )


def _mean(k: object, part: Part) -> Metric:
    return Metric(
        f"rollout/action_mean.{k}",
        f"Mean of amount {_which(k, part.name)} of the actions that the environment got; Box only.",
        priority=8,
        bounds=(part.low, part.high),
        no_bounds_reason=_OPEN,
    )


def _std(k: object, part: Part) -> Metric:
    return Metric(
        f"rollout/action_std.{k}",
        f"Spread of amount {_which(k, part.name)} of the actions that the environment got; Box only.",
        priority=9,
        estimator=STD,
        bounds=(0, (part.high - part.low) / 2),
    )


def _obs(k: object, part: Part) -> Metric:
    return Metric(
        f"rollout/obs_mean.{k}",
        f"Mean of number {_which(k, part.name)} of the observation, as the environment gave it.",
        priority=9,
        bounds=(part.low, part.high),
        no_bounds_reason=_OPEN,
    )


def _which(k: object, label: str) -> str:
    return f"{k} ({label})" if label else f"{k}"
