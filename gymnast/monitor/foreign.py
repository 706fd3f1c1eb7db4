"""Reads runs for the monitor from files that other programs wrote, through a column map."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from gymnast.errors import RunError
from gymnast.foreign.column_map import MATCH_COLUMNS, OUTCOME, WON, ColumnMap, FileColumn
from gymnast.foreign.table import ForeignTable, read_table
from gymnast.metrics.specs import metric_for_key, split_key
from gymnast.monitor.match_rows import (
    check_win_flags,
    match_entries,
    match_metrics,
    read_outcomes,
)
from gymnast.monitor.monitored_run import (
    ENV_STEPS,
    Array,
    MonitoredRun,
    evaluation_column,
    role_column,
)
from gymnast.monitor.schema import check_columns
from gymnast.text.suggestions import did_you_mean

STATUS = "foreign"
"""Status of a run that another program trained."""
SHARED_SECTIONS = ("clock", "match", "env")
"""Sections of metrics that all roles share."""


def read_foreign_runs(file: str, column_map: ColumnMap, map_file: str) -> list[MonitoredRun]:
    """Returns the runs of a file, with checked columns. Raises RunError if the file cannot be read, lacks a
    column that the map names, or has columns that the schema guard rejects."""
    table = read_table(file)
    _require_mapped(table, column_map, map_file)
    parts = _parts(table, column_map.run) or {Path(file).stem: table}
    runs = [_read_run(run, part, column_map) for run, part in parts.items()]
    mapped = {*column_map.columns.values(), *_named_columns(column_map).values()}
    unmapped = [name for name in table.columns if name not in mapped]
    for run in runs:
        check_columns(run, unmapped=unmapped, column_map=map_file)
    return runs


def _read_run(run: str, table: ForeignTable, column_map: ColumnMap) -> MonitoredRun:
    by_role = _parts(table, column_map.role) or {"": table}
    roles = column_map.roles or tuple(role for role in by_role if role)
    outcomes = read_outcomes(table, column_map.columns)
    read = {role: _columns_of_role(part, role, column_map) for role, part in by_role.items()}
    if column_map.rows == "matches":
        [values] = read.values()  # the map has no column of roles
        columns = match_metrics(table, values, outcomes, column_map.window)
        matches = match_entries(values[ENV_STEPS], values, outcomes, roles)
    else:
        columns, matches = _join(list(read.values())), None
    return MonitoredRun(
        approach=_constant(table, column_map.approach, "approach"),
        run=run,
        name="",
        env=column_map.env,
        algo=column_map.algo,
        seed=_seed(table, column_map),
        status=STATUS,
        roles=roles,
        sources=(table.file,),
        env_steps=columns[ENV_STEPS],
        columns=columns,
        matches=matches,
    )


def _columns_of_role(table: ForeignTable, role: str, column_map: ColumnMap) -> dict[str, Array]:
    """Returns metric -> [rows], with the role as the scope of metrics that have none. `role`: empty if the
    file is about all roles."""
    found: dict[str, Array] = {}
    for key, column in column_map.columns.items():
        if key == OUTCOME:
            continue
        values = table.numbers(column, _meaning(key))
        if np.isnan(values).all():
            raise RunError(
                f"column {column!r} has no value in any of its {len(values)} rows (expected"
                f" {key!r}: {_meaning(key)})",
                at=table.file,
                fix=f"map {key!r} to a column with values, or remove it from the map",
            )
        if split_key(key)[1] == WON:
            check_win_flags(values, column, table)
        found[_with_role(key, role)] = values
    _check_env_steps(table, column_map, found[ENV_STEPS])
    return found


def _check_env_steps(table: ForeignTable, column_map: ColumnMap, steps: Array) -> None:
    """Raises RunError if a row lacks its env steps, or if they do not increase. Matches that end in the same
    vector step may have the same env steps."""
    column = column_map.columns[ENV_STEPS]
    for row in np.flatnonzero(np.isnan(steps)).tolist():
        raise RunError(
            f"column {column!r} has no value (expected the env steps of every row)",
            at=f"{table.file}:{table.lines[row]}",
            fix="complete the row, or delete it",
        )
    change = np.diff(steps)
    is_wrong = change < 0 if column_map.rows == "matches" else change <= 0
    for row in np.flatnonzero(is_wrong).tolist():
        raise RunError(
            f"column {column!r} is {steps[row + 1]:.0f} after {steps[row]:.0f} (expected increasing env"
            " steps)",
            at=f"{table.file}:{table.lines[row + 1]}",
            fix="sort the rows; if the file has several runs or roles, name the column that separates them:"
            " `run: {column: NAME}` or `role: {column: NAME}`",
        )


def _require_mapped(table: ForeignTable, column_map: ColumnMap, map_file: str) -> None:
    """Raises RunError for a column that the map names and the file does not have."""
    named = {**column_map.columns, **_named_columns(column_map)}
    for meaning, column in named.items():
        if column not in table.columns:
            raise RunError(
                f"column {column!r} is missing (expected for {meaning!r}, as {map_file} says)"
                f"{did_you_mean(column, table.columns, 1)}",
                at=table.file,
                fix=f"the file has {', '.join(table.columns)}; correct {map_file}",
            )


def _named_columns(column_map: ColumnMap) -> dict[str, str]:
    """Returns field of the map -> column, for the fields that differ between rows."""
    fields = {name: getattr(column_map, name) for name in ("run", "approach", "seed", "role")}
    return {name: value.column for name, value in fields.items() if isinstance(value, FileColumn)}


def _parts(table: ForeignTable, by: str | FileColumn) -> dict[str, ForeignTable]:
    """Returns value -> the rows of the table with it. `by`: the column with the values, or the value of all
    rows; empty if there is no value."""
    if not isinstance(by, FileColumn):
        return {by: table} if by else {}
    rows: dict[str, list[int]] = {}
    for row, text in enumerate(table.texts(by.column)):
        if not text:
            raise RunError(
                f"column {by.column!r} has no value (expected one in every row)",
                at=f"{table.file}:{table.lines[row]}",
                fix="complete the row, or delete it",
            )
        rows.setdefault(text, []).append(row)
    return {text: table.part(own) for text, own in rows.items()}


def _constant(table: ForeignTable, value: str | FileColumn, field: str) -> str:
    """Returns a value that all rows of a run share. Raises RunError if they do not."""
    if not isinstance(value, FileColumn):
        return value
    first, *others = dict.fromkeys(table.texts(value.column))
    if not first and not others:
        problem = f"column {value.column!r} has no value (expected the {field} of the run)"
        raise RunError(problem, at=table.file, fix=f"write a constant into the map: `{field}: ...`")
    if others:
        raise RunError(
            f"column {value.column!r} has the values {first!r} and {others[0]!r} in one run (expected"
            f" one {field} per run)",
            at=table.file,
            fix="name the column that separates the runs: `run: {column: NAME}`",
        )
    return first


def _seed(table: ForeignTable, column_map: ColumnMap) -> int | None:
    if not isinstance(column_map.seed, FileColumn):
        return column_map.seed
    _constant(table, column_map.seed, "seed")
    return int(table.numbers(column_map.seed.column, "the seed of the run")[0])


def _with_role(key: str, role: str) -> str:
    """Returns the key with the role as its scope, if it has no role and is not about all roles."""
    scopes, name = split_key(key)
    shared = name.partition("/")[0] in SHARED_SECTIONS and name != WON and not scopes
    if not role or shared or len(scopes) > 1 or (scopes and scopes != ("eval",)):
        return key
    # the env steps of an evaluated version are those of all roles
    if name == ENV_STEPS:
        return key
    return evaluation_column(name, role) if scopes else role_column(name, role)


def _join(parts: Sequence[dict[str, Array]]) -> dict[str, Array]:
    """Returns the columns of all parts on the env steps of any part; NaN where a part has no row."""
    if len(parts) == 1:
        return parts[0]
    steps = np.unique(np.concatenate([part[ENV_STEPS] for part in parts]))
    found: dict[str, Array] = {ENV_STEPS: steps}
    for part in parts:
        at = np.searchsorted(steps, part[ENV_STEPS])
        for name, values in part.items():
            if name != ENV_STEPS:
                column = found.setdefault(name, np.full(len(steps), np.nan))
                column[at] = np.where(np.isnan(values), column[at], values)
    return found


def _meaning(key: str) -> str:
    """Returns what a metric is, in words."""
    name = split_key(key)[1]
    if name in MATCH_COLUMNS:
        return MATCH_COLUMNS[name]
    if name.startswith("env/"):
        return "a number of the environment"
    return metric_for_key(key).description.rstrip(".")


def require_distinct_runs(runs: Iterable[MonitoredRun]) -> None:
    """Raises RunError if two files have a run with the same id."""
    seen: dict[str, MonitoredRun] = {}
    for run in runs:
        if run.run in seen:
            raise RunError(
                f"run {run.run!r} is also in {seen[run.run].sources[0]} (expected one file per run)",
                at=run.sources[0],
                fix="name the column with the run in the map (`run: {column: NAME}`), or rename a file",
            )
        seen[run.run] = run
