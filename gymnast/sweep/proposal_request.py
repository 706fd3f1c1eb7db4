"""The request to a program that proposes trials: the space, the past trials and what is left, as one line."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from gymnast.sweep.decide import Plan
from gymnast.sweep.history import History, Measurement, Trial
from gymnast.sweep.objective import Points
from gymnast.sweep.parameter import Parameter, Range
from gymnast.sweep.space import Space
from gymnast.sweep.standings import Standing, standings

VERSION = 1
"""Version of the line; a change that a program could misunderstand raises it."""
MAX_TRIALS = 200
"""Number of past trials in a line: the best half and the newest half."""
MAX_POINTS = 20
"""Number of points of a learning curve, spread over it."""


def request_line(
    space: Space, plan: Plan, view: History, number: int, *, answer: str = "", problem: str = ""
) -> str:
    """Returns the line for a trial. `answer` and `problem`: the answer that cannot be used, and why."""
    table = {one.trial: one for one in standings(view, plan.objective, plan.rungs)}
    best = best_trial(plan, view)
    request: dict[str, Any] = {
        "version": VERSION,
        "number": number,
        "target": space.target,
        "settings": space.settings,
        "parameters": [_parameter(one) for one in space.parameters],
        "templates": {key: one.text for key, one in space.templates.items()},
        "objective": plan.objective.kind,
        "rungs": plan.rungs,
        "trials_left": plan.n_trials - number,
        "env_steps_left": _env_steps_left(plan, view),
        "best": None if best is None else best.number,
        "trials": [_trial(one, table[one.number], view) for one in _chosen(view, table)],
    }
    if problem:
        request |= {"rejected": answer[-2000:], "problem": problem}
    return json.dumps(request, ensure_ascii=False, allow_nan=False) + "\n"


def best_trial(plan: Plan, view: History) -> Trial | None:
    """Returns the best trial so far, without the baseline; None if no trial has a value."""
    for one in standings(view, plan.objective, plan.rungs):
        trial = view.trials[one.trial]
        if trial.assignment is not None and one.mean is not None and not one.failed:
            return trial
    return None


def _chosen(view: History, table: dict[int, Standing]) -> list[Trial]:
    """Returns the trials of a line, by number."""
    if len(view.trials) <= MAX_TRIALS:
        return list(view.trials)
    best = [*table][: MAX_TRIALS // 2]  # in the order of the standings
    newest = [trial.number for trial in view.trials[-MAX_TRIALS // 2 :]]
    return [view.trials[number] for number in sorted({*best, *newest})]


def _parameter(parameter: Parameter) -> dict[str, Any]:
    when = {"when": parameter.when} if parameter.when else {}
    if not isinstance(parameter, Range):
        return {"name": parameter.name, "choices": list(parameter.choices), **when}
    return {
        "name": parameter.name,
        **{"low": parameter.low, "high": parameter.high, "log": parameter.log},
        **{"step": parameter.step, "whole": parameter.whole, **when},
    }


def _trial(trial: Trial, standing: Standing, view: History) -> dict[str, Any]:
    results = [
        view.results[unit.number]
        for unit in view.units
        if unit.trial == trial.number and unit.number in view.results
    ]
    newest = max(results, key=lambda one: one.env_steps, default=None)
    return {
        "number": trial.number,
        "config": trial.assignment,
        "status": _status(trial, standing, results),
        "value": standing.mean,
        "seeds": standing.values,
        "rung": standing.rung,
        "env_steps": sum(_env_steps(trial.number, view).values()),
        "curve": [] if newest is None else _thinned(newest.points),
        "problem": trial.problem or next((one.problem for one in results if one.problem), ""),
    }


def _status(trial: Trial, standing: Standing, results: Sequence[Measurement]) -> str:
    if trial.problem or (results and all(one.ended == "failed" for one in results)):
        return "failed"
    return "training" if standing.mean is None else "measured"


def _thinned(points: Points) -> list[tuple[float, float]]:
    """Returns at most MAX_POINTS points of a curve, the last one included; none that are not finite."""
    finite = [(x, y) for x, y in points if abs(y) < float("inf")]
    step = max(1, -(-len(finite) // MAX_POINTS))
    return finite[::-1][::step][::-1]


def _env_steps(trial: int, view: History) -> dict[int, int]:
    """Returns seed -> env steps that were trained. Later units of a seed continue its run."""
    steps: dict[int, int] = {}
    for unit in view.units:
        if unit.trial == trial and unit.number in view.results:
            steps[unit.seed] = max(steps.get(unit.seed, 0), view.results[unit.number].env_steps)
    return steps


def _env_steps_left(plan: Plan, view: History) -> int | None:
    total = plan.options.total_env_steps
    if total is None:
        return None
    return max(total - sum(sum(_env_steps(one.number, view).values()) for one in view.trials), 0)
