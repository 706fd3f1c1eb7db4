"""A comparison of runs as text, for the terminal and for reviews."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gymnast.insight.compare import Comparison
    from gymnast.insight.improvement import Improvement, MeanInterval, MeasureDifference
    from gymnast.insight.mean_curve import EvaluationCurve
    from gymnast.runs.summary import Learning

MAX_SETTING = 36
"""Largest number of characters of a setting's value in the table of differences."""


def comparison_page(comparison: Comparison) -> str:
    """Formats a comparison: statistics of groups, chart of the curves, runs, config differences."""
    runs, chart = _runs(comparison), comparison_chart(comparison)
    parts = [seeds_text(comparison), chart, runs] if comparison.groups else [runs, chart]
    parts.append(settings_text(comparison))
    if comparison.notes:
        parts.append("\n".join(f"note: {note}" for note in comparison.notes))
    return "\n\n".join(parts)


def scores_text(comparison: Comparison) -> str:
    """Returns the tables of runs and, if there are groups of seeds, of their statistics."""
    groups = [seeds_text(comparison)] if comparison.groups else []
    return "\n\n".join([*groups, _runs(comparison)])


def seeds_text(comparison: Comparison) -> str:
    """Returns the statistics over seeds of each side, and which side is better by more than noise."""
    pairs = [_improvements(comparison)] if comparison.improvements else []
    return "\n\n".join([_groups(comparison), *pairs])


def comparison_chart(comparison: Comparison, *, width: int = 72, height: int = 16) -> str:
    """Draws the evaluation curves of a comparison in one chart, as text; `width` and `height` are
    in characters. Groups of seeds have one mean curve each."""
    curves: dict[str, EvaluationCurve] = {group.name: group.curve for group in comparison.groups}
    curves = curves or {run.label: run.curve for run in comparison.runs}
    from gymnast.text.chart import line_chart

    series = {name: (curve.x, curve.y) for name, curve in curves.items()}
    return line_chart(series, width=width, height=height, x_label=comparison.x)


def _runs(comparison: Comparison) -> str:
    """Returns two tables of the runs, scores and speed, with a note about the range of the areas and an
    explanation of the columns."""
    from gymnast.insight.page import score_text
    from gymnast.text import formatting

    by_training = comparison.score_kind == "training"
    scores = [
        (
            run.id,
            run.name,
            run.preset if run.seed is None else f"{run.preset} #{run.seed}",
            run.status,
            score_text(run.score)
            if run.status == "finished" and run.score and not by_training
            else _cell(run.final),
            _cell(run.best),
            _cell(run.area),
        )
        for run in comparison.runs
    ]
    clocks = tuple(dict.fromkeys(("env_steps", comparison.x)))
    speed = [
        (
            run.id,
            *_goal(run.learning),
            *(formatting.count(run.clocks.get(clock)) for clock in clocks if clock != "seconds"),
            formatting.duration(run.clocks.get("seconds")),
        )
        for run in comparison.runs
    ]
    head = ("id", "name", "preset", "status", "final", "best", "area")
    clock_head = tuple(clock for clock in clocks if clock != "seconds")
    speed_head = ("id", "of-goal", "goal-steps", "goal-time", *clock_head, "time")
    word = "training" if by_training else "evaluation"
    note = f"no area: the {word} curves do not overlap on this axis"
    if comparison.range:
        low, high = comparison.range
        note = f"area: mean {word} return over {low:,.0f} to {high:,.0f} {comparison.x}"
    tables = (
        formatting.table(head, scores, right="best area"),
        formatting.table(speed_head, speed, right=" ".join(speed_head[1:])),
    )
    notes = [_OF_GOAL] if comparison.groups else [_OF_GOAL, _ONE_SEED]
    final = _FINAL_TRAINING if by_training else _FINAL
    return "\n".join([tables[0], f"{final}\n{note}\n", tables[1], *notes])


def _groups(comparison: Comparison) -> str:
    """Returns two tables of the groups of seeds: their scores, and how fast they learned."""
    from gymnast.text import formatting

    def time_text(value: MeanInterval | None) -> str:
        return formatting.duration(None if value is None else value.mean)

    scores = [
        (
            group.name,
            str(group.runs) if group.scored == group.runs else f"{group.scored} of {group.runs}",
            str(group.solved),
            *map(_over_seeds, (group.iqm, group.score, group.best)),
        )
        for group in comparison.groups
    ]
    speed = [
        (
            group.name,
            group.preset,
            _over_seeds(group.area),
            f"{group.reached} of {group.runs}",
            _over_seeds(group.steps_to_threshold),
            time_text(group.seconds_to_threshold),
        )
        for group in comparison.groups
    ]
    score_head = ("group", "seeds", "solved", "IQM", "mean", "best")
    speed_head = ("group", "preset", "area", "reached", "goal-steps", "goal-time")
    notes = [
        "IQM and mean of the final scores, and means of the others, with 95 % bootstrap intervals over seeds"
    ]
    notes += [
        f"{group.name}: no run has finished, so the latest evaluations count"
        for group in comparison.groups
        if group.provisional
    ]
    notes += [
        f"{group.name}: the returns of {' and '.join(group.envs)} are on different scales and have no mean"
        for group in comparison.groups
        if len(group.envs) > 1
    ]
    return "\n".join(
        [
            formatting.table(score_head, scores, right="seeds solved"),
            "",
            formatting.table(speed_head, speed, right="reached goal-time"),
            *notes,
        ]
    )


def _improvements(comparison: Comparison) -> str:
    """Returns the table of pairs of sides: which is better, and whether by more than noise; for a single
    pair, also by its other measures."""
    from gymnast.text import formatting

    def probability(pair: Improvement) -> str:
        if pair.probability is None:
            return "-"
        if pair.low is None or pair.high is None:
            return f"{pair.probability:.2f}"
        return f"{pair.probability:.2f} [{pair.low:.2f}, {pair.high:.2f}]"

    lines = [
        (
            pair.a,
            pair.b,
            probability(pair),
            _over_seeds(pair.difference),
            pair.better or "-",
            _VERDICTS[pair.exceeds_noise],
        )
        for pair in comparison.improvements
    ]
    head = ("a", "b", "P(a > b)", "IQM of a - b", "better", "exceeds noise")
    problems = dict.fromkeys(pair.problem for pair in comparison.improvements if pair.problem)
    tables = [formatting.table(head, lines)]
    if len(comparison.improvements) == 1 and comparison.improvements[0].measures:
        measures = comparison.improvements[0].measures
        problems |= {f"{_COLUMNS[m.measure]}: {m.problem}": None for m in measures if m.problem}
        tables.append(_measures(measures))
    cautions = dict.fromkeys(
        text for pair in comparison.improvements for text in pair.caution.split("; ") if text
    )
    notes = [f"unknown: {text}" for text in problems] + [f"caution: {text}" for text in cautions]
    return "\n".join(["\n\n".join(tables), *notes])


def _measures(measures: Sequence[MeasureDifference]) -> str:
    """Returns the table of the measures of two sides other than their scores."""
    from gymnast.text import formatting

    lines = [
        (
            _COLUMNS[found.measure],
            _over_seeds(found.difference),
            found.better or "-",
            _VERDICTS[found.exceeds_noise],
        )
        for found in measures
    ]
    return formatting.table(("measure", "IQM of a - b", "better", "exceeds noise"), lines)


def _over_seeds(value: MeanInterval | None) -> str:
    from gymnast.text import formatting

    if value is None or value.low is None or value.high is None:
        return _cell(None if value is None else value.mean)
    return formatting.interval(value.mean, value.low, value.high)


def _cell(value: float | None) -> str:
    from gymnast.text import formatting

    return "-" if value is None else formatting.number(value)


_VERDICTS = {True: "yes", False: "no", None: "unknown"}
_COLUMNS = {
    "best": "best",
    "area": "area",
    "steps_to_threshold": "goal-steps",
    "seconds_to_threshold": "goal-time (s)",
}
"""Measure -> the name of its column."""
_FINAL = (
    "final: the score of a finished run, else its latest evaluation; best: the best evaluation, or the\n"
    "score if that is higher"
)
_FINAL_TRAINING = "final: the last training return; best: the highest training return"
_OF_GOAL = (
    "of-goal: area over the whole budget, 0 at the first return and 1 at the threshold; the last\n"
    "evaluation of a finished run is extended over the steps it did not use\n"
    "goal-steps, goal-time: until the lower bound of an evaluation reached the threshold"
)
_ONE_SEED = (
    "One run per side does not show whether a difference exceeds the noise between seeds: compare groups\n"
    "of seeds (gymnast train ... --seeds 5 --name NAME), or join runs with +"
)


def _goal(learning: Learning | None) -> tuple[str, str, str]:
    """Returns three cells of a run's line: area relative to the goal, env steps and time until the
    threshold was reached. `learning` is None if there was no evaluation."""
    from gymnast.text import formatting

    if learning is None:
        return "-", "-", "-"
    steps, seconds = learning.steps_to_threshold, learning.seconds_to_threshold
    return formatting.area(learning.area), formatting.count(steps), formatting.duration(seconds)


def settings_text(comparison: Comparison) -> str:
    """Returns the table of settings that differ, with a column per run or group; a sentence if
    there are none, or if the configs cannot be read."""
    from gymnast.insight.compare import FOREIGN
    from gymnast.text import formatting

    unknown = ""
    if comparison.config_unknown:
        unknown = (
            f"\nunknown, because not all runs record it: {', '.join(comparison.config_unknown)}"
        )
    if comparison.config_problem:
        return f"configs cannot be compared: {comparison.config_problem}{unknown}"
    if not comparison.config:
        # Nobody knows what other programs do not record.
        is_foreign = any(run.status == FOREIGN for run in comparison.runs)
        same = "the settings that all runs record are the same"
        return f"{same}{unknown}" if is_foreign else "the configs are identical"
    sides = [group.name for group in comparison.groups]
    head = ("config", *(sides or (run.id for run in comparison.runs)))
    lines = [(entry.key, *map(_shortened, entry.values)) for entry in comparison.config]
    return formatting.table(head, lines) + unknown


def _shortened(value: object) -> str:
    """Returns a setting as a text that fits into a table; --json and `gymnast config diff` have all of it."""
    text = str(value)
    return text if len(text) <= MAX_SETTING else f"{text[: MAX_SETTING - 3]}..."
