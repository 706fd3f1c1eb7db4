"""The schema guard: the columns that a run must have, checked before anything is computed or drawn.

A column that is missing, renamed or without any value is an error that names the file, the column, what was
expected there and how to fix it. Nothing is replaced by zeros.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from gymnast.errors import RunError
from gymnast.metrics.specs import METRICS, generic_name, metric_for_key, split_key
from gymnast.monitor.monitored_run import (
    ENV_STEPS,
    MonitoredRun,
    evaluation_column,
    role_column,
)
from gymnast.runs.run import ACTIVE
from gymnast.text.suggestions import did_you_mean

RETURN = "episode/return"
ROLLING_WIN_RATE, EVAL_WIN_RATE = "league/win_rate", "match/win_rate"
UNKNOWN_SHARE = "match/unknown_share"
PPO_DIAGNOSTICS = (
    "policy/loss",
    "value/loss",
    "policy/kl",
    "policy/entropy",
    "policy/clip_fraction",
)
"""Metrics that every role of a PPO run reports for each update."""


@dataclass(frozen=True)
class Requirement:
    """Columns of which a run must have at least one, with a value in some row."""

    columns: tuple[str, ...]
    reason: str
    """The reason why the run must have it, as a clause."""


def required_columns(run: MonitoredRun) -> list[Requirement]:
    """Returns the columns that a run of this kind must have: the return of every role, its win rate if
    matches have a winner, and the diagnostics of PPO for every role that was updated."""
    roles = run.roles or ("",)
    found = [Requirement((role_column(RETURN, role),), "every run has a return") for role in roles]
    if run.roles and _has_winners(run):
        found += [
            Requirement(
                (role_column(ROLLING_WIN_RATE, role), evaluation_column(EVAL_WIN_RATE, role)),
                f"{role} wins or loses matches",
            )
            for role in roles
        ]
    if run.algo == "ppo":
        found += [
            Requirement((role_column(metric, role),), "the algorithm is ppo")
            for role in roles
            if _was_updated(run, role)
            for metric in PPO_DIAGNOSTICS
        ]
    return found


def check_columns(run: MonitoredRun, *, unmapped: Sequence[str] = (), column_map: str = "") -> None:
    """Raises RunError with all problems of a run's columns. `unmapped`: columns of a foreign file that its
    column map does not name; `column_map`: the file with that map, empty for a run of gymnast."""
    check_env_steps(run)
    missing: list[str] = []
    problems: list[str] = []
    for requirement in required_columns(run):
        if any(run.has(name) for name in requirement.columns):
            continue
        expected = f"expected because {requirement.reason}: {_description(requirement)}"
        empty = [name for name in requirement.columns if name in run.columns]
        if empty:
            rows = f"{len(run.env_steps)} rows"
            problems.append(f"column {empty[0]!r} has no value in any of its {rows} ({expected})")
        else:
            names = " or ".join(map(repr, requirement.columns))
            guess = _renamed(requirement.columns[0], run, unmapped)
            problems.append(f"column {names} is missing ({expected}){guess}")
            missing.append(requirement.columns[0])
    if problems:
        fix = _remedy(run, missing, column_map)
        raise RunError("\n".join(problems), at=run.sources[0], fix=fix)


def check_env_steps(run: MonitoredRun) -> None:
    """Raises RunError if the env steps are missing in a row or decrease, or if a column has another number of
    rows."""
    steps = run.env_steps
    fix = "the file is damaged: restore it"
    for row in np.flatnonzero(~np.isfinite(steps)).tolist():
        problem = f"column {ENV_STEPS!r} has no value in row {row + 1} (expected one in every row)"
        raise RunError(problem, at=run.sources[0], fix=fix)
    for row in np.flatnonzero(np.diff(steps) < 0).tolist():
        problem = (
            f"column {ENV_STEPS!r} decreases from {steps[row]:.0f} to {steps[row + 1]:.0f} in row"
            f" {row + 2} (expected increasing env steps)"
        )
        raise RunError(problem, at=run.sources[0], fix=fix)
    for name, column in run.columns.items():
        if len(column) != len(steps):
            problem = f"column {name!r} has {len(column)} rows (expected {len(steps)})"
            raise RunError(problem, at=run.sources[0], fix=fix)


def _has_winners(run: MonitoredRun) -> bool:
    """Returns whether the environment reports who wins: not if the outcome of every match is unknown."""
    if not run.has(UNKNOWN_SHARE):
        return True
    shares = run.columns[UNKNOWN_SHARE]
    return bool((shares[~np.isnan(shares)] < 1).any())


def _was_updated(run: MonitoredRun, role: str) -> bool:
    """Returns whether a role has been updated. A role that waits for a stronger opponent has not, and has no
    metric of an optimizer at all; a foreign file that has none must have the diagnostics."""
    own = [name for name in run.columns if _scope(name) == role]
    by_section = {split_key(name)[1].partition("/")[0] for name in own}
    return "rollout" not in by_section or "optim" in by_section


def _scope(name: str) -> str:
    return "/".join(split_key(name)[0])


def _description(requirement: Requirement) -> str:
    return metric_for_key(requirement.columns[0]).description.rstrip(".")


def _renamed(name: str, run: MonitoredRun, unmapped: Sequence[str]) -> str:
    """Returns a guess which column is the missing one under another name; empty without one. Columns with the
    name of another metric are none."""
    scopes, metric = split_key(name)
    others = [*unmapped, *_undeclared(run.columns)]
    same_scope = [other for other in others if other in unmapped or split_key(other)[0] == scopes]
    return did_you_mean(name, same_scope, 1) or did_you_mean(
        metric.rpartition("/")[2], same_scope, 1
    )


def _undeclared(names: Iterable[str]) -> Iterator[str]:
    """Yields the columns whose metric gymnast does not declare."""
    for name in names:
        metric = split_key(name)[1]
        if (
            metric not in METRICS
            and generic_name(metric) == metric
            and not metric.startswith("env/")
        ):
            yield name


def _remedy(run: MonitoredRun, missing: Sequence[str], column_map: str) -> str:
    if column_map:
        line = f"`{missing[0]}: COLUMN`" if missing else "another column"
        return f"map {line} under `columns:` in {column_map}"
    if run.status in ACTIVE:
        return "wait until the run has ended an episode and an update"
    return "restore the file, or train the run again"
