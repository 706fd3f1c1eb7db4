"""Comparison of runs: scores, the area under the evaluation curve, and differences of the configs.

Every run keeps its own x values; areas are computed over the range that all curves cover.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gymnast.errors import GymnastError, UsageError
from gymnast.runs.curve import Row, area, curve_of, learning_so_far, lower_bounds, read_rows
from gymnast.runs.run import Run, derived_status
from gymnast.text.chart import line_chart

AXES = ("vec_steps", "env_steps", "updates", "seconds")
"""Clocks that can be the x axis, the default first."""


def compare(runs: Sequence[Run], x: str = AXES[0]) -> dict[str, Any]:
    """Returns the summaries, curves and config differences of runs, over the clock `x`, as plain
    values. Raises UsageError unless `x` is one of AXES."""
    if x not in AXES:
        raise UsageError(
            f"{x!r} cannot be the x axis of a comparison", fix=f"use {', '.join(AXES)}"
        )
    records = [read_rows(run) for run in runs]
    span = shared_range([curve_of(rows, x)[0] for rows in records])
    differences, problem = config_differences(runs)
    return {
        "x": x,
        "range": span,
        "runs": [_summary(run, rows, x, span) for run, rows in zip(runs, records, strict=True)],
        "config": differences,
        "config_problem": problem,
    }


def comparison_chart(comparison: dict[str, Any], *, width: int = 72, height: int = 16) -> str:
    """Draws the evaluation curves of a comparison in one chart, as text; `width` and `height` are
    in characters. Groups of seeds have one mean curve each."""
    groups = {group["name"]: group["curve"] for group in comparison.get("groups", ())}
    curves = groups or {run_label(run): run["curve"] for run in comparison["runs"]}
    series = {name: (curve["x"], curve["y"]) for name, curve in curves.items()}
    return line_chart(series, width=width, height=height, x_label=comparison["x"])


def run_label(run: dict[str, Any]) -> str:
    return f"{run['id']} {run['name'] or run['preset']}"


def shared_range(axes: Sequence[Sequence[float]]) -> tuple[float, float] | None:
    """Returns the x range that all curves cover; None if there is none."""
    if not axes or any(len(xs) < 2 for xs in axes):
        return None
    # A longer run must not win by its later, better evaluations alone.
    low, high = max(xs[0] for xs in axes), min(xs[-1] for xs in axes)
    return (low, high) if low < high else None


def config_differences(runs: Sequence[Run]) -> tuple[list[dict[str, Any]], str | None]:
    """Returns the settings that differ between runs, with the value in each run, including live changes; or
    else the reason why the configs cannot be read."""
    from gymnast.config.resolve import diff
    from gymnast.insight.settings import settings_in_use

    try:
        configs = [settings_in_use(run)[0] for run in runs]
    except GymnastError as error:
        return [], str(error)
    # Compared with the first run; a key that differs in any of the others gets a column of all values.
    first, *others = configs
    columns: dict[str, list[Any]] = {}
    for index, other in enumerate(others, start=1):
        for key, mine, theirs in diff(first, other):
            columns.setdefault(key, [_plain(mine)] * len(runs))[index] = _plain(theirs)
    return [{"key": key, "values": values} for key, values in columns.items()], None


def _summary(
    run: Run, rows: Sequence[Row], x: str, span: tuple[float, float] | None
) -> dict[str, Any]:
    """Returns the summary of one run: fields of run.json, its curve over the clock `x`, the `area`
    under it within `span` (None without one), and `threshold_at`, the x at which the lower bound of
    an evaluation first reached the threshold, or None."""
    info = run.info
    xs, ys = curve = curve_of(rows, x)
    goal = info["threshold"]
    lows = lower_bounds(rows)
    # The lower bound, not the mean: the same criterion as for a solved run.
    reached = (x for x, low in zip(xs, lows, strict=True) if goal is not None and low >= goal)
    clocks = {name: info["clocks"].get(name) for name in AXES}
    shown = ("id", "name", "preset", "seed", "solved", "score", "threshold")
    return {
        **{key: info[key] for key in shown},
        "status": derived_status(run.path, info),
        **clocks,
        "area": area(curve, *span) if span else None,
        "learning": learning_so_far(run, rows),
        "threshold_at": next(reached, None),
        "curve": {"x": xs, "y": ys},
    }


def _plain(value: Any) -> Any:
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)
