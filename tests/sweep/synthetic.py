"""A study without training: a journal whose results are computed from the assignments."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from pathlib import Path

from gymnast.config.plain_value import PlainValue
from gymnast.records import to_json
from gymnast.seeds import stream
from gymnast.sweep.confirm import confirmation as confirmation_result
from gymnast.sweep.decide import Plan
from gymnast.sweep.history import History, Measurement, Trial, Unit
from gymnast.sweep.objective import Objective
from gymnast.sweep.options import SearchOptions
from gymnast.sweep.space_file import parse_space
from gymnast.sweep.state import StudyState, result_event, unit_event
from gymnast.sweep.study import RESULT, Study, create

SPACE_TEXT = """\
target: CartPole-v1:ppo
parameters:
  algo.lr: {low: 1e-5, high: 1e-1, log: true}
  algo.clip: {low: 0.1, high: 0.4}
  algo.epochs: {choices: [4, 8, 16]}
  algo.entropy_coef: {choices: [0.0, 0.01, 0.01 -> 0]}
  policy.memory: {choices: ["off", "gru:16"]}
  policy.bptt: {low: 8, high: 64, type: int, when: {policy.memory: "gru:16"}}
objective: {kind: score}
"""
SPACE = parse_space(SPACE_TEXT).space
PLAN = Plan(SearchOptions(trials=40), Objective("score"), (10_000, 30_000, 90_000))
Assignment = dict[str, PlainValue] | None


def quality(assignment: Assignment) -> float:
    """Returns the return at the end of a run: best at a learning rate of 1e-3 and 16 epochs."""
    if assignment is None:
        return 200.0
    distance = abs(math.log10(float(str(assignment["algo.lr"]))) + 3)
    return 400.0 - 120.0 * distance + 4.0 * float(str(assignment["algo.epochs"]))


def curve(assignment: Assignment, env_steps: int, seed: int) -> list[tuple[float, float]]:
    """Returns an evaluation curve that approaches the quality of its settings."""
    end, noise = quality(assignment), stream(seed, "noise").normal(0.0, 15.0, 100)
    steps = range(2_000, env_steps + 1, 2_000)
    return [
        (float(x), end * (1 - math.exp(-x / 20_000)) + float(noise[i])) for i, x in enumerate(steps)
    ]


def synthetic_study(
    n_trials: int = 40, *, confirmed: bool = True, result: Callable[..., Measurement] | None = None
) -> StudyState:
    """Returns the state of a study: trial 0 is the baseline, every seventh trial failed, weak trials stopped
    at the first rung, the last one has no result yet."""
    trials: list[Trial] = []
    units: list[Unit] = []
    results: dict[int, Measurement] = {}
    for number in range(n_trials + 1):
        assignment: Assignment = SPACE.sample(0, number) if number else None
        trials.append(Trial(number, assignment, SPACE.trial_settings(assignment)))
        steps = PLAN.budget if quality(assignment) > 250 or not number else PLAN.rungs[0]
        units.append(Unit(number, number, 0, steps))
        measured = measurement(assignment, steps, number, f"run{number:05d}")
        if number and number % 7 == 0:
            measured = Measurement("failed", problem="the loss became NaN", env_steps=512)
        if number < n_trials:
            results[number] = (result or (lambda _, m: m))(number, measured)
    search = History(tuple(trials), tuple(units), results)
    confirm = History(tuple(trials))
    if confirmed:
        best = max(
            (t.number for t in trials if t.number % 7 and t.number < n_trials),
            key=lambda n: quality(dict(trials[n].assignment or {})),
        )
        confirm = confirmation(trials, [best, 0])
    return StudyState(search, confirm, ended=f"{n_trials} trials", confirmed=confirmed)


def measurement(assignment: Assignment, steps: int, seed: int, run: str) -> Measurement:
    return Measurement("reached", curve(assignment, steps, seed), steps, steps / 1000, run=run)


def confirmation(trials: Sequence[Trial], numbers: Sequence[int]) -> History:
    """Returns five fresh seeds of each of these trials."""
    units = [Unit(5 * i + k, n, k, PLAN.budget) for i, n in enumerate(numbers) for k in range(5)]
    results = {
        unit.number: measurement(
            dict(a) if (a := trials[unit.trial].assignment) else None,
            PLAN.budget,
            1000 + unit.number,
            f"fresh{unit.number}",
        )
        for unit in units
    }
    return History(tuple(trials), tuple(units), results)


def write_study(runs_dir: Path, name: str = "mine", state: StudyState | None = None) -> Study:
    """Stores a study, as if its process had decided and measured all of this."""
    state = state or synthetic_study()
    study = create(name, SPACE, PLAN, runs_dir=runs_dir)
    study.journal.append({"event": "session", "jobs": 1})
    trials = {trial.number: trial for trial in state.search.trials}
    for unit in state.search.units:
        study.journal.append(unit_event("search", unit, trials.pop(unit.trial, None)))
        if unit.number in state.search.results:
            measured = state.search.results[unit.number]
            study.journal.append(result_event("search", unit.number, measured, 10.0 * unit.number))
    if state.confirmed:
        study.journal.append({"event": "ended", "reason": state.ended})
        for unit in state.confirm.units:
            study.journal.append(unit_event("confirm", unit, None))
            measured = state.confirm.results[unit.number]
            study.journal.append(result_event("confirm", unit.number, measured, 500.0))
        found = to_json(confirmation_result(PLAN, state, runs_dir))
        (study.path / RESULT).write_text(json.dumps({"version": 1, "confirmation": found}))
        study.journal.append({"event": "confirmed"})
    return study
