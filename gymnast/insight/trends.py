"""The development of metrics during a run, judged by the direction that each metric declares.

A metric that rose has improved only if higher is better for it; a metric without a direction rises or falls.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Literal

from gymnast.metrics.metric import ANY, Limits, Metric
from gymnast.rl.trend import Change, Jump, change_of_ends, fitted_change, largest_jump
from gymnast.text.chart import short_number

Verdict = Literal["better", "worse", "flat", "rising", "falling", "unknown"]
"""`rising` and `falling`: no direction is better. `flat`: the change is not larger than the noise.
`unknown`: there are too few points."""
RECENT = 0.25
"""The recent part of a run, as a share of its points, unless another is asked for."""
MIN_RECENT = 8
"""The recent part has at least this many points, if there are as many."""
COLLAPSE, LARGE = 0.5, 0.2
"""A collapse is a sudden loss of at least this share of what a metric had gained, and of its range."""


@dataclass(frozen=True)
class MetricPoint:
    """A value of a metric."""

    at: float
    """Position on the clock."""
    value: float


@dataclass(frozen=True)
class Movement:
    """The movement of a metric over a part of the run."""

    verdict: Verdict
    change: float | None
    """The change over this part; None if there are too few points."""
    noise: float | None
    """Standard error of the change. Changes of up to three of them count as flat."""


@dataclass(frozen=True)
class SuddenChange:
    """A change between neighboring points."""

    at: float
    """Position of the first point after it."""
    before: float
    """Mean of the points before it."""
    after: float
    """Mean of the points after it."""
    exceeds_noise: bool
    lasted: bool
    """Whether the last points of the run are still closer to `after` than to `before`."""


@dataclass(frozen=True)
class MetricTrend:
    """The development of one metric."""

    key: str
    """The metric."""
    better: str
    """`higher`, `lower`, or empty if no direction is better."""
    points: int
    """Number of points that were examined: rows, or means of rows if there are very many."""
    first: MetricPoint
    last: MetricPoint
    lowest: MetricPoint
    highest: MetricPoint
    overall: Movement
    """The last tenth of the points compared with the first tenth."""
    recent: Movement
    """The line fitted to the recent part, of at least eight points."""
    slope: float | None
    """Slope of this line, per 1,000 of the clock."""
    jump: SuddenChange | None
    """The largest sudden change in any direction; None if the metric is constant or has too few points."""
    collapse: SuddenChange | None
    """A sudden loss of more than half of what the metric had gained, and of more than noise; None if there is
    none, or if no direction is better."""
    healthy: bool | None
    """Whether the mean of the recent part is in the healthy range; None if the metric has none."""
    text: str
    """One line about it."""


@dataclass(frozen=True)
class RunTrends:
    """The development of the metrics of a run."""

    run: str
    """Id of the run."""
    x: str
    """The clock that positions refer to."""
    recent: float
    """The recent part, as a share of the points of each metric."""
    total: int
    """Number of metrics that the run has recorded."""
    trends: list[MetricTrend]
    """One per metric, in the order of every view."""


@dataclass(frozen=True)
class MetricValues:
    """The values of a metric in the order of a run, without gaps. All lists have the same length."""

    x: Sequence[float]
    """Positions on the clock."""
    mean: Sequence[float]
    """The value of each row, or the mean of each bucket of rows."""
    low: Sequence[float]
    """The value, or the minimum of each bucket."""
    high: Sequence[float]
    """The value, or the maximum of each bucket."""

    def finite(self) -> MetricValues:
        """Returns the positions with finite values."""
        rows = zip(self.x, self.mean, self.low, self.high, strict=True)
        kept = [row for row in rows if all(map(math.isfinite, row))]
        return MetricValues(*([row[i] for row in kept] for i in range(4)))


def metric_trend(
    key: str, metric: Metric, values: MetricValues, recent: float = RECENT
) -> MetricTrend | None:
    """Returns how a metric developed; None without a finite value. `recent`: the recent part, as a share."""
    values = values.finite()
    xs, ys = values.x, values.mean
    if not xs:
        return None
    first_recent = max(len(xs) - max(MIN_RECENT, math.ceil(len(xs) * recent)), 0)
    late_xs, late_ys = xs[first_recent:], ys[first_recent:]
    fitted = fitted_change(late_xs, late_ys)
    ends, jump = change_of_ends(xs, ys), largest_jump(ys)
    overall, late = _movement(metric, ends), _movement(metric, fitted)
    collapse = _collapse(metric, xs, ys)
    lowest = MetricPoint(*min(zip(xs, values.low, strict=True), key=lambda point: point[1]))
    highest = MetricPoint(*max(zip(xs, values.high, strict=True), key=lambda point: point[1]))
    best = highest if metric.better == "higher" else lowest if metric.better else None
    return MetricTrend(
        key=key,
        better=metric.better,
        points=len(xs),
        first=MetricPoint(xs[0], ys[0]),
        last=MetricPoint(xs[-1], ys[-1]),
        lowest=lowest,
        highest=highest,
        overall=overall,
        recent=late,
        slope=None if fitted is None else fitted.size / (late_xs[-1] - late_xs[0]) * 1000,
        jump=None if jump is None else _sudden(jump, xs, ys),
        collapse=collapse,
        healthy=_is_healthy(metric, fmean(late_ys)),
        text=_text(metric, ys, best, f"{overall.verdict}, recently {late.verdict}", collapse),
    )


def _movement(metric: Metric, change: Change | None) -> Movement:
    if change is None:
        return Movement("unknown", None, None)
    return Movement(_verdict(metric, change), change.size, change.error)


def _verdict(metric: Metric, change: Change) -> Verdict:
    if not change.exceeds_noise:
        return "flat"
    improved = metric.is_improvement(change.size)
    if improved is None:
        return "rising" if change.size > 0 else "falling"
    return "better" if improved else "worse"


def _collapse(metric: Metric, xs: Sequence[float], ys: Sequence[float]) -> SuddenChange | None:
    if not metric.better:
        return None
    worsening = largest_jump(ys, sign=-1 if metric.better == "higher" else 1)
    if worsening is None or not worsening.exceeds_noise:
        return None
    lost, worst = abs(worsening.after - worsening.before), min if metric.better == "higher" else max
    gained, span = abs(worsening.before - worst(ys)), max(ys) - min(ys)
    return _sudden(worsening, xs, ys) if lost >= max(COLLAPSE * gained, LARGE * span) else None


def _sudden(jump: Jump, xs: Sequence[float], ys: Sequence[float]) -> SuddenChange:
    end = fmean(ys[-max(1, len(ys) // 10) :])
    lasted = abs(end - jump.after) <= abs(end - jump.before)
    return SuddenChange(xs[jump.place], jump.before, jump.after, jump.exceeds_noise, lasted)


def _is_healthy(metric: Metric, value: float) -> bool | None:
    low, high = metric.healthy_for(Limits())
    return None if (low, high) == ANY else low <= value <= high


def _text(
    metric: Metric,
    ys: Sequence[float],
    best: MetricPoint | None,
    verdicts: str,
    collapse: SuddenChange | None,
) -> str:
    """Returns `22.10 -> 487.30 (best 500.00 at 41k): better, recently flat`."""
    text = f"{metric.format(ys[0])} -> {metric.format(ys[-1])}"
    if best is not None:
        text += f" (best {metric.format(best.value)} at {short_number(best.at)})"
    text += f": {verdicts}"
    if collapse is not None:
        values = f"{metric.format(collapse.before)} to {metric.format(collapse.after)}"
        recovered = "" if collapse.lasted else ", and recovered"
        text += f"; collapsed from {values} at {short_number(collapse.at)}{recovered}"
    return text
