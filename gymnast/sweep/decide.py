"""Decides what a search does next, with pure functions of its history.

Successive halving on env steps: every trial trains to the first rung; of all trials that reached a rung, the
best third continues to the next, which is three times as long (ASHA, Li et al. 2020). Ties at the cut
continue too: where an early rung cannot separate trials, as with sparse rewards, nothing is pruned. Racing
over seeds: the last part of the budget goes to further seeds of the trials that may still be the best.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from gymnast.sweep.history import History, SeedResult, seed_results, value_at
from gymnast.sweep.objective import Objective, Points
from gymnast.sweep.options import SearchOptions
from gymnast.sweep.standings import Standing, standings

MIN_COMPARED = 5
"""Number of complete runs from which on a further seed can be pruned."""
TIME_OVER = "the time for the search is over"
BASELINE = 0
"""Number of the trial that trains the target without any change, if there is one."""


@dataclass(frozen=True)
class Plan:
    """The rules of a study, the same for its whole life."""

    options: SearchOptions
    objective: Objective
    rungs: tuple[int, ...]
    """Env steps at which trials are compared; the last is the budget of a run."""
    size: int | None = None
    """Number of different assignments of the space; None if it is not limited."""

    @property
    def budget(self) -> int:
        return self.rungs[-1]

    @property
    def first_env_steps(self) -> int:
        """Env steps of the first trial: the baseline trains to the end."""
        return self.budget if self.options.baseline else self.rungs[0]

    @property
    def n_trials(self) -> int:
        """The number of trials, the baseline included."""
        proposals = (
            self.options.trials if self.size is None else min(self.options.trials, self.size)
        )
        return proposals + self.options.baseline


@dataclass(frozen=True)
class NewTrial:
    """Propose a trial, and train its first seed up to this number of env steps."""

    env_steps: int
    source: int | None = None
    """The trial from whose last checkpoint it starts; None: as the study starts."""


@dataclass(frozen=True)
class Train:
    """Train a seed of a trial up to this number of env steps."""

    trial: int
    seed: int
    env_steps: int


@dataclass(frozen=True)
class Wait:
    """Nothing can be decided before further results arrive."""


@dataclass(frozen=True)
class Done:
    """The search is over."""

    reason: str


Decision = NewTrial | Train | Wait | Done


def rung_steps(budget: int, options: SearchOptions, every: float | None = None) -> tuple[int, ...]:
    """Returns the env steps of the rungs of runs with this budget, at least one env step each. `every`: env
    steps between evaluations, to whose multiples rungs are rounded, because trials are compared there."""
    shares = [budget / options.eta**k for k in reversed(range(options.rungs))]
    if every is not None and every <= budget:
        shares = [every * max(round(share / every), 1) for share in shares[:-1]] + shares[-1:]
    return tuple(dict.fromkeys(min(math.ceil(share), budget) for share in shares))


def decide(plan: Plan, history: History, *, exploring: bool = True) -> Decision:
    """Returns what to do next, as a function of the results that `History.before` selects. Only if these
    leave nothing to do, it waits for all results and uses them. `exploring`: False if no time is left for new
    trials."""
    view = history.before(plan.options.lookahead)
    if view is None:
        return Wait()
    decision = _next(plan, view, exploring)
    if decision is not None:
        return decision
    if len(view.results) < len(history.units):
        complete = history.before(1)
        if complete is None:
            return Wait()
        decision = _next(plan, complete, exploring)
    return decision or Done(_reason(plan, history))


def prune_at(plan: Plan, history: History, unit: int, points: Points) -> int | None:
    """Returns the env steps at which the run of a unit is pruned, None if it is not. Depends on the part of
    its curve up to there, and on what the decision on the unit could see.

    Only further seeds are pruned: where one is worse at a rung than every complete run was there, its trial
    has lost, whatever follows."""
    task = history.units[unit]
    if task.seed == 0:
        return None
    view = History(history.trials, history.units[:unit], history.results)
    view = view.before(plan.options.lookahead) or History()
    complete = [
        one
        for seeds in seed_results(view, plan.budget).values()
        for one in seeds.values()
        if one.reached >= plan.budget and one.measured.ended in ("reached", "finished")
    ]
    if len(complete) < MIN_COMPARED or not points:
        return None
    for steps in plan.rungs[:-1]:
        if points[-1][0] < steps:
            return None
        others = [value_at(one, plan.objective, steps, plan.budget) for one in complete]
        known = [value for value in others if value is not None]
        own = plan.objective.value(points, steps, budget=plan.budget)
        if known and (own is None or own < min(known)):
            return steps
    return None


def _next(plan: Plan, view: History, exploring: bool) -> NewTrial | Train | None:
    """Returns what the visible results call for; None if it is nothing."""
    spent = env_steps_spent(view)
    total = plan.options.total_env_steps
    left = math.inf if total is None else total - spent
    explore_left = math.inf if total is None else total * (1 - plan.options.final_share) - spent
    first = plan.rungs[0] if view.trials else plan.first_env_steps
    may_propose = len(view.trials) < plan.n_trials
    is_exploring = exploring and may_propose and first <= explore_left
    promotions = [*_promotions(plan, view)]
    if not is_exploring and not promotions and not _compares(plan, view):
        # A third of a few trials is none, but there must be one to compare with the baseline.
        promotions = [*_promotions(plan, view, at_least=1)]
    if unfinished := [*_stopped(view)]:
        promotions = [*unfinished, *promotions]
    if not exploring:
        late = (*_further_seeds(plan, view), *promotions)
        if not _compares(plan, view):
            late = (*promotions, *late)
        return next((task for task in late if _cost(view, task) <= left), None)
    for task in promotions:
        if _cost(view, task) <= left:
            return task
    if is_exploring:
        return NewTrial(first)
    for task in _further_seeds(plan, view):
        if task.env_steps <= left:
            return task
    # The best ones have all of their seeds: what is left goes to further trials.
    return NewTrial(first) if may_propose and first <= left else None


def _stopped(view: History) -> Iterator[Train]:
    """Yields the units that an earlier time limit stopped, and that nothing has continued since."""
    kept = {(unit.trial, unit.seed): unit.env_steps for unit in view.without_stopped()}
    last = {(unit.trial, unit.seed): unit for unit in view.units}
    for key, unit in last.items():
        if unit.env_steps > kept.get(key, 0):
            yield Train(unit.trial, unit.seed, unit.env_steps)


def _compares(plan: Plan, view: History) -> bool:
    """True if a trial other than the baseline trains to the end, or has done so."""
    return any(
        unit.env_steps >= plan.budget and view.trials[unit.trial].assignment is not None
        for unit in view.without_stopped()
    )


def _promotions(plan: Plan, view: History, *, at_least: int = 0) -> Iterator[Train]:
    """Yields the trials to continue to their next rung, the highest rung first. `at_least`: how many of each
    rung continue, even if there are few. The baseline trains to the end anyway."""
    seeds = seed_results(view, plan.budget)
    planned = {(u.trial, u.seed): u.env_steps for u in view.without_stopped()}
    firsts = {
        trial: by_seed[0]
        for trial, by_seed in seeds.items()
        if 0 in by_seed and view.trials[trial].assignment is not None
    }
    for at in reversed(range(len(plan.rungs) - 1)):
        steps = plan.rungs[at]
        there = {trial: one for trial, one in firsts.items() if one.reached >= steps}
        ranked = sorted(there, key=lambda trial: (-_rank_value(plan, there[trial], steps), trial))
        n_best = min(max(len(ranked) // plan.options.eta, at_least), len(ranked))
        if n_best == 0:
            continue
        cut = _rank_value(plan, there[ranked[n_best - 1]], steps)
        for trial in ranked:
            value = _rank_value(plan, there[trial], steps)
            if value < cut or value == -math.inf:
                break
            if planned[trial, 0] == steps and there[trial].measured.ended == "reached":
                yield Train(trial, 0, plan.rungs[at + 1])


def _rank_value(plan: Plan, result: SeedResult, steps: int) -> float:
    value = value_at(result, plan.objective, steps, plan.budget)
    return -math.inf if value is None else value


def _further_seeds(plan: Plan, view: History) -> Iterator[Train]:
    """Yields further seeds of the trials that may still be the best, the most promising first."""
    table = standings(view, plan.objective, plan.rungs)
    complete = [one for one in table if one.rung == len(plan.rungs) and one.shrunk is not None]
    if not complete:
        return
    best = max(_estimate(one) for one in complete)
    decided: dict[int, int] = {}
    for unit in view.without_stopped():
        decided[unit.trial] = max(decided.get(unit.trial, 0), unit.seed + 1)

    def optimistic(one: Standing) -> float:
        # Seeds that are being trained count as known, so that several jobs do not all pick one trial.
        known = len(one.values) / max(decided.get(one.trial, 1), 1)
        return _estimate(one) + one.spread * known**0.5

    for one in sorted(complete, key=lambda one: (-optimistic(one), one.trial)):
        seed = decided.get(one.trial, 0)
        is_contender = optimistic(one) >= best and any(v is not None for v in one.values)
        if is_contender and seed < plan.options.seeds:
            yield Train(one.trial, seed, plan.budget)


def _estimate(standing: Standing) -> float:
    assert standing.shrunk is not None  # filtered by the caller
    return standing.shrunk


def env_steps_spent(history: History) -> int:
    """Returns the env steps of all runs, where a unit without a result counts in full."""
    steps: dict[tuple[int, int], int] = {}
    for unit in history.units:
        measured = history.results.get(unit.number)
        key = unit.trial, unit.seed
        now = unit.env_steps if measured is None else measured.env_steps
        steps[key] = max(steps.get(key, 0), now)
    return sum(steps.values())


def _cost(view: History, task: Train) -> int:
    """Returns the env steps that a task adds."""
    units = view.without_stopped()
    done = [u.env_steps for u in units if (u.trial, u.seed) == (task.trial, task.seed)]
    return task.env_steps - max(done, default=0)


def _reason(plan: Plan, history: History) -> str:
    if len(history.trials) >= plan.n_trials:
        return f"{plan.options.trials} trials are done"
    if plan.options.total_env_steps is None:
        return TIME_OVER
    return f"the budget of {plan.options.total_env_steps:,} env steps is spent"
