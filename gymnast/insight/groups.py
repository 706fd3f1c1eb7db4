"""Comparison of groups of seeds: means with confidence intervals, mean curves, differences of the configs.

A single run may be on either side; it counts as a group of one and has no interval over seeds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from gymnast.insight.compare import compare, config_differences, shared_range
from gymnast.jobs.groups import (
    bootstrap_interval,
    difference_interval,
    group_result,
    group_runs,
    scored_runs,
)
from gymnast.runs import store
from gymnast.runs.curve import interpolate
from gymnast.runs.run import Run

VARIES = "(varies)"
"""Displayed as the value of a setting that differs between the seeds of a group."""


@dataclass(frozen=True)
class ComparisonSide:
    name: str
    """The name of the group as the user gave it, or the id of the run."""
    runs: tuple[Run, ...]
    is_group: bool


def resolve_side(ref: str, directory: Path) -> ComparisonSide:
    """Returns the group of seeds that `ref` names, or else the run."""
    group = group_runs(directory, ref)
    if group:
        return ComparisonSide(ref, tuple(Run(Path(run["path"])) for run in group), is_group=True)
    run, _ = store.resolve(ref, directory)
    return ComparisonSide(run.id, (run,), is_group=False)


def compare_groups(sides: Sequence[ComparisonSide], x: str) -> dict[str, Any]:
    """Returns the result of `compare` for all runs, a summary over the seeds of each side
    (`groups`), and for two sides the `difference` of their mean scores."""
    comparison = compare([run for side in sides for run in side.runs], x)
    summaries = iter(comparison["runs"])  # flat, in the order of the sides; split again below
    parts = [[next(summaries) for _ in side.runs] for side in sides]
    config, problem = _config_differences(sides)
    groups = [_summary(side, runs) for side, runs in zip(sides, parts, strict=True)]
    return {
        **comparison,
        "groups": groups,
        "difference": _difference(parts) if len(sides) == 2 else None,
        "config": config,
        "config_problem": problem,
    }


def _summary(side: ComparisonSide, runs: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Returns the summary of one side: `group_result`, means over seeds of the area and of the env
    steps until the threshold (over the `reached` seeds that reached it), and the mean curve.
    `runs`: the summaries of its runs."""
    reached = [(run["learning"] or {}).get("steps_to_threshold") for run in runs]
    known = [steps for steps in reached if steps is not None]
    return {
        "name": side.name,
        "preset": " or ".join(dict.fromkeys(run["preset"] for run in runs)),
        **asdict(group_result(runs)),
        "area": _over_seeds([run["area"] for run in runs if run["area"] is not None]),
        "reached": len(known),
        "steps_to_threshold": _over_seeds(known),
        "curve": _mean_curve([run["curve"] for run in runs]),
    }


def _over_seeds(values: Sequence[float]) -> dict[str, float | None] | None:
    if not values:
        return None
    low, high = bootstrap_interval(values) or (None, None)  # none for a single seed
    return {"mean": fmean(values), "low": low, "high": high}


def _difference(parts: Sequence[Sequence[Mapping[str, Any]]]) -> dict[str, float | None] | None:
    """Returns the mean score of the first side minus that of the second, with its interval (None
    for a single seed); None if a side has no score. `parts`: the run summaries of both sides."""
    first, second = ([run["score"]["mean"] for run in scored_runs(runs)] for runs in parts)
    if not first or not second:
        return None
    low, high = difference_interval(first, second) or (None, None)
    return {"mean": fmean(first) - fmean(second), "low": low, "high": high}


def _mean_curve(curves: Sequence[Mapping[str, list[float]]]) -> dict[str, list[float]]:
    """Returns the mean curve over the range that all seeds cover, at every x where any seed was evaluated."""
    span = shared_range([curve["x"] for curve in curves])
    if len(curves) == 1 or span is None:
        return dict(curves[0]) if len(curves) == 1 else {"x": [], "y": []}
    # Seeds may be evaluated at different steps, so every curve is interpolated to the steps of all.
    xs = sorted({x for curve in curves for x in curve["x"] if span[0] <= x <= span[1]})
    ys = [fmean(interpolate(x, curve["x"], curve["y"]) for curve in curves) for x in xs]
    return {"x": xs, "y": ys}


def _config_differences(sides: Sequence[ComparisonSide]) -> tuple[list[dict[str, Any]], str | None]:
    """Returns the settings that differ between the sides or within a side, except for the seed."""
    runs = [run for side in sides for run in side.runs]
    by_run, problem = config_differences(runs)
    by_side: list[dict[str, Any]] = []
    for entry in by_run:
        values = iter(entry["values"])
        parts = [[next(values) for _ in side.runs] for side in sides]
        shared = [part[0] if all(v == part[0] for v in part) else VARIES for part in parts]
        if entry["key"] != "seed":
            by_side.append({"key": entry["key"], "values": shared})
    return by_side, problem
