"""The time limit of a study: when its search has to stop so that the confirmation still fits in.

All estimates come from measured times of units: from the announcement of a unit to its result, so that
starting a process, evaluations and other work on the machine count.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from statistics import fmean, median

from gymnast.sweep.confirm import confirmed_trials
from gymnast.sweep.decide import BASELINE, NewTrial, Plan, Train
from gymnast.sweep.state import Phase, StudyState

START_SECONDS = 1.5
"""Seconds that starting a process and loading a run take, per unit."""
MARGIN = 1.2
"""How much longer than measured the confirmation may take: its runs are scored on held-out episodes too, and
the machine may become busier."""
MIN_SEEDS = 3
"""Number of fresh seeds for which time is reserved, however long they take."""
CONFIRM_SHARE = 0.4
"""Share of the time that further fresh seeds may take."""
MIN_SEARCH_SHARE = 0.5
"""Share of the time that the search gets in any case: the first trials may be slow ones, whose confirmation
would take all of it, and a search that ends with them has found nothing to confirm."""
END_SECONDS = 2.0
"""Seconds that are kept for stopping runs and for the report."""


def end_of_study(plan: Plan) -> float:
    """Returns the seconds of the study at which all work stops; infinite without a limit."""
    minutes = plan.options.minutes
    return math.inf if minutes is None else max(60 * minutes - END_SECONDS, 0.0)


def end_of_search(plan: Plan, state: StudyState, jobs: int = 1) -> float:
    """Returns the seconds of the study at which its search stops; infinite without a limit."""
    end = end_of_study(plan)
    if math.isinf(end):
        return end
    reserve = confirm_seconds(plan, state, reserved_seeds(plan, state, jobs), jobs)
    return end - min(reserve, (1 - MIN_SEARCH_SHARE) * end)


def reserved_seeds(plan: Plan, state: StudyState, jobs: int = 1) -> int:
    """Returns for how many fresh seeds time is kept: fewer than planned if runs take long."""
    planned = plan.options.confirm_seeds
    for n_seeds in range(planned, MIN_SEEDS, -1):
        if confirm_seconds(plan, state, n_seeds, jobs) <= CONFIRM_SHARE * end_of_study(plan):
            return n_seeds
    return min(planned, MIN_SEEDS)


def confirm_seconds(plan: Plan, state: StudyState, n_seeds: int, jobs: int = 1) -> float:
    """Returns how long a confirmation on this many fresh seeds will take, if the trials that are best now
    are confirmed; 0 if nothing is known yet, or nothing will be confirmed."""
    options = plan.options
    if options.mode == "pbt" or not options.confirm or not n_seeds:
        return 0.0
    trials: list[int | None] = [*confirmed_trials(plan, state.search)]
    if not trials:  # some trial will be compared with the baseline
        trials = [BASELINE, None] if options.baseline else [None]
    seconds = [run_seconds(plan, state, trial) for trial in trials]
    return MARGIN * math.ceil(n_seeds * len(trials) / jobs) * max(seconds)


def run_seconds(plan: Plan, state: StudyState, trial: int | None = None) -> float:
    """Returns how long a whole run of a trial takes: from its own units, those on fresh seeds if there are
    any, or else from all trials (also if `trial` is None); 0 if no unit has a result."""
    return unit_seconds(state, plan.budget, trial)


def unit_seconds(state: StudyState, env_steps: int, trial: int | None = None) -> float:
    """Returns how long it takes to start a run of a trial and to train it for this many env steps."""
    for phase in ("confirm", "search"):
        rates = [rate for number, rate in _rates(state, phase) if number == trial]
        if rates:
            return START_SECONDS + env_steps * fmean(rates)
    rates = [rate for _, rate in _rates(state, "search")]
    # Some trials are much slower than others: their mean would say little about a usual one.
    return START_SECONDS + env_steps * median(rates) if rates else 0.0


def decision_seconds(state: StudyState, decision: NewTrial | Train) -> float:
    """Returns how long the unit that was decided on will take."""
    if isinstance(decision, NewTrial):
        return unit_seconds(state, decision.env_steps)
    key = decision.trial, decision.seed
    units = state.search.without_stopped()
    done = [unit.env_steps for unit in units if (unit.trial, unit.seed) == key]
    return unit_seconds(state, decision.env_steps - max(done, default=0), decision.trial)


def seed_fits(plan: Plan, state: StudyState, now: float, n_trials: int, jobs: int = 1) -> bool:
    """True if a further fresh seed of all trials that are confirmed will end in time."""
    under_way = len(state.confirm.units) - len(state.confirm.results)
    slowest = max(
        (run_seconds(plan, state, trial) for trial in confirmed_trials(plan, state.search)),
        default=0.0,
    )
    rounds = math.ceil((under_way + n_trials) / jobs)
    return now + MARGIN * rounds * slowest <= end_of_study(plan)


def _rates(state: StudyState, phase: Phase) -> Iterator[tuple[int, float]]:
    """Yields trial and seconds per env step of every unit with a result, without its start."""
    history = state.history(phase)
    trained: dict[tuple[int, int], int] = {}
    for unit in history.units:
        measured = history.results.get(unit.number)
        seconds = state.took.get((phase, unit.number))
        if measured is None or seconds is None:
            continue
        key = unit.trial, unit.seed
        steps = measured.env_steps - trained.get(key, 0)
        trained[key] = max(trained.get(key, 0), measured.env_steps)
        if steps > 0:
            yield unit.trial, max(seconds - START_SECONDS, 0.0) / steps
