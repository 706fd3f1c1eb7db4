"""Charts that compare approaches: the mean over the runs of each, on a common clock."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from gymnast.clock import clock_label
from gymnast.monitor.chart_specs import (
    OUTCOMES,
    CurveSpec,
    curve_specs,
    outcome_columns,
)
from gymnast.monitor.curves import read_curve, smooth_curve
from gymnast.monitor.match_lengths import approach_lengths_chart
from gymnast.monitor.mean_over_runs import mean_over_runs
from gymnast.monitor.monitored_run import MonitoredRun
from gymnast.monitor.records import MonitorChart, MonitorSeries, SourceColumn
from gymnast.monitor.run_charts import (
    OUTCOMES_TITLE,
    chart_note,
    curve_sources,
    outcome_curves,
    role_series,
)

Approaches = Mapping[str, Sequence[MonitoredRun]]
"""Approach -> its runs, all of the same environment."""


def approach_charts(approaches: Approaches, smooth: int, prefix: str) -> Iterator[MonitorChart]:
    """Yields the charts that compare the approaches of one environment, in the order of every view. `smooth`:
    number of rows of the moving average; `prefix`: start of their names."""
    runs = [run for of_approach in approaches.values() for run in of_approach]
    for spec in curve_specs(runs):
        drawn = [run for run in runs if spec.roles(run)]
        rows = smooth if spec.smoothed else 1
        roles = dict.fromkeys(role for run in drawn for role in spec.roles(run))
        lines = {
            (approach, role): _mean_series(of_approach, spec, role, rows)
            for role in roles
            for approach, of_approach in approaches.items()
            if any(role in spec.roles(run) for run in of_approach)
        }
        series = [line for line in lines.values() if line is not None]
        absent = dict.fromkeys(approach for (approach, _), line in lines.items() if line is None)
        if series:
            yield MonitorChart(
                name=f"{prefix}-{spec.name}",
                title=spec.title,
                about="approach",
                run="",
                unit=spec.unit,
                kind="lines",
                x_label=clock_label(runs[0].clock),
                series=series,
                sources=[s for run in drawn for s in curve_sources(run, spec, spec.roles(run))],
                runs=[run.run for run in drawn],
                smooth=rows,
                note=_note(series, rows, absent, spec.caution if len(approaches) > 1 else ""),
            )
    if chart := _outcomes(approaches, f"{prefix}-{OUTCOMES}"):
        yield chart
    if chart := approach_lengths_chart(approaches, prefix):
        yield chart


def _mean_series(
    runs: Sequence[MonitoredRun], spec: CurveSpec, role: str, smooth: int
) -> MonitorSeries | None:
    """Returns the mean of the runs of an approach; None if none has a value, or if they do not overlap. That
    of a single run is the line of that run, with its recorded interval."""
    drawn = [run for run in runs if role in spec.roles(run)]
    if not drawn:
        return None
    approach = drawn[0].approach
    if len(drawn) == 1:
        line = role_series(drawn[0], spec, role, smooth)
        n = [int(y == y) for y in line.y]
        return MonitorSeries(
            approach, role, approach, line.x, line.y, line.low, line.high, line.band, n
        )
    curves = [smooth_curve(read_curve(run, spec.column(role)), smooth) for run in drawn]
    found = mean_over_runs(curves)
    if not len(found.x):
        return None
    columns = (found.x, found.mean, found.low, found.high)
    x, y, low, high = (column.tolist() for column in columns)
    return MonitorSeries(approach, role, approach, x, y, low, high, found.band, found.n.tolist())


def _note(series: Sequence[MonitorSeries], smooth: int, absent: Iterable[str], caution: str) -> str:
    """Returns the note of a comparison. `absent`: approaches whose runs do not overlap, so that they have no
    mean; `caution`: what a reader must know who compares the approaches."""
    names = ", ".join(absent)
    not_drawn = (
        f"Not drawn, because its runs have no env steps in common: {names}." if names else ""
    )
    some_missing = any(0 < n < max(line.n) for line in series for n in line.n)
    missing = (
        "Where a run has no value, the mean is that of the other runs." if some_missing else ""
    )
    return " ".join(filter(None, (not_drawn, chart_note(series, smooth), missing, caution)))


def _outcomes(approaches: Approaches, name: str) -> MonitorChart | None:
    """Returns the mean share of each outcome per approach, over the runs that have all of the outcomes of the
    approach; None if no run has outcomes."""
    series: list[MonitorSeries] = []
    drawn: list[MonitoredRun] = []
    for approach, runs in approaches.items():
        columns = {column for run in runs for column in outcome_columns(run)}
        complete = [run for run in runs if columns and columns == set(outcome_columns(run))]
        drawn += complete
        curves = [outcome_curves(run) for run in complete]
        for outcome in curves[0] if curves else ():
            found = mean_over_runs([by_outcome[outcome] for by_outcome in curves])
            x, y, n = found.x.tolist(), found.mean.tolist(), found.n.tolist()
            if x:  # else the runs of the approach do not overlap
                series.append(MonitorSeries(outcome, "", approach, x, y, n=n))
    if not series:
        return None
    return MonitorChart(
        name=name,
        title=OUTCOMES_TITLE,
        about="approach",
        run="",
        unit="share",
        kind="stacked shares",
        x_label=clock_label(drawn[0].clock),
        series=series,
        sources=[
            SourceColumn(run.sources[0], column) for run in drawn for column in outcome_columns(run)
        ],
        runs=[run.run for run in drawn],
        note="Mean over the runs of each approach.",
    )
