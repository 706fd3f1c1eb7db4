"""The plots of a study as data: history, parallel coordinates, slices, importance and learning curves.

One record has all of them, because they show the same trials: the studio and `gymnast sweep plot` draw it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from gymnast.config.form import setting_text
from gymnast.config.plain_value import PlainValue
from gymnast.errors import UsageError
from gymnast.insight.mean_curve import MeanCurve, mean_curve
from gymnast.sweep.decide import BASELINE, Plan
from gymnast.sweep.history import History, Measurement, Trial, seed_results
from gymnast.sweep.importance import importance
from gymnast.sweep.parameter import Choices, Parameter, Range
from gymnast.sweep.record import SweepImportance, TrialState
from gymnast.sweep.space import Space
from gymnast.sweep.standings import Standing, standings
from gymnast.sweep.state import StudyState

CURVE_POINTS = 100
"""Largest number of points of a learning curve."""


@dataclass(frozen=True)
class PlottedParameter:
    """One axis: a parameter of the space."""

    name: str
    ticks: tuple[str, ...]
    """Texts along the axis, from its start to its end: all choices, or the ends and the middle of a range."""
    positions: tuple[float, ...]
    """The place of each text, from 0 to 1."""
    is_range: bool
    """Whether every position between the ticks has a meaning."""


@dataclass(frozen=True)
class PlottedTrial:
    """One trial: a point of the history and of the slices, a line of the parallel coordinates."""

    number: int
    is_baseline: bool
    """Whether it trains the target without a change."""
    state: TrialState
    """complete: trained with the whole budget; waiting: stopped at a rung, so that its value is that of a
    shorter run and not comparable; failed: no usable result; training: no result yet."""
    value: float | None
    """Mean objective over its seeds; None without a result."""
    seeds: tuple[float | None, ...]
    """The objective of each seed."""
    best: float | None
    """The best value of a complete trial so far; None before the first."""
    positions: tuple[float | None, ...]
    """Its place on each axis from 0 to 1; None if it does not use the parameter, and for the baseline."""
    texts: tuple[str, ...]
    """Its value of each parameter; empty if it does not use it."""
    runs: tuple[str, ...]
    """Ids of its runs, by seed; none while they are unknown."""


@dataclass(frozen=True)
class PlottedCurve:
    """The learning curve of the best trial or of the baseline: its mean over seeds."""

    label: str
    trial: int
    is_baseline: bool
    is_confirmed: bool
    """Whether the runs are those of the confirmation, on seeds that did not select the trial."""
    seeds: int
    """Number of runs."""
    curve: MeanCurve
    """Mean return of the evaluations over env steps, with the 95 % band over seeds."""


@dataclass(frozen=True)
class StudyPlots:
    """All plots of a study."""

    study: str
    objective: str
    """The kind of the values: area, score, threshold or cost."""
    parameters: tuple[PlottedParameter, ...]
    trials: tuple[PlottedTrial, ...]
    """All trials, by number."""
    best: int | None
    """Number of the best complete trial, without the baseline."""
    curves: tuple[PlottedCurve, ...]
    """The curves of the best trial and of the baseline; empty before the first evaluation."""
    importance: SweepImportance | None
    """How much each parameter matters; None if that is unknown."""
    note: str
    """The reason why the importance is unknown; empty if it is known."""
    png: str = ""
    """All plots as a PNG file in base64; empty unless the picture was asked for."""


def study_plots(name: str, space: Space, plan: Plan, state: StudyState) -> StudyPlots:
    """Returns the plots of a study. `name`: its name."""
    table = standings(state.search, plan.objective, plan.rungs)
    full = len(plan.rungs)
    best = next((one.trial for one in table if _is_winner(one, state.search, full)), None)
    shown = [one for one in (best, _baseline(state.search)) if one is not None]
    curves = [_curve(number, state, plan.budget) for number in shown]
    known, note = _importance(name, space, plan, state.search)
    return StudyPlots(
        name,
        plan.objective.kind,
        tuple(map(_axis, space.parameters)),
        tuple(_trials(space, state, table, full)),
        best,
        tuple(one for one in curves if one is not None),
        known,
        note,
    )


def _importance(
    name: str, space: Space, plan: Plan, history: History
) -> tuple[SweepImportance | None, str]:
    """Returns the importance of the parameters, or why it is unknown."""
    try:
        return importance(name, space, plan, history), ""
    except UsageError as error:
        return None, f"{error.message}: {error.fix}" if error.fix else error.message


def _is_winner(standing: Standing, history: History, full: int) -> bool:
    has_value = standing.mean is not None and not standing.failed
    return has_value and standing.rung == full and standing.trial != _baseline(history)


def _baseline(history: History) -> int | None:
    """Returns the number of the baseline; None if the study has none."""
    is_first = bool(history.trials) and history.trials[BASELINE].assignment is None
    return BASELINE if is_first else None


def _trials(
    space: Space, state: StudyState, table: Sequence[Standing], full: int
) -> Iterator[PlottedTrial]:
    places = {one.trial: one for one in table}
    runs = _runs(state.search)
    best: float | None = None
    for trial in state.search.trials:
        place = places[trial.number]
        shown = _state(trial, place, full)
        if shown == "complete" and place.mean is not None:
            best = place.mean if best is None else max(best, place.mean)
        assignment = trial.assignment or {}
        yield PlottedTrial(
            number=trial.number,
            is_baseline=trial.assignment is None,
            state=shown,
            value=None if shown == "failed" else place.mean,
            seeds=place.values,
            best=best,
            positions=tuple(_position(one, assignment) for one in space.parameters),
            texts=tuple(_value_text(assignment, one.name) for one in space.parameters),
            runs=tuple(runs.get(trial.number, ())),
        )


def _state(trial: Trial, place: Standing, full: int) -> TrialState:
    if trial.problem or (place.values and all(one is None for one in place.values)):
        return "failed"
    if place.mean is None:
        return "training"
    return "complete" if place.rung == full else "waiting"


def _runs(history: History) -> dict[int, list[str]]:
    """Returns trial -> ids of its runs, by seed."""
    found: dict[int, dict[int, str]] = {}
    for unit in history.units:
        measured = history.results.get(unit.number)
        if measured is not None and measured.run:
            found.setdefault(unit.trial, {})[unit.seed] = measured.run
    return {trial: [runs[seed] for seed in sorted(runs)] for trial, runs in found.items()}


def _axis(parameter: Parameter) -> PlottedParameter:
    if isinstance(parameter, Choices):
        last = max(parameter.size - 1, 1)
        places = tuple(i / last for i in range(parameter.size))
        texts = tuple(map(setting_text, parameter.choices))
        return PlottedParameter(parameter.name, texts, places, is_range=False)
    places = (0.0, 0.5, 1.0)
    return PlottedParameter(
        parameter.name, tuple(_tick(parameter, place) for place in places), places, is_range=True
    )


def _tick(parameter: Range, place: float) -> str:
    value = parameter.from_unit(place)
    return f"{value:.3g}" if isinstance(value, float) else setting_text(value)


def _position(parameter: Parameter, assignment: Mapping[str, PlainValue]) -> float | None:
    return parameter.to_unit(assignment[parameter.name]) if parameter.name in assignment else None


def _value_text(assignment: Mapping[str, PlainValue], name: str) -> str:
    return setting_text(assignment[name]) if name in assignment else ""


def _curve(number: int, state: StudyState, budget: int) -> PlottedCurve | None:
    """Returns the learning curve of a trial, from fresh seeds if there are any; None if it has none."""
    confirmed = _measured(number, state.confirm, budget)
    measured = confirmed or _measured(number, state.search, budget)
    if not measured:
        return None
    is_baseline = state.search.trials[number].assignment is None
    curves = [([x for x, _ in one.points], [y for _, y in one.points]) for one in measured]
    return PlottedCurve(
        label="baseline" if is_baseline else f"trial {number}",
        trial=number,
        is_baseline=is_baseline,
        is_confirmed=bool(confirmed),
        seeds=len(measured),
        curve=mean_curve(curves, CURVE_POINTS),
    )


def _measured(number: int, history: History, budget: int) -> list[Measurement]:
    """Returns the newest result of each seed of a trial that has an evaluation."""
    seeds = seed_results(history, budget).get(number, {})
    return [one.measured for _, one in sorted(seeds.items()) if one.measured.points]
