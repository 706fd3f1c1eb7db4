"""Comparison of runs: scores, the area under the evaluation curve, and differences of the configs.

Every run keeps its own x values; areas are computed over the range that all curves cover.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from gymnast.errors import GymnastError
from gymnast.insight.foreign_record import ScoreKind
from gymnast.insight.improvement import Improvement, MeanInterval
from gymnast.insight.mean_curve import EvaluationCurve, MeanCurve
from gymnast.metrics.score import RunScore, best_mean
from gymnast.runs.curve import (
    Row,
    area,
    curve_of,
    learning_so_far,
    lower_bounds,
    own_evaluations,
    read_evaluation_rows,
)
from gymnast.runs.doubts import doubt_texts
from gymnast.runs.info import branch_point
from gymnast.runs.run import Run, derived_status
from gymnast.runs.summary import Learning, run_score
from gymnast.settings import view_clock

"""Clocks that can be the x axis, the default first."""
FOREIGN = "foreign"
"""Status of a run that another program made."""
Plain = bool | int | float | str | None
"""The value of a setting, as text if it is not a plain value."""


@dataclass(frozen=True)
class ComparedRun:
    id: str
    name: str
    preset: str
    env: str
    """Id of the environment; empty if that of a foreign run is unknown."""
    seed: int | None
    """None if that of a foreign run is unknown."""
    status: str
    """Its status; `foreign` if another program made it."""
    solved: bool | None
    score: RunScore | None
    final: float | None
    """The score of a finished run; otherwise the mean return of its latest evaluation. The last training
    return, if training returns are compared (`Comparison.score_kind`). The evaluations of its parent do not
    count for a branch."""
    best: float | None
    """The highest mean return of an evaluation, or the score if that is higher; or the highest training
    return."""
    threshold: float | None
    clocks: dict[str, int | float]
    area: float | None
    """Mean height of the curve over the range that all curves cover; None without such a range."""
    learning: Learning | None
    threshold_at: float | None
    """Position at which the lower bound of an evaluation first reached the threshold."""
    curve: EvaluationCurve

    @property
    def label(self) -> str:
        return f"{self.id} {self.name or self.preset}"


@dataclass(frozen=True)
class ComparedGroup:
    """The statistics over the seeds of one side of a comparison. Returns of several environments are on
    different scales: then score, IQM, best and area are None and the curve is empty."""

    name: str
    """The name of the group as the user gave it, or the id of the run."""
    preset: str
    envs: list[str]
    """Environments of the runs."""
    members: list[str]
    """Ids of the runs."""
    runs: int
    """Number of seeds."""
    scored: int
    """Number of seeds whose `final` is in score and IQM: the finished ones or, if `provisional`, every one
    with an evaluation."""
    provisional: bool
    """Whether no run has finished, so that `final` is the latest evaluation of each."""
    solved: int
    score: MeanInterval | None
    """Mean of `final`."""
    iqm: MeanInterval | None
    """Interquartile mean of `final`, as in rliable."""
    best: MeanInterval | None
    """Mean of `best`."""
    area: MeanInterval | None
    reached: int
    """Number of seeds that reached the threshold."""
    steps_to_threshold: MeanInterval | None
    """Mean over the seeds that reached it."""
    seconds_to_threshold: MeanInterval | None
    """Mean over the seeds that reached it."""
    curve: MeanCurve
    """The mean curve, with its 95 % band."""


@dataclass(frozen=True)
class PartCurve(MeanCurve):
    """The curve of one side of a comparison."""

    name: str
    """Name of the side."""


@dataclass(frozen=True)
class ComparedPart:
    """The evaluation curves of one role, or of one task."""

    name: str
    """Name of the role or task."""
    key: str
    """The metric, such as `eval/seeker:match/win_rate`."""
    curves: list[PartCurve]
    """One curve per side that recorded the metric."""


@dataclass(frozen=True)
class SettingDifference:
    key: str
    values: list[Plain]
    """The value of each run or, if groups are compared, of each group."""


@dataclass(frozen=True)
class Comparison:
    x: str
    """The clock on the x axis of the curves."""
    range: tuple[float, float] | None
    """The positions that all curves cover; None if there are none."""
    runs: list[ComparedRun]
    config: list[SettingDifference]
    config_problem: str | None
    """The reason why the configs cannot be compared."""
    config_unknown: list[str] = field(default_factory=list[str])
    """Settings that some runs do not record, so that they may differ."""
    groups: list[ComparedGroup] = field(default_factory=list[ComparedGroup])
    """Statistics over seeds of each side, if one of the sides is a group."""
    improvements: list[Improvement] = field(default_factory=list[Improvement])
    """The comparison of every pair of sides; if there are more than 12 sides, each is compared only with the
    first."""
    parts: list[ComparedPart] = field(default_factory=list[ComparedPart])
    """Evaluation curves per role and per task, for runs that have several."""
    score_kind: ScoreKind = "evaluation"
    """The kind of return that `final`, `best`, `area` and the curves are about. Training returns, of
    sampled actions, are compared if a foreign run has no evaluations."""
    notes: list[str] = field(default_factory=list[str])
    """Remarks on what cannot be compared, or only with care."""


def compare(
    runs: Sequence[Run], x: str = "", records: Sequence[Sequence[Row]] | None = None
) -> Comparison:
    """Returns the summaries, curves and config differences of runs, over the clock `x`. `records`: the rows
    of each run, by default read from it."""
    x = view_clock(x)
    if records is None:
        records = [read_evaluation_rows(run) for run in runs]
    span = shared_range([curve_of(rows, x)[0] for rows in records])
    differences, problem = config_differences(runs)
    summaries = [summarize_run(run, rows, x, span) for run, rows in zip(runs, records, strict=True)]
    return Comparison(x, span, summaries, differences, problem)


def shared_range(axes: Sequence[Sequence[float]]) -> tuple[float, float] | None:
    """Returns the x range that all curves cover; None if there is none."""
    if not axes or any(len(xs) < 2 for xs in axes):
        return None
    # A longer run must not win by its later, better evaluations alone.
    low, high = max(xs[0] for xs in axes), min(xs[-1] for xs in axes)
    return (low, high) if low < high else None


def config_differences(runs: Sequence[Run]) -> tuple[list[SettingDifference], str | None]:
    """Returns the settings that differ between runs, with the value in each run, including live changes; or
    else the reason why the configs cannot be read."""
    from gymnast.config.resolve import diff
    from gymnast.insight.settings import configs_in_use

    try:
        configs = configs_in_use(runs)
    except GymnastError as error:
        return [], str(error)
    # Compared with the first run; a key that differs in any of the others gets a column of all values.
    first, *others = configs
    columns: dict[str, list[Plain]] = {}
    for index, other in enumerate(others, start=1):
        for key, mine, theirs in diff(first, other):
            columns.setdefault(key, [plain_setting(mine)] * len(runs))[index] = plain_setting(
                theirs
            )
    return [SettingDifference(key, values) for key, values in columns.items()], None


def summarize_run(
    run: Run, rows: Sequence[Row], x: str, span: tuple[float, float] | None
) -> ComparedRun:
    """Returns the summary of one run, with its curve over the clock `x` and the area under it within
    `span`."""
    info = run.info
    status = derived_status(run.path, info)
    xs, ys = curve = curve_of(rows, x)
    goal, score = info["threshold"], run_score(info)
    counted = own_evaluations(curve_of(rows, "env_steps")[0], branch_point(info))
    own = ys[counted]
    bounds = zip(xs[counted], lower_bounds(rows)[counted], strict=True)
    # The lower bound, not the mean: the same criterion as for a solved run.
    reached = (x for x, low in bounds if goal is not None and low >= goal)
    return ComparedRun(
        id=info["id"],
        name=info["name"],
        preset=info["preset"],
        env=info["env"],
        seed=info["seed"],
        status=status,
        solved=info["solved"] and not doubt_texts(info),
        score=score,
        final=score.mean if score and status == "finished" else own[-1] if own else None,
        best=best_mean(own, score),
        threshold=goal,
        clocks=info["clocks"],
        area=area(curve, *span) if span else None,
        learning=learning_so_far(run, rows),
        threshold_at=next(reached, None),
        curve=EvaluationCurve(xs, ys),
    )


def plain_setting(value: object) -> Plain:
    """Returns the value of a setting, as text if it is not a plain value."""
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)
