"""Makes rows of gymnast from what a program logged: one row per number of env steps, ordered by them."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from statistics import fmean, pstdev

from gymnast.errors import RunError
from gymnast.foreign.libraries import EVAL_RETURN, EVAL_STEPS, ForeignMetric, Library
from gymnast.foreign.log import ENV_STEPS, Logged
from gymnast.foreign.run import RETURN, Row

WINDOW = 100
"""Number of the last episodes that the return of a row is the mean of, as in gymnast and in SB3."""
EPISODE_ROWS = 100
"""Number of rows of a run that logged nothing but episodes."""
SECONDS, ROLLOUTS = "clock/seconds", "clock/rollouts"


@dataclass(frozen=True)
class _Moment:
    """Everything that was logged at one number of env steps."""

    env_steps: float
    time: float | None
    values: Row = field(default_factory=Row)
    """Key of gymnast -> value."""
    episodes: Mapping[str, list[float]] = field(default_factory=dict[str, list[float]])
    """Key of gymnast -> values of the episodes that ended here."""


def make_rows(logged: Sequence[Logged], library: Library, at: str) -> list[Row]:
    """Returns the rows of a run. `at`: its files, for messages. Raises RunError if nothing that was logged
    has a metric and a number of env steps."""
    known = [entry for entry in logged if any(name in library.metrics for name in entry.values)]
    timed = [(steps, entry) for entry in known if (steps := _env_steps(entry, library)) is not None]
    if known and not timed:
        raise RunError(
            f"has no env steps: none of {', '.join(library.env_steps)} was logged with the metrics",
            at=at,
            fix="name the metric with the env steps in a column map (--map FILE, docs/foreign-runs.md)",
        )
    timed.sort(key=lambda pair: pair[0])  # stable: what was logged later replaces earlier values
    moments = [
        _moment(steps, [entry for _, entry in entries], library)
        for steps, entries in groupby(timed, key=lambda pair: pair[0])
    ]
    rows = list(_rows(moments))
    _add_seconds(rows, moments)
    return rows


def _env_steps(entry: Logged, library: Library) -> float | None:
    for name in library.env_steps:
        if math.isfinite(value := entry.values.get(name, math.nan)):
            return value
    return entry.step if library.step_is_env_steps else None


def _moment(steps: float, entries: Iterable[Logged], library: Library) -> _Moment:
    values: Row = {}
    episodes: dict[str, list[float]] = {}
    time = None
    for entry in entries:
        time = entry.time if entry.time is not None else time
        for name, value in entry.values.items():
            metric = library.metrics.get(name)
            if metric is None or (metric.nan_is_missing and math.isnan(value)):
                continue
            if metric.per_episode:
                episodes.setdefault(metric.key, []).append(_converted(metric, value))
            else:
                values[metric.key] = _converted(metric, value)
    return _Moment(steps, time, values, episodes)


def _converted(metric: ForeignMetric, value: float) -> float:
    return metric.convert(value) if math.isfinite(value) else value


def _rows(moments: Sequence[_Moment]) -> Iterator[Row]:
    """Yields a row per moment with other metrics than those of episodes; if there is none, about EPISODE_ROWS
    rows at the ends of episodes."""
    ends = {i for i, moment in enumerate(moments) if moment.values}
    if not ends and moments:
        last = moments[-1].env_steps
        parts = [int(EPISODE_ROWS * m.env_steps / max(last, 1)) for m in moments]
        ends = {i for i, part in enumerate(parts) if i + 1 == len(parts) or part != parts[i + 1]}
    recent: dict[str, deque[float]] = {}
    updates = 0.0
    has_returns = any(RETURN in moment.values for moment in moments)
    for i, moment in enumerate(moments):
        for key, values in moment.episodes.items():
            recent.setdefault(key, deque(maxlen=WINDOW)).extend(values)
        if i not in ends:
            continue
        is_evaluation = bool(moment.values) and all(":" in key for key in moment.values)
        # SB3 dumps the metrics of an update with the next evaluation, if there is one before the next rollout
        is_rollout = RETURN in moment.values if has_returns else not is_evaluation
        updates = moment.values.get(ROLLOUTS, updates + is_rollout)
        row: Row = {ENV_STEPS: moment.env_steps, ROLLOUTS: updates}
        row |= {} if is_evaluation else _episode_values(recent)
        row |= moment.values
        if EVAL_RETURN in row:
            row.setdefault(EVAL_STEPS, moment.env_steps)
        yield row


def _episode_values(recent: Mapping[str, Sequence[float]]) -> Row:
    """Returns the statistics over the last WINDOW episodes."""
    found = {key: fmean(values) for key, values in recent.items()}
    if (returns := recent.get(RETURN)) is not None:
        found |= {"episode/return_std": pstdev(returns), "episode/count": float(len(returns))}
    return found


def _add_seconds(rows: Sequence[Row], moments: Sequence[_Moment]) -> None:
    """Adds the seconds since the first value that was logged, and the speed since the row before, if the file
    has times and no such metrics."""
    times = {moment.env_steps: moment.time for moment in moments}
    if any(time is None for time in times.values()) or any(SECONDS in row for row in rows):
        return
    start = min(time for time in times.values() if time is not None)
    before: tuple[float, float] | None = None
    for row in rows:
        steps, seconds = row[ENV_STEPS], (times[row[ENV_STEPS]] or start) - start
        row[SECONDS] = seconds
        if before is not None and seconds > before[1]:
            row.setdefault("speed/env_steps", (steps - before[0]) / (seconds - before[1]))
        before = (steps, seconds)
