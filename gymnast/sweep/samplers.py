"""Proposes the values of the next trial. Every proposal is a function of the study's seed, the number of the
trial and the visible history, so that a resumed study proposes the same.

Optuna's samplers are made anew for each proposal, and their study is rebuilt from the history: one sampler
that lives as long as the process has a random state which a resumed process would not have.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import count, islice
from typing import TYPE_CHECKING, Protocol

import numpy as np

from gymnast.config.plain_value import PlainValue
from gymnast.errors import UsageError
from gymnast.seeds import episode_seed, stream
from gymnast.sweep.decide import Plan
from gymnast.sweep.history import History
from gymnast.sweep.parameter import Assignment
from gymnast.sweep.space import Space, assignment_key
from gymnast.sweep.standings import standings
from gymnast.sweep.surrogate import estimate_means

if TYPE_CHECKING:
    from gymnast.sweep.past_trials import PastTrial

STARTUP = 10
"""Number of proposals that cover the space evenly before a model is used."""
ATTEMPTS = 4
"""Number of proposals that may be repeated or invalid before the nearest other one is taken."""
CANDIDATES, VARIATION = 200, 0.1
"""Number of assignments among which the model chooses, and standard deviation of variations of the best, as a
share of each range."""
EXTRA = "pip install 'gymnast[sweep]'"


class Proposer(Protocol):
    """Proposes trials. `gymnast.sweep.process` is one that asks a command."""

    def propose(
        self, space: Space, plan: Plan, view: History, number: int
    ) -> Mapping[str, PlainValue]:
        """Returns the values of the parameters of trial `number`. `view`: what the proposal may depend on;
        trials of which it has no result are being trained."""
        ...


class Sampler:
    """Proposes with one of the registered samplers; repeated and invalid assignments are drawn again."""

    def __init__(self, name: str) -> None:
        self._draw = DRAWS[name]

    def propose(
        self, space: Space, plan: Plan, view: History, number: int
    ) -> dict[str, PlainValue]:
        known = {assignment_key(trial.assignment) for trial in view.trials}

        def is_new(assignment: Assignment) -> bool:
            if assignment_key(assignment) in known or space.problem(assignment):
                return False
            return not (plan.options.baseline and space.equals_baseline(assignment))

        drawn: dict[str, PlainValue] = {}
        for drawn in islice(self._draw(space, plan, view, number), ATTEMPTS):
            if is_new(drawn):
                return drawn
        return _nearest_new(space, drawn, is_new)


def _nearest_new(
    space: Space, drawn: dict[str, PlainValue], is_new: Callable[[Assignment], bool]
) -> dict[str, PlainValue]:
    """Returns the valid assignment of a finite space that is closest to `drawn` and was not proposed before;
    `drawn` itself if there is none, or if the space is not finite."""
    if space.size is None:
        return drawn
    nearest = sorted(space.grid(), key=lambda one: _distance(space, one, drawn))
    return next((one for one in nearest if is_new(one)), drawn)


def _distance(space: Space, a: Assignment, b: Assignment) -> float:
    """Returns the squared distance of two assignments on the unit cube; a parameter that only one of them
    uses counts as the largest difference."""
    total = 0.0
    for one in space.parameters:
        if one.name in a and one.name in b:
            total += (one.to_unit(a[one.name]) - one.to_unit(b[one.name])) ** 2
        elif one.name in a or one.name in b:
            total += 1.0
    return total


def draw_random(
    space: Space, plan: Plan, _: History, number: int
) -> Iterator[dict[str, PlainValue]]:
    """Draws every parameter independently."""
    for attempt in count():
        yield space.sample(plan.options.seed, number, attempt)


def draw_grid(space: Space, plan: Plan, _: History, number: int) -> Iterator[dict[str, PlainValue]]:
    """Draws the assignments of the grid in a random order. Raises UsageError if there is no grid."""
    if space.size is None:
        wide = [one.name for one in space.parameters if one.values() is None]
        problem = f"{wide[0]} has no `step`" if wide else "the grid has too many points"
        raise UsageError(
            f"the sampler grid needs a finite space: {problem}",
            fix="add `step`, list `choices`, or use another sampler",
        )
    every = list(space.grid())
    order = stream(plan.options.seed, "grid").permutation(len(every))
    for at in count(number - plan.options.baseline):
        yield every[int(order[at % len(every)])]


def draw_startup(space: Space, plan: Plan, number: int) -> Iterator[dict[str, PlainValue]]:
    """Draws from a Latin hypercube of STARTUP points: each has its own tenth of every range."""
    index, block = number % STARTUP, number // STARTUP
    n = len(space.parameters)
    for attempt in count():
        rng = stream(plan.options.seed, "startup", block, attempt)
        cells = [int(rng.permutation(STARTUP)[index]) for _ in range(n)]
        yield space.from_units([(cell + rng.random()) / STARTUP for cell in cells])


def draw_tpe(
    space: Space, plan: Plan, view: History, number: int
) -> Iterator[dict[str, PlainValue]]:
    """Draws from the tree-structured Parzen estimator (Bergstra et al. 2011), after a startup."""
    optuna = import_optuna()
    past = _past(plan, view)
    if sum(one.value is not None for one in past) < STARTUP:
        return draw_startup(space, plan, number)
    with _without_warnings():
        sampler = optuna.samplers.TPESampler(
            seed=_seed(plan, number),
            n_startup_trials=0,
            multivariate=True,
            group=any(one.when for one in space.parameters),
        )
    return _ask(optuna, sampler, space, past)


def draw_gp(
    space: Space, plan: Plan, view: History, number: int
) -> Iterator[dict[str, PlainValue]]:
    """Draws the point of highest expected improvement of a Gaussian process, after a startup: for few
    expensive trials. Optuna computes it with torch, which takes a second to load."""
    optuna = import_optuna()
    past = _past(plan, view)
    if sum(one.value is not None for one in past) < STARTUP:
        return draw_startup(space, plan, number)
    with _without_warnings():
        sampler = optuna.samplers.GPSampler(seed=_seed(plan, number), n_startup_trials=0)
    return _ask(optuna, sampler, space, [one for one in past if one.value is not None])


def draw_surrogate(
    space: Space, plan: Plan, view: History, number: int
) -> Iterator[dict[str, PlainValue]]:
    """Draws the assignments that may be the best by the model that also ranks the trials (`surrogate`), the
    most promising first, after a startup. Learns from trials on the last rung, so it suits searches with a
    single rung."""
    complete = [
        (view.trials[one.trial].assignment, [v for v in one.values if v is not None])
        for one in standings(view, plan.objective, plan.rungs)
        if one.rung == len(plan.rungs)
    ]
    known = [(one, values) for one, values in complete if one is not None and values]
    if len(known) < STARTUP:
        yield from draw_startup(space, plan, number)
    tried = {assignment_key(trial.assignment) for trial in view.trials}
    free = [
        one
        for one in _candidates(space, plan, number, known[0][0])
        if assignment_key(one) not in tried
    ]
    found = estimate_means(
        [*(one for one, _ in known), *free], [*(values for _, values in known), *([] for _ in free)]
    )
    hopes = [one.mean + one.std for one in found[len(known) :]]
    for at in sorted(range(len(free)), key=lambda at: (-hopes[at], at)):
        yield free[at]


def _candidates(
    space: Space, plan: Plan, number: int, best: Assignment
) -> list[dict[str, PlainValue]]:
    """Returns assignments to choose from: all of a small space, else random ones and variations of the
    best."""
    if space.size is not None and space.size <= CANDIDATES:
        return list(space.grid())
    rng = stream(plan.options.seed, "surrogate", number)
    center = [one.to_unit(best[one.name]) if one.name in best else 0.5 for one in space.parameters]
    shares = rng.random((CANDIDATES, len(center)))
    near = np.clip(center + VARIATION * rng.normal(size=shares.shape), 0, 1)
    # a variation keeps each coordinate of the best with a chance of one half
    near = np.where(rng.random(shares.shape) < 0.5, center, near)
    return [space.from_units(one) for one in [*shares[::2].tolist(), *near[1::2].tolist()]]


def draw_cmaes(
    space: Space, plan: Plan, view: History, number: int
) -> Iterator[dict[str, PlainValue]]:
    """Draws from CMA-ES (Hansen 2016) on the unit cube, replayed from its first generation."""
    from gymnast.sweep.evolution import draw

    for attempt in count():
        yield draw(space, plan, view, number, attempt)


Draw = Callable[[Space, Plan, History, int], Iterator[dict[str, PlainValue]]]
DRAWS: dict[str, Draw] = {
    "tpe": draw_tpe,
    "gp": draw_gp,
    "surrogate": draw_surrogate,
    "cmaes": draw_cmaes,
    "random": draw_random,
    "grid": draw_grid,
}
"""Sampler -> function (space, plan, view, number of the trial) -> assignments, until one can be used."""


def import_optuna():
    """Returns Optuna, quiet. Raises UsageError if it is not installed."""
    try:
        import optuna
    except ImportError:
        fix = f"{EXTRA}, or choose `--sampler random`"
        raise UsageError("this sampler needs Optuna, which is not installed", fix=fix) from None
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    return optuna


def _seed(plan: Plan, number: int) -> int:
    return episode_seed(plan.options.seed, "sampler", number)


def _past(plan: Plan, view: History) -> list[PastTrial]:
    from gymnast.sweep.past_trials import past_trials

    return past_trials(plan, view)


def _ask(optuna, sampler, space: Space, past: list[PastTrial]) -> Iterator[dict[str, PlainValue]]:
    """Yields assignments of an Optuna sampler that knows the past trials."""
    from gymnast.sweep.past_trials import frozen_trial, suggest

    with _without_warnings():
        study = optuna.create_study(direction="maximize", sampler=sampler)
        for one in past:
            study.add_trial(frozen_trial(optuna, space, one))
    while True:
        with _without_warnings():
            drawn = suggest(study.ask(), space)
        yield drawn


@contextmanager
def _without_warnings() -> Iterator[None]:
    """Hides Optuna's warnings about options that are experimental."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
