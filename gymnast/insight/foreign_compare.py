"""Comparison with runs that other programs made: on env steps, and only like with like.

Gymnast scores a run by evaluations of the deterministic policy on fixed seeds. Most programs log only the
returns of training episodes, whose actions are sampled. If a foreign run has no evaluations, the training
returns of all runs are compared.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from gymnast.errors import GymnastError, UsageError
from gymnast.foreign.hyperparameters import LOGGED
from gymnast.foreign.libraries import OWN
from gymnast.foreign.run import RETURN, ForeignRun
from gymnast.insight.compare import (
    FOREIGN,
    ComparedRun,
    Comparison,
    SettingDifference,
    plain_setting,
    shared_range,
    summarize_run,
)
from gymnast.insight.foreign_record import ScoreKind
from gymnast.insight.groups import join_sides
from gymnast.insight.mean_curve import EvaluationCurve
from gymnast.insight.sides import MixedSide
from gymnast.runs.curve import (
    RETURN_KEY,
    SCORED_STEPS_KEY,
    Row,
    area,
    curve_of,
    read_evaluation_rows,
    read_rows,
    summarize_learning,
)
from gymnast.runs.run import Run
from gymnast.runs.summary import Learning
from gymnast.settings import view_clock

STEPS, SECONDS = "clock/env_steps", "clock/seconds"
"""The default clock of a comparison, which foreign runs do not have."""


def compare_mixed(sides: Sequence[MixedSide], x: str) -> Comparison:
    """Returns the comparison of sides of which at least one has a foreign run. Instead of the default clock,
    env steps are used. Raises UsageError for a clock that a foreign run does not have."""
    sides = _with_distinct_ids(sides)
    runs = [run for side in sides for run in side.runs]
    foreign = [run for run in runs if isinstance(run, ForeignRun)]
    axis = _axis(x, foreign)
    kind: ScoreKind = "evaluation" if all(run.is_evaluated for run in foreign) else "training"
    records = [_records(run, kind) for run in runs]
    span = shared_range([curve_of(rows, axis)[0] for rows in records])
    summaries = [
        _summary(run, rows, axis, span, kind) for run, rows in zip(runs, records, strict=True)
    ]
    differences, unknown, problem = config_differences(runs)
    comparison = Comparison(
        axis,
        span,
        summaries,
        differences,
        problem,
        config_unknown=unknown,
        score_kind=kind,
        notes=_notes(runs, foreign, kind, x, axis),
    )
    return join_sides(sides, comparison, records)


def _with_distinct_ids(sides: Sequence[MixedSide]) -> list[MixedSide]:
    """Returns the sides, with the path as the id of foreign runs whose folders have the same name."""
    times = Counter(run.id for side in sides for run in side.runs)
    return [
        replace(
            side,
            runs=tuple(
                replace(run, id=run.path)
                if isinstance(run, ForeignRun) and times[run.id] > 1
                else run
                for run in side.runs
            ),
        )
        for side in sides
    ]


def config_differences(
    runs: Sequence[Run | ForeignRun],
) -> tuple[list[SettingDifference], list[str], str | None]:
    """Returns the settings of gymnast that all runs record and that differ; the settings that only some
    record; and the reason why the configs cannot be compared, if they cannot."""
    from gymnast.config.serialize import flat_values
    from gymnast.insight.settings import configs_in_use

    try:
        own = iter(configs_in_use([run for run in runs if isinstance(run, Run)]))
    except GymnastError as error:
        return [], [], str(error)
    settings = [
        _recorded(run) if isinstance(run, ForeignRun) else flat_values(next(own)) for run in runs
    ]
    foreign = [run for run in runs if isinstance(run, ForeignRun)]
    expected = {key for run in foreign for key in (*run.settings, *run.library.hyperparameters)}
    if all(run.library.name == OWN for run in foreign):
        # Other libraries have no counterpart of most settings.
        expected |= {key for one in settings for key in one}
    known = [key for key in expected if all(key in one for one in settings)]
    rows = [
        SettingDifference(key, [plain_setting(one[key]) for one in settings])
        for key in sorted(known)
    ]
    differing = [row for row in rows if any(value != row.values[0] for value in row.values)]
    problem = None if known else "no setting is recorded by all runs"
    return differing, sorted(expected - {*known}), problem


def _recorded(run: ForeignRun) -> dict[str, object]:
    """Returns the settings of a foreign run without numbers that changed during training: they belong to a
    schedule that is not recorded."""
    changed = {
        setting
        for setting, key in LOGGED.items()
        if len({row[key] for row in run.rows if key in row}) > 1
    }
    return {
        key: value
        for key, value in run.settings.items()
        if key not in changed or isinstance(value, str)  # gymnast's own tracker stores schedules
    }


def _axis(x: str, foreign: Sequence[ForeignRun]) -> str:
    if not x:
        return "env_steps"  # what every program records
    x = view_clock(x)
    lacking = [run.path for run in foreign if not all(f"clock/{x}" in row for row in run.rows)]
    if lacking:
        problem = f"{lacking[0]} does not record {x}, so it cannot be the x axis of the comparison"
        raise UsageError(problem, fix="use env_steps")
    return x


def _records(run: Run | ForeignRun, kind: ScoreKind) -> list[Row]:
    """Returns the rows of a run as comparisons read them: returns of evaluations or, if those of training are
    compared, training returns in their place."""
    if kind == "evaluation":
        rows = list(run.rows) if isinstance(run, ForeignRun) else read_evaluation_rows(run)
        return [_with_seconds(row) for row in rows]
    rows = list(run.rows) if isinstance(run, ForeignRun) else read_rows(run)
    clocks = [{key: v for key, v in row.items() if key.startswith("clock/")} for row in rows]
    return [
        _with_seconds(clock)
        | {SCORED_STEPS_KEY: row[STEPS], RETURN_KEY: row[RETURN], RETURN: row[RETURN]}
        for row, clock in zip(rows, clocks, strict=True)
        if RETURN in row
    ]


def _with_seconds(row: Row) -> Row:
    return {SECONDS: math.nan, **row}


def _summary(
    run: Run | ForeignRun,
    rows: Sequence[Row],
    x: str,
    span: tuple[float, float] | None,
    kind: ScoreKind,
) -> ComparedRun:
    """Returns the summary of one run over the clock `x`, with the area within `span`."""
    xs, ys = curve_of(rows, x)
    final, best = ys[-1] if ys else None, max(ys, default=None)
    if not isinstance(run, ForeignRun):
        own = summarize_run(run, rows, x, span)
        if kind == "evaluation":
            return own
        return replace(own, final=final, best=best, learning=_learning(rows, own.threshold))
    reached = (
        at for at, y in zip(xs, ys, strict=True) if run.threshold is not None and y >= run.threshold
    )
    seconds = rows[-1][SECONDS] if rows else math.nan
    clocks: dict[str, int | float] = {"env_steps": run.env_steps}
    return ComparedRun(
        id=run.id,
        name="",
        preset=run.library.title,
        env=run.env,
        seed=run.seed,
        status=FOREIGN,
        solved=None,
        score=None,
        final=final,
        best=best,
        threshold=run.threshold,
        clocks=clocks | ({"seconds": seconds} if math.isfinite(seconds) else {}),
        area=area((xs, ys), *span) if span else None,
        learning=_learning(rows, run.threshold),
        threshold_at=next(reached, None),
        curve=EvaluationCurve(xs, ys),
    )


def _learning(rows: Sequence[Row], threshold: float | None) -> Learning | None:
    found = summarize_learning(rows, threshold, None)
    seconds = None if found is None else found.seconds_to_threshold
    if found is None or seconds is None or math.isfinite(seconds):
        return found
    return replace(found, seconds_to_threshold=None)


def _notes(
    runs: Sequence[Run | ForeignRun],
    foreign: Sequence[ForeignRun],
    kind: ScoreKind,
    asked: str,
    axis: str,
) -> list[str]:
    """Returns what cannot be compared, or only with care, as sentences."""
    notes: list[str] = []
    if kind == "training":
        without = ", ".join(dict.fromkeys(run.path for run in foreign if not run.is_evaluated))
        notes.append(
            "training returns are compared (sampled actions, mean over the last 100 episodes), because"
            f" {without} has no evaluations; scores of evaluations are not used"
        )
    else:
        notes += [
            f"{run.path}: evaluations by {run.library.title}; its files record neither their seeds nor their"
            " number of episodes"
            for run in foreign
        ]
        if len(foreign) < len(runs):
            notes.append(
                "runs of gymnast: evaluations on fixed seeds; a difference may be due to that"
            )
    if asked != axis:
        notes.append(f"the x axis is {axis}, because foreign runs do not record {asked}")
    unknown = [run.path for run in foreign if not run.env]
    notes += [f"{path}: its environment is unknown (--env ENV)" for path in unknown]
    notes += [f"{run.path}: {problem}" for run in foreign for problem in run.problems]
    return [*notes, "of the configs, only settings that all runs record are compared"]
