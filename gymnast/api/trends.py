"""Trends: how the metrics of a run developed, and whether for the better."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress

from gymnast.api.curves import MetricCurves, curves
from gymnast.errors import ConfigError, UsageError
from gymnast.insight.trends import RECENT, MetricValues, RunTrends, metric_trend
from gymnast.metrics.metric import Metric
from gymnast.runs import store
from gymnast.runs.run import Run
from gymnast.runs.store import RunsDir

POINTS = 1000
"""Longer series are examined as means of rows, in so many buckets."""
_COUNTERS = ("clock", "progress", "speed", "system", "time")
"""Sections of metrics that count or measure the machine; they are examined only if they are named."""


def trends(
    ref: str = "@last",
    names: Sequence[str] = (),
    *,
    x: str = "",
    recent: float = RECENT,
    runs_dir: RunsDir = None,
) -> RunTrends:
    """Returns how metrics of a run developed over the clock `x`: first and last value, extremes with their
    positions, the change over the run and its recent part with a verdict, and the largest sudden change.

    A verdict knows the direction of the metric: `better` or `worse` if it has one, else `rising` or
    `falling`; `flat` if the change is not more than noise. A sudden worsening of a metric with a direction
    is reported as its `collapse`. `names`: by default the metrics of the live table; a `*` at the end
    matches any suffix. `recent`: the share of the rows that counts as recent. Raises UsageError for a name
    that no row has."""
    if not 0 < recent <= 1:
        raise UsageError(f"recent={recent:g} is not a share between 0 and 1", fix="use 0.25")
    found = curves([ref], names, x=x, points=POINTS, runs_dir=runs_dir)
    run = store.resolve(ref, store.runs_dir(runs_dir))[0]
    metrics = _declarations(run, found)
    series = {line.key: line for line in found.series}
    keys = _order(series if names else _main(series, metrics), metrics)
    judged = (
        metric_trend(
            key,
            metrics[_name(key)],
            MetricValues(line.x, line.mean, line.low, line.high),
            recent,
        )
        for key, line in ((key, series[key]) for key in keys)
    )
    return RunTrends(
        run=run.id,
        x=found.x,
        recent=recent,
        total=len(series) if not names else _count(run),
        trends=[trend for trend in judged if trend is not None],
    )


def _main(keys: Sequence[str] | Mapping[str, object], metrics: Mapping[str, Metric]) -> list[str]:
    """Returns the keys of the live table that show how training goes."""
    return [
        key
        for key in keys
        if metrics[_name(key)].in_table and metrics[_name(key)].section not in _COUNTERS
    ]


def _declarations(run: Run, found: MetricCurves) -> dict[str, Metric]:
    """Returns the declarations of the metrics of a run; an empty one for metrics that this version lacks."""
    from gymnast.metrics.explain import catalog
    from gymnast.metrics.specs import generic_name

    # The config is not validated: that would import the class of a custom algorithm.
    declared = {**catalog(), **_own_metrics(run.config_section("metrics"))}
    names = (_name(line.key) for line in found.series)
    return {
        name: declared.get(name) or declared.get(generic_name(name)) or Metric(name, "")
        for name in names
    }


def _own_metrics(section: Mapping[str, object]) -> dict[str, Metric]:
    """Returns the metrics that a preset declares under `metrics:`."""
    from pydantic import ValidationError

    from gymnast.config.sections.metric import MetricConfig
    from gymnast.metrics.specs import preset_metric

    with suppress(ValidationError, ConfigError):  # of another version
        return {
            name: preset_metric(name, MetricConfig.model_validate(fields))
            for name, fields in section.items()
        }
    return {}


def _order(keys: Sequence[str] | Mapping[str, object], metrics: Mapping[str, Metric]) -> list[str]:
    from gymnast.metrics.specs import sort_keys

    return sort_keys(keys, metrics)


def _count(run: Run) -> int:
    with run.metrics() as metrics:
        return len(metrics.names())


def _name(key: str) -> str:
    return key.rpartition(":")[2]
