"""Comparison of runs: scores, the area under the evaluation curve, and differences of the configs.

Every run keeps its own x values; areas are computed over the range that all curves cover.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from gymnast.errors import GymnastError, UsageError
from gymnast.runs.curve import (
    Row,
    area,
    curve_of,
    learning_so_far,
    lower_bounds,
    read_evaluation_rows,
)
from gymnast.runs.run import Run, derived_status
from gymnast.runs.summary import Learning, RunScore

AXES = ("vec_steps", "env_steps", "updates", "seconds")
"""Clocks that can be the x axis, the default first."""
Plain = bool | int | float | str | None
"""The value of a setting, as text if it is not a plain value."""


@dataclass(frozen=True)
class EvaluationCurve:
    x: list[float]
    """Positions on the clock of the comparison."""
    y: list[float]
    """Mean returns."""


@dataclass(frozen=True)
class ComparedRun:
    id: str
    name: str
    preset: str
    seed: int
    status: str
    solved: bool | None
    score: RunScore | None
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
class MeanInterval:
    """A mean over seeds with its 95 % confidence interval, which a single seed does not have."""

    mean: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class ComparedGroup:
    """The means over the seeds of one side of a comparison."""

    name: str
    """The name of the group as the user gave it, or the id of the run."""
    preset: str
    runs: int
    """Number of seeds."""
    scored: int
    solved: int
    score: MeanInterval | None
    iqm: float | None
    area: MeanInterval | None
    reached: int
    """Number of seeds that reached the threshold."""
    steps_to_threshold: MeanInterval | None
    """Mean over the seeds that reached it."""
    curve: EvaluationCurve
    """The mean curve."""


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
    groups: list[ComparedGroup] = field(default_factory=list[ComparedGroup])
    """Means over seeds, if one of the sides is a group."""
    difference: MeanInterval | None = None
    """Mean score of the first of two groups minus that of the second."""


def compare(runs: Sequence[Run], x: str = AXES[0]) -> Comparison:
    """Returns the summaries, curves and config differences of runs, over the clock `x`. Raises UsageError
    unless `x` is one of AXES."""
    if x not in AXES:
        raise UsageError(
            f"{x!r} cannot be the x axis of a comparison", fix=f"use {', '.join(AXES)}"
        )
    records = [read_evaluation_rows(run) for run in runs]
    span = shared_range([curve_of(rows, x)[0] for rows in records])
    differences, problem = config_differences(runs)
    summaries = [_summary(run, rows, x, span) for run, rows in zip(runs, records, strict=True)]
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
    from gymnast.insight.settings import settings_in_use

    try:
        configs = [settings_in_use(run)[0] for run in runs]
    except GymnastError as error:
        return [], str(error)
    # Compared with the first run; a key that differs in any of the others gets a column of all values.
    first, *others = configs
    columns: dict[str, list[Plain]] = {}
    for index, other in enumerate(others, start=1):
        for key, mine, theirs in diff(first, other):
            columns.setdefault(key, [_plain(mine)] * len(runs))[index] = _plain(theirs)
    return [SettingDifference(key, values) for key, values in columns.items()], None


def _summary(
    run: Run, rows: Sequence[Row], x: str, span: tuple[float, float] | None
) -> ComparedRun:
    """Returns the summary of one run, with its curve over the clock `x` and the area under it within
    `span`."""
    info = run.info
    xs, ys = curve = curve_of(rows, x)
    goal, score = info["threshold"], info["score"]
    lows = lower_bounds(rows)
    # The lower bound, not the mean: the same criterion as for a solved run.
    reached = (x for x, low in zip(xs, lows, strict=True) if goal is not None and low >= goal)
    return ComparedRun(
        id=info["id"],
        name=info["name"],
        preset=info["preset"],
        seed=info["seed"],
        status=derived_status(run.path, info),
        solved=info["solved"],
        score=None if score is None else RunScore.from_info(score),
        threshold=goal,
        clocks=info["clocks"],
        area=area(curve, *span) if span else None,
        learning=learning_so_far(run, rows),
        threshold_at=next(reached, None),
        curve=EvaluationCurve(xs, ys),
    )


def _plain(value: object) -> Plain:
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)
