"""Metrics of one or more runs as series with a limited number of points, for charts."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gymnast.api.evaluation_curves import EvaluationReader
from gymnast.errors import RunError, UsageError
from gymnast.metrics.specs import split_key
from gymnast.runs import layout, store
from gymnast.runs.curve import Curve
from gymnast.runs.run import Run
from gymnast.runs.store import RunsDir
from gymnast.settings import view_clock

if TYPE_CHECKING:
    import numpy as np

    from gymnast.metrics.buckets import Series, StoredSeries

EVALUATION = "eval"
"""The scope of the metrics of evaluations."""
MIN_POINTS = 2
MAX_POINTS = 38_000
"""Maximum number of points of a metric, summed over the runs: its curves then take less than 1 MB."""


@dataclass(frozen=True)
class MetricSeries:
    """One metric of one run over time, in buckets of rows. All lists have the same length."""

    run: str
    """Id of the run."""
    key: str
    """The metric."""
    x: list[float]
    """Positions on the clock. If some series of a metric is reduced and there are several runs, the same for
    all of them; else those of the rows, or the means of buckets of rows."""
    mean: list[float]
    """Mean of each bucket; NaN where every value is NaN, and outside of the rows of this run."""
    low: list[float]
    """Minimum of each bucket. Equal to `mean` if nothing was reduced."""
    high: list[float]
    """Maximum of each bucket. Equal to `mean` if nothing was reduced."""
    total: int
    """Number of points before they were reduced."""


@dataclass(frozen=True)
class CurveSource:
    """The state of a run's rows when its series were read."""

    run: str
    """Id of the run."""
    cursor: int
    """Position of the last row: `rows` with `after` has what follows."""
    attempt: int
    """Number of the latest attempt, as in `rows`."""
    rows: int
    """Number of rows."""
    problem: str = ""
    """The reason if its rows, or some of them, cannot be read; the series that need them are missing."""


@dataclass(frozen=True)
class MetricCurves:
    """Metrics of runs as series with a limited number of points."""

    x: str
    """The clock that the x values count."""
    range: tuple[float, float] | None
    """The positions that the series cover; None without any row."""
    series: list[MetricSeries]
    """Metric by metric, and for each metric run by run; runs without the metric have none."""
    runs: list[CurveSource]


def curves(
    refs: Sequence[str] = ("@last",),
    names: Sequence[str] = (),
    *,
    x: str = "",
    points: int = 800,
    low: float | None = None,
    high: float | None = None,
    runs_dir: RunsDir = None,
) -> MetricCurves:
    """Returns metrics of one or more runs over the clock `x`, each with at most `points` points: the mean,
    minimum and maximum of each bucket of rows, so that every spike stays visible.

    `names`: all metrics if empty; a `*` at the end matches any suffix. `low`, `high`: only this part of the
    clock; buckets at its ends may contain some rows from outside. A series with few points there is exact.
    With many runs, each has fewer points, such that those of a metric take less than 1 MB. An evaluation is
    at the position of the policy version that it scored, as in `charts` and `compare`. Raises UsageError for
    a name that no row of the runs has, and RunError if the rows of a single run cannot be read; of several
    runs, one that cannot be read has a `problem` instead."""
    x = view_clock(x)
    if points < MIN_POINTS:
        raise UsageError(f"a series cannot have fewer than {MIN_POINTS} points")
    if not refs:
        raise UsageError("curves need at least one run", fix="name a run, such as @last")
    runs = store.resolve_all(refs, store.runs_dir(runs_dir))
    ends = (-math.inf if low is None else low, math.inf if high is None else high)
    points = max(min(points, MAX_POINTS // len(runs)), MIN_POINTS)
    found, problems = _read(runs, names or ["*"], x, points, ends)
    _refuse_unknown(names, runs, list(found.values()))
    span = _range(list(found.values()), ends)
    edges = None if span is None or len(runs) == 1 else _edges(span, points)
    keys = _keys(names or ["*"], list(found.values()))
    evaluations = _Evaluations(runs, x, ends, problems)
    return MetricCurves(
        x=x,
        range=span,
        series=[
            line
            for key in keys
            for line in (
                evaluations.series(key)
                if split_key(key)[0][:1] == (EVALUATION,)
                else _of_metric(key, found, points, edges)
            )
        ],
        runs=[
            CurveSource(
                run.id, stored.cursor, stored.attempt, stored.rows, problems.get(run.id, "")
            )
            if (stored := found.get(run.id)) is not None
            else CurveSource(run.id, 0, 0, 0, problems[run.id])
            for run in runs
        ],
    )


def _read(
    runs: Sequence[Run], names: Sequence[str], x: str, points: int, ends: tuple[float, float]
) -> tuple[dict[str, StoredSeries], dict[str, str]]:
    """Returns the id of each run -> its series in the range `ends`, and the id of each run that cannot be
    read -> why."""
    from gymnast.metrics.buckets import MAX_BLOCKS, MAX_ROWS, read_series

    found: dict[str, StoredSeries] = {}
    problems: dict[str, str] = {}
    for run in runs:
        try:
            found[run.id] = read_series(
                layout.METRICS.path(run.path),
                names,
                x,
                points=points,
                low=ends[0],
                high=ends[1],
                excluded=EVALUATION,  # read by `_Evaluations`
                max_rows=MAX_ROWS // len(runs),
                max_blocks=MAX_BLOCKS // len(runs),
            )
        except RunError as error:
            if len(runs) == 1:
                raise
            problems[run.id] = str(error)
    return found, problems


def _keys(names: Sequence[str], found: Sequence[StoredSeries]) -> list[str]:
    """Returns the keys of the runs that `names` match, each once."""
    from gymnast.metrics.buckets import matching

    return list(dict.fromkeys(key for stored in found for key in matching(names, stored.known)))


def _of_metric(
    key: str, found: dict[str, StoredSeries], points: int, edges: np.ndarray | None
) -> list[MetricSeries]:
    """Returns the series of one metric. `edges`: those of the buckets on the clock that several runs share,
    if a series of theirs is reduced; None for a single run."""
    from gymnast.metrics.buckets import buckets_of_rows, buckets_on_grid

    with_key = {run: s for run, s in found.items() if key in s.names and s.has(key)}
    if edges is None or all(stored.is_exact(key) for stored in with_key.values()):
        series = {run: buckets_of_rows(stored, key, points) for run, stored in with_key.items()}
        return [_record(run, key, one, one.x.tolist()) for run, one in series.items()]
    series = buckets_on_grid(list(with_key.values()), key, edges)
    # One list for all of them, which a server can send once.
    shared: list[float] = series[0].x.tolist()
    return [_record(run, key, one, shared) for run, one in zip(with_key, series, strict=True)]


class _Evaluations:
    """The evaluations of runs. There are few, so that all of them are returned."""

    def __init__(
        self, runs: Sequence[Run], x: str, ends: tuple[float, float], problems: dict[str, str]
    ) -> None:
        """`problems`: id of each run that cannot be read -> why; others are added when they are found."""
        self._runs, self._ends, self._problems = runs, ends, problems
        self._reader = EvaluationReader(x)

    def series(self, key: str) -> list[MetricSeries]:
        """Returns one metric of the runs that recorded it, in the range `ends`, and one evaluation more on
        each side, so that a line reaches the edges of a chart."""
        found: list[MetricSeries] = []
        for run in self._runs:
            xs, ys = self._curve(run, key)
            first = max(bisect_left(xs, self._ends[0]) - 1, 0)
            end = bisect_right(xs, self._ends[1]) + 1
            shown = ys[first:end]
            if shown:
                found.append(
                    MetricSeries(run.id, key, xs[first:end], shown, shown, shown, len(shown))
                )
        return found

    def _curve(self, run: Run, key: str) -> Curve:
        if run.id in self._problems:
            return [], []
        try:
            return self._reader.curve(run, key)
        except RunError as error:
            if len(self._runs) == 1:
                raise
            self._problems[run.id] = str(error)
            return [], []


def _record(run: str, key: str, series: Series, x: list[float]) -> MetricSeries:
    columns = (column.tolist() for column in (series.mean, series.low, series.high))
    return MetricSeries(run, key, x, *columns, total=series.total)


def _range(found: Sequence[StoredSeries], ends: tuple[float, float]) -> tuple[float, float] | None:
    """Returns the asked range, with the ends of the rows in place of an open end; None without rows."""
    clocks = [stored.blocks for stored in found if len(stored.blocks)]  # the clock is the first key
    if not clocks:
        return None
    low = min(float(clock.low[0].min()) for clock in clocks) if math.isinf(ends[0]) else ends[0]
    high = max(float(clock.high[0].max()) for clock in clocks) if math.isinf(ends[1]) else ends[1]
    return low, high


def _edges(span: tuple[float, float], buckets: int) -> np.ndarray:
    import numpy as np

    return np.linspace(*span, buckets + 1)


def _refuse_unknown(
    names: Sequence[str], runs: Sequence[Run], found: Sequence[StoredSeries]
) -> None:
    """Raises UsageError for a name that no run has, unless there are no rows yet."""
    from gymnast.metrics.buckets import matching
    from gymnast.text.suggestions import did_you_mean

    known = list(dict.fromkeys(key for stored in found for key in stored.known))
    for name in names:
        if known and not matching([name], known):
            which = f"run {runs[0].id} has no" if len(runs) == 1 else "none of the runs has a"
            problem = f"{which} metric {name!r}{did_you_mean(name, known)}"
            raise UsageError(problem, fix=f"`gymnast rows {runs[0].id} --last 1` has them all")
