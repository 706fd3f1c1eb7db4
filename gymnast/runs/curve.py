"""A run's evaluation curve, and the area under it, which summarizes training in one number.

The curve starts at the training return of the first rollout: the score of the untrained policy is not part
of it, so that it means the same as in runs that have none. The area is normalized: the first return counts
as 0 and the threshold as 1, and returns above the threshold are clipped to it. A finished run is averaged
over its whole budget, with its last evaluation extended to the end, so that a run that reaches the threshold
sooner has the larger area. A run that was stopped or is still training is averaged over the steps taken so
far; so is the mean return, always.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import pairwise

from gymnast.metrics.downsample import downsample
from gymnast.runs.info import CurveInfo, branch_point
from gymnast.runs.run import Run
from gymnast.runs.summary import Learning, stored_learning

RETURN_KEY = "eval:episode/return"
LOW_KEY = "eval:episode/low"
TRAINING_KEY = "episode/return"
SCORED_STEPS_KEY = "eval:clock/env_steps"
"""Env steps of the policy that an evaluation scored; the result is stored some rows later."""
CURVE_POINTS = 32
"""Maximum number of points of the curve in run.json."""

Row = dict[str, float]
Curve = tuple[list[float], list[float]]


def curve_of(rows: Sequence[Row], x: str, key: str = RETURN_KEY) -> Curve:
    """Returns the points of the metric `key` at every evaluation: positions on the clock `x` (`env_steps`,
    `seconds`, ...) and values, ordered by the env steps of the policy that was evaluated."""
    found = {
        row[SCORED_STEPS_KEY]: row[key] for row in rows if key in row and SCORED_STEPS_KEY in row
    }
    scored, axis = sorted(found), ClockAxis(rows, x)
    return [axis(steps) for steps in scored], [found[steps] for steps in scored]


def short_curve(curve: Curve, branched_at: float | None = None) -> CurveInfo:
    """Returns at most CURVE_POINTS points of a curve over env steps; its first, last, lowest and highest are
    among them. So is the highest after the env steps `branched_at`."""
    steps, returns = curve
    kept = downsample(returns, CURVE_POINTS - (branched_at is not None))
    own = [i for i, at in enumerate(steps) if branched_at is not None and at > branched_at]
    kept = sorted({*kept, *sorted(own, key=lambda i: returns[i])[-1:]})
    return {"env_steps": [steps[i] for i in kept], "mean_return": [returns[i] for i in kept]}


def own_evaluations(steps: Sequence[float], branched_at: float | None) -> slice:
    """Returns which evaluations count for a run: those of versions after the env steps `branched_at`, if it
    is a branch. `steps`: the env steps of the policies that were evaluated, in ascending order."""
    return slice(0 if branched_at is None else bisect_right(steps, branched_at), len(steps))


def lower_bounds(rows: Sequence[Row]) -> list[float]:
    """Returns the lower confidence bound of every evaluation, in the order of the curve. An evaluation
    without a bound counts with its return."""
    bounds = [
        row | {LOW_KEY: row.get(LOW_KEY, row[RETURN_KEY])} for row in rows if RETURN_KEY in row
    ]
    return curve_of(bounds, "env_steps", LOW_KEY)[1]


class ClockAxis:
    """Maps env steps to another clock by interpolating between the metric rows."""

    def __init__(self, rows: Sequence[Row], x: str) -> None:
        # all clocks start together
        self._steps = [0.0, *(row["clock/env_steps"] for row in rows)]
        self._values = [0.0, *(row[f"clock/{x}"] for row in rows)]

    def __call__(self, env_steps: float) -> float:
        return interpolate(env_steps, self._steps, self._values)


def run_learning(run: Run, threshold: float | None, budget: float | None) -> Learning | None:
    """Returns `summarize_learning` for the recorded rows of a run; None if it has no evaluation. `budget` is
    in env steps."""
    return summarize_learning(read_evaluation_rows(run), threshold, budget, branch_point(run.info))


def summarize_learning(
    rows: Sequence[Row],
    threshold: float | None,
    budget: float | None,
    branched_at: float | None = None,
) -> Learning | None:
    """Returns how well a run trained; None if the rows have no evaluation. `budget` is in env steps; without
    one, the area covers the steps taken. Only versions after the env steps `branched_at` can reach the
    threshold."""
    steps, returns = curve_of(rows, "env_steps")
    if not steps:
        return None
    start = next((row[TRAINING_KEY] for row in rows if TRAINING_KEY in row), returns[0])
    taken = max(rows[-1]["clock/env_steps"], steps[-1])
    end = max(budget or taken, taken)
    first = [] if steps[0] <= 0 else [0.0]
    heights = [*(start for _ in first), *returns, returns[-1]]
    share = reached = None
    if threshold is not None:
        limited = [min(height, threshold) for height in heights]
        mean = area(([*first, *steps, end], limited), 0.0, end)
        share = (mean - start) / (threshold - start) if threshold > start else None
        bounds, own = enumerate(lower_bounds(rows)), own_evaluations(steps, branched_at)
        reached = next((i for i, low in bounds if low >= threshold and i >= own.start), None)
    seconds = curve_of(rows, "seconds")[0]
    return Learning(
        area=share,
        unused=1 - taken / end if end > 0 else 0.0,
        mean_return=area(([*first, *steps, taken], heights), 0.0, taken),
        steps_to_threshold=None if reached is None else int(steps[reached]),
        seconds_to_threshold=None if reached is None else seconds[reached],
    )


def learning_so_far(run: Run, rows: Sequence[Row]) -> Learning | None:
    """Returns the summary in run.json or, for a run without one, computes it from `rows`."""
    info = run.info
    stored = stored_learning(info)
    if stored is not None or not curve_of(rows, "env_steps")[0]:
        return stored  # without the budget, which is in the config: reading it takes long
    budget = _budget(run) if info["status"] == "finished" else None
    return summarize_learning(rows, info["threshold"], budget, branch_point(info))


def area(curve: Curve, low: float, high: float) -> float:
    """Returns the area under the piecewise linear curve from x = `low` to `high`, divided by `high - low`:
    its mean height there. If both are the same, the height at this x."""
    xs, ys = curve
    if low == high:
        return interpolate(low, xs, ys)
    inside = [(x, y) for x, y in zip(xs, ys, strict=True) if low < x < high]
    ends = [(x, interpolate(x, xs, ys)) for x in (low, high)]
    points = [ends[0], *inside, ends[1]]
    parts = pairwise(points)
    return sum((x1 - x0) * (y0 + y1) / 2 for (x0, y0), (x1, y1) in parts) / (high - low)


def interpolate(x: float, xs: Sequence[float], ys: Sequence[float]) -> float:
    """Returns y at x by linear interpolation (xs ascending); outside of xs, the y at the nearest end."""
    i = bisect_left(xs, x)
    if i == len(xs):
        return ys[-1]
    if i == 0 or xs[i] == x:
        return ys[i]
    share = (x - xs[i - 1]) / (xs[i] - xs[i - 1])
    return ys[i - 1] + share * (ys[i] - ys[i - 1])


def read_rows(run: Run) -> list[Row]:
    with run.metrics() as store:
        return list(store.rows())


def read_evaluation_rows(run: Run) -> list[Row]:
    """Returns the rows that evaluation curves and their summary depend on: the functions above return the
    same for them as for all rows. How long it takes depends on the number of evaluations, not of rows."""
    from gymnast.metrics.evaluation_rows import evaluation_rows

    with run.metrics() as store:
        return evaluation_rows(store, SCORED_STEPS_KEY, TRAINING_KEY)


def _budget(run: Run) -> float | None:
    """Returns the budget in env steps after live changes; None if it is set in another unit."""
    configured = run.config_section("stop").get("env_steps")
    budget = run.info.get("live", {}).get("stop.env_steps", configured)
    return float(budget) if isinstance(budget, int | float) and budget > 0 else None
