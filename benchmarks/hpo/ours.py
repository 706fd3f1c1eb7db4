"""gymnast's own search (`gymnast.sweep`) on the table: its decisions and proposals, unit by unit."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from benchmarks.hpo.grid import (
    BUDGET,
    CLIPS,
    CONFIGURATIONS,
    EVERY,
    GAMMAS,
    LEARNING_RATES,
    Configuration,
)
from benchmarks.hpo.replay import Replay
from gymnast.sweep.decide import Done, NewTrial, Plan, Wait, decide, rung_steps
from gymnast.sweep.history import History, Measurement, Trial, Unit
from gymnast.sweep.objective import Objective
from gymnast.sweep.options import SearchOptions
from gymnast.sweep.parameter import Assignment, Choices
from gymnast.sweep.samplers import Sampler
from gymnast.sweep.space import Space
from gymnast.sweep.standings import standings


class TableSpace(Space):
    """The grid as a space whose configs are known to be valid: checking each would take most of the time."""

    def problem(self, assignment: Assignment | None) -> str:
        return ""


SPACE = TableSpace(
    "CartPole-v1",
    (
        Choices("algo.lr", LEARNING_RATES),
        Choices("algo.gamma", GAMMAS),
        Choices("algo.clip", CLIPS),
    ),
)


@dataclass
class TableSearch:
    """A search that is answered from the table."""

    replay: Replay
    plan: Plan
    history: History = field(default_factory=History)

    def run(self) -> int:
        """Searches until its budget is spent and returns the index of the recommended configuration."""
        sampler = Sampler(self.plan.options.sampler)
        while not isinstance(decision := decide(self.plan, self.history), Done):
            assert not isinstance(decision, Wait)  # every result is there at once
            if isinstance(decision, NewTrial):
                number = len(self.history.trials)
                assignment = sampler.propose(SPACE, self.plan, self.history, number)
                trial = Trial(number, assignment, assignment)
                self.history = replace(self.history, trials=(*self.history.trials, trial))
                self._train(number, 0, decision.env_steps)
            else:
                self._train(decision.trial, decision.seed, decision.env_steps)
        best = standings(self.history, self.plan.objective, self.plan.rungs)[0]
        return self._configuration(best.trial)

    def _train(self, trial: int, seed: int, env_steps: int) -> None:
        """Answers one unit from the table, up to its last evaluation."""
        past = self.history
        known = [u.env_steps for u in past.units if (u.trial, u.seed) == (trial, seed)]
        configuration = self._configuration(trial)
        self.replay.train(configuration, seed, since=max(known, default=0), until=env_steps)
        points = self.replay.points(configuration, seed, env_steps)
        unit = Unit(len(past.units), trial, seed, env_steps)
        result = Measurement("reached", points, env_steps)
        self.history = replace(
            past, units=(*past.units, unit), results={**past.results, unit.number: result}
        )

    def _configuration(self, trial: int) -> int:
        assignment = self.history.trials[trial].assignment
        assert assignment is not None
        lr, gamma, clip = (float(str(assignment[one.name])) for one in SPACE.parameters)
        return CONFIGURATIONS.index(Configuration(lr, gamma, clip))


def our_search(replay: Replay, seed: int, objective: Objective, options: SearchOptions) -> int:
    """Returns the configuration that our search recommends."""
    options = replace(
        options,
        seeds=min(options.seeds, replay.curves.shape[1]),  # more would repeat the same trainings
        baseline=False,
        total_env_steps=replay.budget,
        seed=seed,
        confirm=0,
    )
    plan = Plan(options, objective, rung_steps(BUDGET, options, EVERY), SPACE.size)
    return TableSearch(replay, plan).run()
