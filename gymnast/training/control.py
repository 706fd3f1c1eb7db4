"""The one owner of hyperparameters while a run goes on: what does each stand at now?"""

from __future__ import annotations

from gymnast.clock import Clock
from gymnast.config.schedule import Schedule
from gymnast.config.section import AlgoSection


class Control:
    def __init__(self, algo: AlgoSection) -> None:
        self.algo = algo
        self._scheduled = {name: value for name, value in algo if isinstance(value, Schedule)}

    def values(self, clock: Clock) -> AlgoSection:
        """The algorithm's section with every schedule replaced by its current number."""
        return self.algo.model_copy(update={n: s(clock) for n, s in self._scheduled.items()})

    def row(self, values: AlgoSection) -> dict[str, float]:
        return {f"hyper/{name}": getattr(values, name) for name in self._scheduled}

    def moved_by_budget(self) -> list[str]:
        """Schedules whose course depends on the size of the budget."""
        return [n for n, schedule in self._scheduled.items() if schedule.needs_budget("env_steps")]
