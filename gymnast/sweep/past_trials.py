"""Converts past trials for Optuna, and its suggestions into values of our parameters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gymnast.config.plain_value import PlainValue
from gymnast.sweep.decide import Plan
from gymnast.sweep.history import History
from gymnast.sweep.parameter import Assignment, Choices, Parameter, is_active
from gymnast.sweep.space import Space
from gymnast.sweep.standings import standings

if TYPE_CHECKING:
    from optuna.trial import FrozenTrial
    from optuna.trial import Trial as OptunaTrial


@dataclass(frozen=True)
class PastTrial:
    """A past trial as a sampler sees it."""

    assignment: Assignment
    value: float | None
    """Its estimated mean over seeds, at its highest rung; None while it is being trained."""
    rung: int
    """Number of rungs that it has reached."""
    is_complete: bool
    """Whether it has reached the last one, or failed."""


def past_trials(plan: Plan, view: History) -> list[PastTrial]:
    """Returns the trials of a history, by number, without the baseline. A failed one has the worst value
    of all, so that its neighborhood is avoided."""
    table = {one.trial: one for one in standings(view, plan.objective, plan.rungs)}
    values = [one.shrunk for one in table.values() if one.shrunk is not None]
    found: list[PastTrial] = []
    for trial in view.trials:
        if trial.assignment is None:
            continue
        now = table[trial.number]
        value = now.shrunk
        if now.failed and not any(one is not None for one in now.values):
            value = min(values, default=0.0)
        complete = now.rung == len(plan.rungs)
        found.append(PastTrial(trial.assignment, value, now.rung, complete))
    return found


def frozen_trial(optuna: Any, space: Space, past: PastTrial) -> FrozenTrial:
    """Returns a past trial for `Study.add_trial`: complete, pruned at its rung, or running."""
    active = list(space.active(past.assignment))
    states, create = optuna.trial.TrialState, optuna.trial.create_trial
    params = {one.name: _to_optuna(one, past.assignment[one.name]) for one in active}
    kinds = {one.name: _distribution(optuna, one) for one in active}
    if past.value is None:
        return create(state=states.RUNNING, params=params, distributions=kinds)
    if past.is_complete:
        return create(value=past.value, params=params, distributions=kinds)
    return create(
        state=states.PRUNED,
        params=params,
        distributions=kinds,
        intermediate_values={past.rung: past.value},
    )


def suggest(trial: OptunaTrial, space: Space) -> dict[str, PlainValue]:
    """Returns the assignment that Optuna suggests."""
    assignment: dict[str, PlainValue] = {}
    for parameter in space.parameters:
        if is_active(parameter, assignment):
            assignment[parameter.name] = _suggest_one(trial, parameter)
    return assignment


def _suggest_one(trial: OptunaTrial, parameter: Parameter) -> PlainValue:
    name = parameter.name
    if isinstance(parameter, Choices):
        if parameter.is_ordered:
            return parameter.choices[trial.suggest_int(name, 0, parameter.size - 1)]
        return parameter.choices[trial.suggest_categorical(name, range(parameter.size))]
    low, high, log = parameter.low, parameter.high, parameter.log
    if parameter.whole:
        step = round(parameter.step or 1)
        top = int(low) + (parameter.size - 1) * step
        return trial.suggest_int(name, int(low), top, log=log, step=1 if log else step)
    step = None if log else parameter.step
    return parameter.nearest(trial.suggest_float(name, low, high, log=log, step=step))


def _distribution(optuna: Any, parameter: Parameter) -> Any:
    kinds = optuna.distributions
    if isinstance(parameter, Choices):
        if parameter.is_ordered:
            return kinds.IntDistribution(0, parameter.size - 1)
        return kinds.CategoricalDistribution(range(parameter.size))
    low, high, log = parameter.low, parameter.high, parameter.log
    if parameter.whole:
        step = round(parameter.step or 1)
        top = int(low) + (parameter.size - 1) * step
        return kinds.IntDistribution(int(low), top, log=log, step=1 if log else step)
    return kinds.FloatDistribution(low, high, log=log, step=None if log else parameter.step)


def _to_optuna(parameter: Parameter, value: PlainValue) -> Any:
    return list(parameter.choices).index(value) if isinstance(parameter, Choices) else value
