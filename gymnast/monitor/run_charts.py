"""The charts of one run."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from gymnast.clock import clock_label
from gymnast.monitor.chart_specs import (
    OUTCOMES,
    CurveSpec,
    curve_specs,
    outcome_columns,
    outcome_label,
)
from gymnast.monitor.curves import Curve, fewer_points, read_curve, smooth_curve, value_at
from gymnast.monitor.match_lengths import run_lengths_chart
from gymnast.monitor.monitored_run import MonitoredRun
from gymnast.monitor.records import MonitorChart, MonitorSeries, SourceColumn

OUTCOMES_TITLE = "Outcomes of the last training matches"


def run_charts(run: MonitoredRun, smooth: int) -> Iterator[MonitorChart]:
    """Yields the charts of a run that have data, in the order of every view. `smooth`: number of rows of the
    moving average."""
    for spec in curve_specs([run]):
        if roles := spec.roles(run):
            rows = smooth if spec.smoothed else 1
            series = [role_series(run, spec, role, rows) for role in roles]
            yield MonitorChart(
                name=f"{run.run}-{spec.name}",
                title=spec.title,
                about="run",
                run=run.run,
                unit=spec.unit,
                kind="lines",
                x_label=clock_label(run.clock),
                series=series,
                sources=curve_sources(run, spec, roles),
                runs=[run.run],
                smooth=rows,
                note=chart_note(series, rows),
            )
    if chart := _outcomes(run):
        yield chart
    if chart := run_lengths_chart(run):
        yield chart


def role_series(run: MonitoredRun, spec: CurveSpec, role: str, smooth: int) -> MonitorSeries:
    """Returns the line of a role, with the recorded interval if there is one."""
    curve = smooth_curve(read_curve(run, spec.column(role)), smooth)
    kept = fewer_points(curve)
    x = curve.x[kept]
    ends = [
        value_at(read_curve(run, column), x).tolist() for column in spec.interval_columns(run, role)
    ]
    low, high = ends or ([], [])
    return MonitorSeries(
        label=role or run.approach,
        role=role,
        approach=run.approach,
        x=x.tolist(),
        y=curve.y[kept].tolist(),
        low=low,
        high=high,
        band="95 % interval" if ends else "",
    )


def curve_sources(run: MonitoredRun, spec: CurveSpec, roles: Sequence[str]) -> list[SourceColumn]:
    """Returns the columns of the lines of these roles, with those of their intervals."""
    columns = [
        column
        for role in roles
        for column in (spec.column(role), *spec.interval_columns(run, role))
    ]
    return [SourceColumn(run.sources[0], column) for column in columns]


def chart_note(series: Sequence[MonitorSeries], smooth: int) -> str:
    """Returns what a reader needs to know about the smoothing, the bands and the gaps of a chart."""
    notes = [f"Moving average over {smooth} rows."] if smooth > 1 else []
    bands = dict.fromkeys(line.band for line in series if line.band)
    for band in bands:
        approaches = dict.fromkeys(line.approach for line in series if line.band == band)
        whose = f" ({', '.join(approaches)})" if len(bands) > 1 else ""
        notes.append(f"Band: {band}{whose}.")
    if any(math.isnan(y) for line in series for y in line.y):
        notes.append("Gaps are rows without a value, such as those in which a role did not learn.")
    return " ".join(notes)


def outcome_curves(run: MonitoredRun) -> dict[str, Curve]:
    """Returns outcome -> its share of the training matches; empty for a single agent."""
    return {outcome_label(column): read_curve(run, column) for column in outcome_columns(run)}


def _outcomes(run: MonitoredRun) -> MonitorChart | None:
    """Returns the shares of the outcomes of training matches; None if the run has none."""
    series: list[MonitorSeries] = []
    x = None
    for outcome, curve in outcome_curves(run).items():
        if x is None:  # all shares at the same points, so that they add up to 1 everywhere
            x = curve.x[fewer_points(curve)]
        y = value_at(curve, x)
        series.append(MonitorSeries(outcome, "", run.approach, x.tolist(), y.tolist()))
    if not series:
        return None
    return MonitorChart(
        name=f"{run.run}-{OUTCOMES}",
        title=OUTCOMES_TITLE,
        about="run",
        run=run.run,
        unit="share",
        kind="stacked shares",
        x_label=clock_label(run.clock),
        series=series,
        sources=[SourceColumn(run.sources[0], column) for column in outcome_columns(run)],
        runs=[run.run],
    )
