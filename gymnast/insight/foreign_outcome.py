"""The outcome of a foreign run: the course of its return, and whether it reached the threshold.

The files of other programs do not say how the score of a run was measured, or whether training ended as
planned. So the verdict is about the curve: of evaluations if there are enough, else of training episodes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean

from gymnast.foreign.libraries import EVAL_RETURN
from gymnast.foreign.run import RETURN, ForeignRun
from gymnast.insight.envelope import binned_means
from gymnast.insight.foreign_record import ScoreKind, Verdict
from gymnast.insight.outcome import Kind, RunOutcome
from gymnast.text import formatting

MIN_POINTS = 5
"""Number of values that a curve must have for a verdict."""
CHANCE = 3.0
"""Changes up to this many standard errors of the mean of a tenth of the curve may be chance."""
LOST = 0.5
"""A curve that has lost this share of its improvement has collapsed."""
MIN_PROGRESS = 0.05
"""A run that has come less than this share of the way to its threshold has not learned."""
RECENT = 3
"""A curve is still improving if its highest tenth is one of the last ones, this many."""
KINDS: dict[Verdict, Kind] = {
    "solved": "solved",
    "learning": "learned",
    "stalled": "failed",
    "collapsed": "failed",
    "unknown": "unknown",
}
"""Verdict -> the kind of outcome that it is for the search for causes."""


@dataclass(frozen=True)
class _Course:
    """The means of a return over tenths of the run."""

    first: float
    last: float
    best: float
    best_is_recent: bool
    chance: float
    """Differences up to this may be chance."""

    @property
    def improvement(self) -> float:
        return self.best - self.first


def foreign_outcome(run: ForeignRun) -> tuple[RunOutcome, Verdict, ScoreKind]:
    """Returns the outcome of a foreign run, the verdict about its curve, and the kind of return that both are
    about."""
    evaluations = [row[EVAL_RETURN] for row in run.rows if EVAL_RETURN in row]
    trained = [row[RETURN] for row in run.rows if RETURN in row]
    kind: ScoreKind = "evaluation" if evaluations and not trained else "training"
    key, values = (RETURN, trained) if trained else (EVAL_RETURN, evaluations)
    if len(values) < MIN_POINTS:
        number = formatting.count_noun(len(values), "value")
        text = f"it has only {number} of the return, and a verdict needs {MIN_POINTS}"
        return RunOutcome("unknown", text), "unknown", kind
    course = _course(run, key)
    verdict, text = _judge(course, run.threshold)
    reached = _reached(run, evaluations, trained)
    if run.threshold is not None and reached and verdict != "collapsed":
        score_kind: ScoreKind = "evaluation" if evaluations else "training"
        if trained and trained[0] >= run.threshold and verdict == "stalled":
            doubt = f"but the training return reached it from the first value on, and {text}"
            return RunOutcome("doubtful", f"{reached}; {doubt}"), verdict, score_kind
        return RunOutcome("solved", reached), "solved", score_kind
    text = f"the {_label(kind)} {text}{_goal(run)}"
    return RunOutcome(KINDS[verdict], text), verdict, kind


def _course(run: ForeignRun, key: str) -> _Course:
    parts = [part for part in binned_means(run.rows, key, run.env_steps) if part is not None]
    best = max(range(len(parts)), key=lambda i: parts[i])
    return _Course(
        first=parts[0],
        last=parts[-1],
        best=parts[best],
        best_is_recent=best >= len(parts) - RECENT,
        chance=_chance([row[key] for row in run.rows if key in row]),
    )


def _chance(values: Sequence[float]) -> float:
    """Returns CHANCE standard errors of the mean of a tenth of these values, from the differences of
    successive values, which a slow trend hardly changes."""
    finite = [value for value in values if math.isfinite(value)]
    steps = [b - a for a, b in pairwise(finite)]
    spread = math.sqrt(fmean(step * step for step in steps) / 2) if steps else 0.0
    return CHANCE * spread / math.sqrt(max(len(finite) / 10, 1.0))


def _judge(course: _Course, threshold: float | None) -> tuple[Verdict, str]:
    """Returns the verdict about a curve, and the numbers as the end of a clause."""
    way = 0.0 if threshold is None else max(threshold - course.first, 0.0)
    noticeable = max(course.chance, MIN_PROGRESS * way)
    first, last, best = map(formatting.number, (course.first, course.last, course.best))
    lost = course.best - course.last
    if course.improvement > noticeable and lost > max(course.chance, LOST * course.improvement):
        return "collapsed", f"rose from {first} to {best} and fell to {last}"
    if course.first - course.last > course.chance:
        return "collapsed", f"fell from {first} to {last}"
    if course.last - course.first <= noticeable:
        return "stalled", f"hardly changed: {first} at first, {last} at the end"
    if not course.best_is_recent:
        return (
            "stalled",
            f"rose from {first} to {best} and then stopped improving: {last} at the end",
        )
    return "learning", f"rose from {first} to {last}"


def _reached(run: ForeignRun, evaluations: Sequence[float], trained: Sequence[float]) -> str:
    """Returns how the run reached its threshold, as a clause; empty if it did not."""
    if run.threshold is None:
        return ""
    goal = f"the threshold {formatting.number(run.threshold)} ({run.threshold_source})"
    if evaluations:
        if evaluations[-1] < run.threshold:
            return ""
        return (
            f"the last evaluation has a mean return of {formatting.number(evaluations[-1])}, which reaches"
            f" {goal}; its confidence interval is not recorded"
        )
    if trained[-1] < run.threshold:
        return ""
    return (
        f"the training return is {formatting.number(trained[-1])} at the end, which reaches {goal}; it was"
        " measured on training episodes, not by an evaluation"
    )


def _goal(run: ForeignRun) -> str:
    if run.threshold is None:
        return "; no threshold is known (--env ENV or --threshold N)"
    return f"; the threshold is {formatting.number(run.threshold)} ({run.threshold_source})"


def _label(kind: ScoreKind) -> str:
    return "return of evaluations" if kind == "evaluation" else "training return"
