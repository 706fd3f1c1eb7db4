"""A run's evaluation curve, and how well it trained as one number: the area under it.

For the number, the curve begins at the training return of the first rollout, unless the untrained
version was evaluated. The area is a share between that first return (0) and the threshold (1), above
which nothing is gained, over the whole budget: what a run that reached its goal early did not use counts
as its last evaluation, so who gets there sooner has the larger area. Of a run that was stopped, or is
not over, it is over the steps that were taken, as the mean return always is.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from gymnast.metrics.store import MetricStore
from gymnast.runs.run import Run

CURVE = "eval:episode/return"
LOW = "eval:episode/low"
SCORED = "eval:clock/env_steps"
"""The version an evaluation scored: its result arrives rows later and belongs there."""

Row = dict[str, float]
Curve = tuple[list[float], list[float]]


def evaluation_curve(run: Run, x: str) -> Curve:
    """Mean raw return of every evaluation, at the x of the version it scored."""
    return curve_of(rows_of(run), x)


def curve_of(rows: Sequence[Row], x: str, key: str = CURVE) -> Curve:
    """Of this key of the evaluations."""
    found = {row[SCORED]: row[key] for row in rows if key in row and SCORED in row}
    scored, at = sorted(found), Axis(rows, x)
    return [at(steps) for steps in scored], [found[steps] for steps in scored]


def lows_of(rows: Sequence[Row]) -> list[float]:
    """The lower bound of every evaluation, in the order of the curve; one episode has none, and counts
    as it is."""
    bounds = [row | {LOW: row.get(LOW, row[CURVE])} for row in rows if CURVE in row]
    return curve_of(bounds, "env_steps", LOW)[1]


class Axis:
    """Env steps -> another clock, as the rows say."""

    def __init__(self, rows: Sequence[Row], x: str) -> None:
        # all clocks start together
        self._steps = [0.0, *(row["clock/env_steps"] for row in rows)]
        self._values = [0.0, *(row[f"clock/{x}"] for row in rows)]

    def __call__(self, env_steps: float) -> float:
        return interpolate(env_steps, self._steps, self._values)


def learning(run: Run, threshold: float | None, budget: float | None) -> dict[str, Any] | None:
    """How well it trained; None where nothing was evaluated."""
    return learning_of(rows_of(run), threshold, budget)


def learning_of(
    rows: Sequence[Row], threshold: float | None, budget: float | None
) -> dict[str, Any] | None:
    """`area`, `unused` (its share of the budget that was not trained), `mean_return`, and env steps and
    seconds until the lower bound of an evaluation reached the threshold. Without a `budget` in env
    steps the area is over those taken."""
    steps, returns = curve_of(rows, "env_steps")
    if not steps:
        return None
    start = next((row["episode/return"] for row in rows if "episode/return" in row), returns[0])
    taken = max(rows[-1]["clock/env_steps"], steps[-1])
    end = max(budget or taken, taken)
    first = [] if steps[0] <= 0 else [0.0]
    heights = [*(start for _ in first), *returns, returns[-1]]
    share = reached = None
    if threshold is not None:
        limited = [min(height, threshold) for height in heights]
        mean = area(([*first, *steps, end], limited), 0.0, end)
        share = (mean - start) / (threshold - start) if threshold > start else None
        reached = next((i for i, low in enumerate(lows_of(rows)) if low >= threshold), None)
    seconds = curve_of(rows, "seconds")[0]
    return {
        "area": share,
        "unused": 1 - taken / end,
        "mean_return": area(([*first, *steps, taken], heights), 0.0, taken),
        "steps_to_threshold": None if reached is None else int(steps[reached]),
        "seconds_to_threshold": None if reached is None else seconds[reached],
    }


def learning_summary(info: Mapping[str, Any]) -> dict[str, Any] | None:
    """What run.json says of it; None while the run goes on, and of runs that ended before it did."""
    return info.get("learning") if info["status"] in ("finished", "stopped") else None


def learning_so_far(run: Run, rows: Sequence[Row]) -> dict[str, Any] | None:
    """The same, or else by what is recorded."""
    info = run.info
    budget = _budget(run) if info["status"] == "finished" else None
    return learning_summary(info) or learning_of(rows, info["threshold"], budget)


def area(curve: Curve, low: float, high: float) -> float:
    """Area under straight lines between the points, per unit of x: the mean height."""
    xs, ys = curve
    inside = [(x, y) for x, y in zip(xs, ys, strict=True) if low < x < high]
    ends = [(x, interpolate(x, xs, ys)) for x in (low, high)]
    points = [ends[0], *inside, ends[1]]
    parts = pairwise(points)
    return sum((x1 - x0) * (y0 + y1) / 2 for (x0, y0), (x1, y1) in parts) / (high - low)


def interpolate(x: float, xs: Sequence[float], ys: Sequence[float]) -> float:
    """The y at x between ascending xs; at an end beyond them."""
    i = bisect_left(xs, x)
    if i == len(xs):
        return ys[-1]
    if i == 0 or xs[i] == x:
        return ys[i]
    share = (x - xs[i - 1]) / (xs[i] - xs[i - 1])
    return ys[i - 1] + share * (ys[i] - ys[i - 1])


def rows_of(run: Run) -> list[Row]:
    with MetricStore(run.path / "metrics.db") as store:
        return list(store.rows())


def _budget(run: Run) -> float | None:
    """In env steps, as the config says and live changes after it; None where it is in others."""
    from ruamel.yaml import YAML

    config = YAML(typ="safe", pure=True).load(run.config()) or {}
    written = (config.get("stop") or {}).get("env_steps")
    budget = run.info.get("live", {}).get("stop.env_steps", written)
    return float(budget) if isinstance(budget, int | float) and budget > 0 else None
