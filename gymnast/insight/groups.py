"""Comparison of groups of seeds: statistics over seeds, mean curves, which is better, config differences.

A single run may be on either side; it counts as a group of one and has no interval over seeds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import TypeVar

from gymnast.insight.compare import (
    FOREIGN,
    ComparedGroup,
    ComparedPart,
    ComparedRun,
    Comparison,
    PartCurve,
    SettingDifference,
    compare,
)
from gymnast.insight.improvement import MeanInterval, SideScores, improvements, over_seeds
from gymnast.insight.mean_curve import mean_curve
from gymnast.insight.sides import ComparisonSide, MixedSide
from gymnast.metrics.score import comparable
from gymnast.metrics.specs import split_key
from gymnast.runs.curve import SCORED_STEPS_KEY, Row, curve_of, read_evaluation_rows

T = TypeVar("T")
AnySide = ComparisonSide | MixedSide

VARIES = "(varies)"
"""Displayed as the value of a setting that differs between the seeds of a group."""
PART_METRICS = ("episode/return", "match/win_rate")
"""Metrics whose evaluation curves are compared per role and per task."""


def compare_sides(sides: Sequence[ComparisonSide], x: str) -> Comparison:
    """Returns the comparison of all runs and which side is better; if one of the sides is a group, with the
    statistics over the seeds of each side."""
    runs = [run for side in sides for run in side.runs]
    records = [read_evaluation_rows(run) for run in runs]
    return join_sides(sides, compare(runs, x, records), records)


def join_sides(
    sides: Sequence[AnySide], comparison: Comparison, records: Sequence[Sequence[Row]]
) -> Comparison:
    """Returns the comparison of single runs with the statistics of their sides. `records`: the rows of each
    run."""
    # Runs and rows are flat, in the order of the sides; they are split by side here.
    summaries = _split(comparison.runs, sides)
    scores = [_scores(side, own) for side, own in zip(sides, summaries, strict=True)]
    comparison = replace(
        comparison,
        improvements=improvements(scores),
        parts=_parts(sides, _split(records, sides), comparison.x),
    )
    if not any(side.is_group for side in sides):
        return comparison
    groups = [_summary(*of_side) for of_side in zip(sides, summaries, scores, strict=True)]
    return replace(comparison, groups=groups, config=_by_side(comparison.config, sides))


def _split(values: Sequence[T], sides: Sequence[AnySide]) -> list[list[T]]:
    """Returns the values of all runs, one list per side."""
    remaining = iter(values)
    return [[next(remaining) for _ in side.runs] for side in sides]


def _scores(side: AnySide, runs: Sequence[ComparedRun]) -> SideScores:
    """Returns the final scores of the runs of a side by environment, and their other measures."""
    by_env: dict[str, list[float]] = {}
    counted = _scored(runs)
    for run in counted:
        if run.final is not None:
            by_env.setdefault(run.env, []).append(run.final)
    # A run that has not finished is compared by its latest evaluation.
    caveats = (run.score.caveat for run in counted if run.score and _has_finished(run))
    learning = [run.learning for run in runs]
    measures: dict[str, list[float | None]] = {
        "best": [run.best for run in runs],
        "area": [run.area for run in runs],
        "steps_to_threshold": [own and own.steps_to_threshold for own in learning],
        "seconds_to_threshold": [own and own.seconds_to_threshold for own in learning],
    }
    return SideScores(side.name, by_env, measures, max(caveats, key=len, default=""))


def _scored(runs: Sequence[ComparedRun]) -> list[ComparedRun]:
    """Returns the runs that count: all that finished with a score, since a partial training would bias the
    statistics, and of these the comparable ones (`metrics.score`); if none finished, all with an
    evaluation."""
    finished = [run for run in runs if _has_finished(run)]
    counted = comparable(run.score for run in finished if run.score)
    return [run for run in finished if not run.score or run.score in counted] or [
        run for run in runs if run.final is not None
    ]


def _has_finished(run: ComparedRun) -> bool:
    # whether a foreign run finished is unknown; all of it counts
    return run.status == FOREIGN or (run.status == "finished" and run.score is not None)


def _summary(side: AnySide, runs: Sequence[ComparedRun], scores: SideScores) -> ComparedGroup:
    """Returns the statistics of one side. `runs` and `scores`: those of its runs."""
    from gymnast.rl.seed_statistics import iqm

    envs = sorted({run.env for run in runs})
    finals = [score for values in scores.by_env.values() for score in values]
    # Returns of several environments are on different scales, and have no mean.
    same_scale, on_one_scale = (runs, finals) if len(envs) == 1 else ([], [])
    learned = [run.learning for run in runs if run.learning]
    return ComparedGroup(
        name=side.name,
        preset=" or ".join(dict.fromkeys(run.preset for run in runs)),
        envs=envs,
        members=[run.id for run in runs],
        runs=len(runs),
        scored=len(finals),
        provisional=bool(finals) and not any(map(_has_finished, runs)),
        solved=sum(run.solved is True for run in runs),
        score=over_seeds(on_one_scale),
        iqm=over_seeds(on_one_scale, iqm),
        best=_over_known([run.best for run in same_scale]),
        area=_over_known([run.area for run in same_scale]),
        reached=sum(learning.steps_to_threshold is not None for learning in learned),
        steps_to_threshold=_over_known([learning.steps_to_threshold for learning in learned]),
        seconds_to_threshold=_over_known([learning.seconds_to_threshold for learning in learned]),
        curve=mean_curve((run.curve.x, run.curve.y) for run in same_scale),
    )


def _over_known(values: Sequence[float | None]) -> MeanInterval | None:
    return over_seeds([value for value in values if value is not None])


def _parts(
    sides: Sequence[AnySide], records: Sequence[Sequence[Sequence[Row]]], x: str
) -> list[ComparedPart]:
    """Returns the evaluation curves of every role and task over the clock `x`. `records`: the rows of each
    run of each side."""
    evaluated = (
        row for side in records for rows in side for row in rows if SCORED_STEPS_KEY in row
    )
    keys = dict.fromkeys(key for row in evaluated for key in row)
    parts: list[ComparedPart] = []
    for key in keys:
        scopes, name = split_key(key)
        if len(scopes) != 2 or scopes[0] != "eval" or name not in PART_METRICS:
            continue
        curves: list[PartCurve] = []
        for side, of_side in zip(sides, records, strict=True):
            curve = mean_curve(curve_of(rows, x, key) for rows in of_side)
            if curve.x:
                curves.append(PartCurve(**asdict(curve), name=side.name))
        parts.append(ComparedPart(scopes[1], key, curves))
    return parts


def _by_side(
    by_run: Sequence[SettingDifference], sides: Sequence[AnySide]
) -> list[SettingDifference]:
    """Returns the settings that differ between the sides or within a side, except for the seed. `by_run`:
    with the value of each run."""
    by_side: list[SettingDifference] = []
    for entry in by_run:
        parts = _split(entry.values, sides)
        shared = [part[0] if all(v == part[0] for v in part) else VARIES for part in parts]
        if entry.key != "seed":
            by_side.append(SettingDifference(entry.key, shared))
    return by_side
