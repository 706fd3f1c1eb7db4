"""The overview: one row per run, as records and as run_overview.csv.

Every number is of the last window of episodes or of one evaluation, so that it describes the policy at that
time and not the average since the start. Roles are never averaged: the mean over both sides of a zero-sum
game says nothing. What a run does not have stays empty.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import fields

import numpy as np

from gymnast.monitor.chart_specs import outcome_columns, outcome_label
from gymnast.monitor.monitored_run import (
    UNKNOWN,
    Array,
    MonitoredRun,
    evaluation_column,
    role_column,
)
from gymnast.monitor.records import OverviewRow, RoleOverview
from gymnast.monitor.schema import EVAL_WIN_RATE, RETURN, ROLLING_WIN_RATE
from gymnast.runs.curve import own_evaluations

COUNT = "episode/count"
"""Number of episodes in the window of the mean return."""
LENGTHS = ("match/duration", "episode/length")
"""Metrics with the mean length of an episode; the first one that a run has counts."""


def overview_row(run: MonitoredRun) -> OverviewRow:
    """Returns the row of a run whose columns have been checked."""
    episodes = _last(run, "clock/episodes")
    lengths = (_last(run, name) for name in LENGTHS)
    return OverviewRow(
        approach=run.approach,
        run=run.run,
        name=run.name,
        env=run.env,
        algo=run.algo,
        seed=run.seed,
        status=run.status,
        env_steps=int(run.env_steps[-1]),
        episodes=None if episodes is None else int(episodes),
        roles=[_role_overview(run, role) for role in run.roles or ("",)],
        outcomes={
            outcome_label(name): share
            for name in outcome_columns(run)
            if (share := _last(run, name)) is not None
        },
        mean_length=next((length for length in lengths if length is not None), None),
        alerts=len(run.alerts),
        verdict=run.verdict,
        sources=list(run.sources),
    )


def overview_csv(rows: Sequence[OverviewRow]) -> str:
    """Returns the overview as CSV, at full precision. Each role has its own columns (`seeker_final_return`),
    each outcome one (`tag_share`); a cell is empty where a run has no such role, outcome or value."""
    roles = list(dict.fromkeys(role.role for row in rows for role in row.roles))
    outcomes = dict.fromkeys(outcome for row in rows for outcome in row.outcomes)
    unknown_last = sorted(outcomes, key=lambda outcome: outcome == UNKNOWN)
    lines = [_line(row, roles, unknown_last) for row in rows]
    text = io.StringIO()
    writer = csv.DictWriter(text, list(lines[0]) if lines else [], lineterminator="\n")
    writer.writeheader()
    writer.writerows(lines)
    return text.getvalue()


def _line(
    row: OverviewRow, roles: Sequence[str], outcomes: Sequence[str]
) -> dict[str, str | int | float | None]:
    """Returns column -> cell of a row of the CSV; the csv module writes None as an empty cell."""
    line: dict[str, str | int | float | None] = {
        "approach": row.approach,
        "run": row.run,
        "name": row.name,
        "env": row.env,
        "algo": row.algo,
        "seed": row.seed,
        "status": row.status,
        "env_steps": row.env_steps,
        "episodes": row.episodes,
    }
    own = {role.role: role for role in row.roles}
    for role in roles:
        for name in _ROLE_NUMBERS:
            key = f"{role}_{name}" if role else name
            line[key] = getattr(own[role], name) if role in own else None
    line |= {f"{outcome}_share": row.outcomes.get(outcome) for outcome in outcomes}
    return line | {"mean_length": row.mean_length, "alerts": row.alerts, "verdict": row.verdict}


_ROLE_NUMBERS = [field.name for field in fields(RoleOverview) if field.name != "role"]


def _role_overview(run: MonitoredRun, role: str) -> RoleOverview:
    trained, evaluated = role_column(RETURN, role), evaluation_column(RETURN, role)
    rolling, scored = role_column(ROLLING_WIN_RATE, role), evaluation_column(EVAL_WIN_RATE, role)
    own = _own_evaluations(run, evaluated)
    return RoleOverview(
        role=role,
        final_return=_last(run, trained),
        best_return=_best_of_full_windows(run, role),
        final_eval_return=float(own[-1]) if len(own) else None,
        best_eval_return=_highest(own),
        rolling_win_rate=_last(run, rolling),
        rolling_win_low=_last(run, role_column("league/win_low", role)),
        rolling_win_high=_last(run, role_column("league/win_high", role)),
        eval_win_rate=_last(run, scored),
        eval_win_low=_last(run, evaluation_column("match/win_low", role)),
        eval_win_high=_last(run, evaluation_column("match/win_high", role)),
    )


def _best_of_full_windows(run: MonitoredRun, role: str) -> float | None:
    """Returns the highest mean return of a window with as many episodes as any: the first windows have few,
    and one lucky episode is not a result."""
    name, count_name = role_column(RETURN, role), role_column(COUNT, role)
    if not run.has(name):
        return None
    returns = run.column(name)
    if run.has(count_name):
        counts = np.where(np.isnan(returns), np.nan, run.column(count_name))
        most = _highest(counts)
        returns = returns if most is None else returns[counts == most]
    return _highest(returns)


def _own_evaluations(run: MonitoredRun, name: str) -> Array:
    """Returns the values of an evaluation metric, without those of the parent of a branch."""
    steps, values = run.points(name) if run.has(name) else (np.empty(0), np.empty(0))
    return values[own_evaluations(steps.tolist(), run.branched_at)]


def _values(run: MonitoredRun, name: str) -> Array:
    return run.points(name)[1] if run.has(name) else np.empty(0)


def _last(run: MonitoredRun, name: str) -> float | None:
    values = _values(run, name)
    return float(values[-1]) if len(values) else None


def _highest(values: Array) -> float | None:
    known = values[~np.isnan(values)]
    return float(known.max()) if len(known) else None
