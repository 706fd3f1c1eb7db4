"""The past of a study as values: trials, the units of work that were decided on, and their measurements."""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from gymnast.config.plain_value import PlainValue
from gymnast.sweep.objective import Objective, Points

Ended = Literal["reached", "finished", "pruned", "failed", "stopped"]
"""reached: trained up to the unit's env steps; finished: a stopping criterion of the run ended it earlier, so
it will not train further; pruned: stopped because it was weak; failed: no usable result; stopped: the time of
the study was over, so that it counts as if it had not been started."""


@dataclass(frozen=True)
class Trial:
    """One assignment of values to the parameters of a space."""

    number: int
    assignment: Mapping[str, PlainValue] | None
    """Parameter -> value; None: the baseline."""
    settings: Mapping[str, PlainValue]
    """Config key -> value of all overrides of its runs."""
    problem: str = ""
    """The reason why its config is not valid; such a trial counts as a bad result and is not trained."""
    source: int | None = None
    """The trial from whose checkpoint it starts; None: from scratch, or from the source of the study."""


@dataclass(frozen=True)
class Unit:
    """A piece of work: trains one seed of a trial up to a number of env steps."""

    number: int
    trial: int
    seed: int
    """Index of the seed within the trial, from 0."""
    env_steps: int
    """Env steps of the run at the end of the unit."""


@dataclass(frozen=True)
class Measurement:
    """The result of a unit."""

    ended: Ended
    points: Points = ()
    """The evaluation curve of the run since its first step: env steps, mean return."""
    env_steps: int = 0
    """Env steps that the run has trained in total."""
    seconds: float = 0.0
    """Seconds that the run has trained in total."""
    problem: str = ""
    """The reason of a failure."""
    run: str = ""
    """Id of the run; empty if there is none."""


@dataclass(frozen=True)
class History:
    """Everything that a decision may depend on."""

    trials: tuple[Trial, ...] = ()
    units: tuple[Unit, ...] = ()
    """All units that were decided on, by number."""
    results: Mapping[int, Measurement] = field(default_factory=dict[int, Measurement])
    """Number of a unit -> its result."""

    def before(self, lookahead: int) -> History | None:
        """Returns the history that the next decision may see. None if a result of it is still missing.

        It is what would be known if `lookahead` units trained at once and all were equally fast: the next one
        starts as soon as one of them has ended. So it depends on the units alone, not on the order in which
        results arrive, and no job waits for one that trains for longer."""
        under_way: list[tuple[int, int]] = []
        """Env steps of the clock at which a unit ends, and its number."""
        trained: dict[tuple[int, int], int] = {}
        seen: list[int] = []
        now = 0
        for unit in (*self.units, None):
            if len(under_way) == lookahead:
                now, ended = heapq.heappop(under_way)
                seen.append(ended)
            if unit is not None:
                key = unit.trial, unit.seed
                cost = max(unit.env_steps - trained.get(key, 0), 0)
                trained[key] = unit.env_steps
                heapq.heappush(under_way, (now + cost, unit.number))
        if any(number not in self.results for number in seen):
            return None
        results = {number: self.results[number] for number in sorted(seen)}
        return History(self.trials, self.units, results)

    def without_stopped(self) -> tuple[Unit, ...]:
        """Returns the units that were not stopped because the time was over."""
        stopped = {number for number, one in self.results.items() if one.ended == "stopped"}
        return tuple(unit for unit in self.units if unit.number not in stopped)


@dataclass(frozen=True)
class SeedResult:
    """The newest result of one seed of a trial."""

    measured: Measurement
    reached: int
    """Env steps up to which its value is known: those of its last unit, or the whole budget if it ended
    by a stopping criterion of the run, was pruned or failed."""


def seed_results(history: History, budget: int) -> dict[int, dict[int, SeedResult]]:
    """Returns trial -> index of the seed -> its newest result. `budget`: env steps of a whole run."""
    found: dict[int, dict[int, SeedResult]] = {trial.number: {} for trial in history.trials}
    for unit in history.without_stopped():
        measured = history.results.get(unit.number)
        if measured is not None:
            is_over = measured.ended != "reached"
            reached = budget if is_over else unit.env_steps
            found[unit.trial][unit.seed] = SeedResult(measured, reached)
    return found


def judged(measured: Measurement, unit: Unit, objective: Objective, budget: int) -> Measurement:
    """Returns a result whose curve has a value, or a failure with its reason: one that was not evaluated
    could not be compared with others."""
    if measured.ended == "failed":
        reason = measured.problem or f"it failed without a message: gymnast logs {measured.run}"
        return replace(measured, problem=reason)
    value = objective.value(measured.points, unit.env_steps, budget=budget)
    has_scores = any(
        x > 0 for x, _ in measured.points
    )  # not only of the policy that it started with
    if value is not None and has_scores:
        return measured
    reason = (
        "a return of its evaluations is not finite"
        if has_scores
        else f"no evaluation in its {measured.env_steps:,} env steps has a score: gymnast logs {measured.run}"
    )
    return replace(measured, ended="failed", problem=reason)


def value_at(result: SeedResult, objective: Objective, env_steps: int, budget: int) -> float | None:
    """Returns the value of one seed up to a number of env steps; None if it failed."""
    measured = result.measured
    if measured.ended == "failed":
        return None
    return objective.value(measured.points, env_steps, budget=budget, seconds=measured.seconds)
