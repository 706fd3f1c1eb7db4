"""All charts of the monitor as data: comparisons of approaches first, then the charts of each run."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from gymnast.errors import UsageError
from gymnast.monitor.approach_charts import approach_charts
from gymnast.monitor.monitored_run import MonitoredRun
from gymnast.monitor.records import MonitorChart
from gymnast.monitor.run_charts import run_charts


def monitor_charts(runs: Sequence[MonitoredRun], smooth: int = 10) -> list[MonitorChart]:
    """Returns the charts of these runs. Only runs of the same environment are compared with each other, since
    returns of different environments cannot be; an environment with a single run has no comparison. `smooth`:
    number of rows of the moving average; 1 draws every row as it is. Raises UsageError if it is below 1."""
    if smooth < 1:
        raise UsageError(
            f"a moving average over {smooth} rows is not possible",
            at="--smooth",
            fix="use --smooth 1 for the rows as they are, or a larger number",
        )
    by_env: dict[str, dict[str, list[MonitoredRun]]] = {}
    for run in runs:
        by_env.setdefault(run.env, {}).setdefault(run.approach, []).append(run)
    charts = [
        chart
        for env, approaches in by_env.items()
        if sum(map(len, approaches.values())) > 1
        for chart in approach_charts(approaches, smooth, env or "approaches")
    ]
    charts += [chart for run in runs for chart in run_charts(run, smooth)]
    return _with_unique_names(charts)


def _with_unique_names(charts: Sequence[MonitorChart]) -> list[MonitorChart]:
    """Returns the charts with names that can be file names, in which letter case does not matter; a repeated
    name gets a number."""
    used: set[str] = set()
    named: list[MonitorChart] = []
    for chart in charts:
        stem = re.sub(r"[^\w.-]+", "-", chart.name).strip("-.")
        name, number = stem, 1
        while name.lower() in used:
            number += 1
            name = f"{stem}-{number}"
        used.add(name.lower())
        named.append(replace(chart, name=name))
    return named
