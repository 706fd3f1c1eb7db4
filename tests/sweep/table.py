"""An executor that looks results up instead of training: the decisions of a study can be judged exactly."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from gymnast.config.plain_value import PlainValue
from gymnast.sweep import study as studies
from gymnast.sweep.confirm import confirmation_units
from gymnast.sweep.decide import Plan, rung_steps
from gymnast.sweep.executor import Work
from gymnast.sweep.history import Measurement
from gymnast.sweep.launch import store_result
from gymnast.sweep.objective import Objective, Points
from gymnast.sweep.options import SearchOptions
from gymnast.sweep.parameter import Choices, Range
from gymnast.sweep.proposer import make_proposer
from gymnast.sweep.runner import Runner
from gymnast.sweep.space import Space
from gymnast.sweep.space_file import parse_space
from gymnast.sweep.study import Study

BUDGET = 1_800
SPACE = Space(
    "CartPole-v1:ppo",
    (
        Range("algo.lr", 1e-4, 1e-1, log=True),
        Choices("algo.gamma", [0.5, 0.9, 0.99]),
        Range("algo.gae_lambda", 0.5, 1.0, when={"algo.gamma": [0.9, 0.99]}),
    ),
)


def curve(assignment: Mapping[str, PlainValue] | None, seed: int) -> list[tuple[float, float]]:
    """Returns a curve that is best at a learning rate of 3e-3 and a discount of 0.99, with some noise."""
    values = assignment or {"algo.lr": 1e-3, "algo.gamma": 0.9}
    lr, gamma = values["algo.lr"], values["algo.gamma"]
    assert isinstance(lr, float)
    assert isinstance(gamma, float)
    quality = math.exp(-((math.log10(lr / 3e-3)) ** 2)) * gamma
    noise = np.random.default_rng([seed, round(1e6 * quality)]).normal()
    top = 100 * quality + 3 * noise
    return [(x, top * (1 - math.exp(-3 * x / BUDGET))) for x in np.linspace(0, BUDGET, 19)]


@dataclass
class TableExecutor:
    """Returns the curves of a function. `delay`: how often a unit is polled before its result is there."""

    curve: Callable[[Mapping[str, PlainValue] | None, int], Points] = curve
    delay: Callable[[Work], int] = lambda _: 0
    started: list[Work] = field(default_factory=list[Work])
    polled: dict[int, int] = field(default_factory=dict[int, int])
    discarded: list[str] = field(default_factory=list[str])
    pruned: list[int] = field(default_factory=list[int])

    def start(self, work: Work) -> None:
        self.started.append(work)

    def points(self, work: Work) -> list[tuple[float, float]]:
        known = self.curve(work.assignment, work.seed)
        return [point for point in known if point[0] <= work.unit.env_steps]

    def poll(self, work: Work) -> Measurement | None:
        number = work.unit.number
        self.polled[number] = self.polled.get(number, 0) + 1
        if self.polled[number] <= self.delay(work):
            return None
        steps = work.unit.env_steps
        ended = "finished" if steps >= work.budget else "reached"
        return Measurement(ended, tuple(self.points(work)), steps)

    def prune(self, work: Work) -> Measurement | None:
        self.pruned.append(work.unit.number)
        return Measurement("finished", tuple(self.points(work)), work.unit.env_steps)

    def interrupt(self, work: Work) -> None:
        pass

    def discard(self, name: str) -> None:
        self.discarded.append(name)


TEXT = f"""
target: CartPole-v1:ppo
settings: {{stop.env_steps: {BUDGET}, eval.episodes: 4, eval.every: 100 env_steps}}
parameters:
  algo.lr: {{low: 1e-4, high: 1e-1, log: true}}
  algo.gamma: {{choices: [0.5, 0.9, 0.99]}}
search: {{trials: 8, seeds: 2, rungs: 3, confirm_seeds: 3}}
"""


def table_study(runs_dir: Path, name: str) -> Study:
    """Returns a stored study whose search and confirmation are over, from a table."""
    file = parse_space(TEXT)
    plan = studies.make_plan(file.space, file.options(), file.objective, BUDGET)
    study = studies.create(name, file.space, plan, runs_dir=runs_dir)
    runner = Runner(study.space, plan, study.journal, TableExecutor(), make_proposer(plan), name)
    state = runner.search()
    assert runner.confirm(confirmation_units(plan, state.search))
    store_result(study, runner.state)
    study.journal.append({"event": "confirmed"})
    return study


def plan_of(space: Space = SPACE, **options: object) -> Plan:
    """Returns the plan of a small search."""
    chosen = SearchOptions(**{"trials": 12, "seeds": 3, "rungs": 3, **options})  # pyright: ignore[reportArgumentType]
    return Plan(chosen, Objective(), rung_steps(BUDGET, chosen), space.size)
