"""The ranking of trials by what is known about them, with shrinkage: one lucky seed does not win."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, pvariance

from gymnast.sweep.history import History, SeedResult, Trial, seed_results, value_at
from gymnast.sweep.objective import Objective
from gymnast.sweep.surrogate import estimate_means

MIN_MODELED = 6
"""Number of trials from which on their neighbors count."""
PRIOR_WEIGHT = 2.0
"""Degrees of freedom that the guess of the noise between seeds counts as, before seeds have shown it."""
PRIOR_NOISE = 0.5
"""The guess: share of the variance between trials."""


@dataclass(frozen=True)
class Standing:
    """The results of a trial, and the estimate that follows from them."""

    trial: int
    rung: int
    """Number of rungs that its first seed has reached; 0 if it has no result."""
    values: tuple[float | None, ...]
    """The value of each seed at the last rung that the trial has reached; None for a seed that failed."""
    mean: float | None
    """Mean over seeds, where a failure counts as the worst value of the study; None without any value."""
    shrunk: float | None
    """Estimate of the mean over many seeds: with few seeds, other trials count more."""
    spread: float
    """Standard deviation of that estimate."""
    failed: bool
    """Whether a seed failed, or its config is not valid."""


def standings(history: History, objective: Objective, rungs: Sequence[int]) -> list[Standing]:
    """Returns what is known about every trial, the best first: by the rung that it has reached, by the number
    of intervals that its weights were trained before, then by its estimated mean."""
    seeds_of = seed_results(history, rungs[-1])
    values = {
        trial.number: _values(trial, seeds_of[trial.number], objective, rungs)
        for trial in history.trials
    }
    finite = [one for _, seeds in values.values() for one in seeds if one is not None]
    worst = min(finite, default=0.0)
    means = {
        number: fmean(worst if one is None else one for one in seeds)
        for number, (_, seeds) in values.items()
        if seeds
    }
    estimates = _estimates(
        history,
        {
            number: [worst if one is None else one for one in seeds]
            for number, (rung, seeds) in values.items()
            if rung == len(rungs) and seeds
        },
    )
    found: list[Standing] = []
    inherited: dict[int, int] = {}
    for trial in history.trials:
        inherited[trial.number] = 0 if trial.source is None else inherited[trial.source] + 1
        rung, seeds = values[trial.number]
        mean = means.get(trial.number)
        shrunk, spread = estimates.get(trial.number, (mean, 0.0))
        failed = bool(trial.problem) or any(one is None for one in seeds)
        found.append(Standing(trial.number, rung, seeds, mean, shrunk, spread, failed))

    def order(one: Standing) -> tuple[bool, int, int, float, int]:
        usable = one.shrunk is not None and any(value is not None for value in one.values)
        value = one.shrunk if one.shrunk is not None else 0.0
        return (not usable, -one.rung, -inherited[one.trial], -value, one.trial)

    return sorted(found, key=order)


def _values(
    trial: Trial, seeds: Mapping[int, SeedResult], objective: Objective, rungs: Sequence[int]
) -> tuple[int, tuple[float | None, ...]]:
    """Returns how many rungs the first seed of a trial has reached, and the values of its seeds there."""
    if trial.problem:
        return len(rungs), (None,)
    if 0 not in seeds:
        return 0, ()
    reached = sum(seeds[0].reached >= steps for steps in rungs)
    if reached == 0:
        return 0, ()
    at = rungs[reached - 1]
    complete = [one for _, one in sorted(seeds.items()) if one.reached >= at]
    return reached, tuple(value_at(one, objective, at, rungs[-1]) for one in complete)


def _estimates(history: History, values: dict[int, list[float]]) -> dict[int, tuple[float, float]]:
    """Returns trial -> estimated mean over many seeds and its standard deviation, from the values of its
    seeds and of its neighbors."""
    if any(trial.source is not None for trial in history.trials):
        # In population-based training, the same settings are better in a later interval: no pooling.
        return {number: (fmean(seeds), 0.0) for number, seeds in values.items()}
    if len(values) < MIN_MODELED:
        return _shrink(values)
    assignments = [history.trials[number].assignment for number in values]
    found = estimate_means(assignments, list(values.values()))
    return {number: (one.mean, one.std) for number, one in zip(values, found, strict=True)}


def _shrink(values: dict[int, list[float]]) -> dict[int, tuple[float, float]]:
    """Returns trial -> estimated mean over many seeds and its standard deviation, from the values of its
    seeds: the posterior of a normal model whose prior is the distribution of the trials."""
    if not values:
        return {}
    means = {number: fmean(seeds) for number, seeds in values.items()}
    between = pvariance(means.values())
    center = fmean(means.values())
    freedom = sum(len(seeds) - 1 for seeds in values.values())
    squares = sum((one - means[n]) ** 2 for n, seeds in values.items() for one in seeds)
    guess = PRIOR_NOISE * between
    noise = (squares + PRIOR_WEIGHT * guess) / (freedom + PRIOR_WEIGHT)
    prior = max(between - noise / max(fmean(map(len, values.values())), 1.0), 0.25 * between)
    found: dict[int, tuple[float, float]] = {}
    for number, seeds in values.items():
        error = noise / len(seeds)
        weight = prior / (prior + error) if prior + error > 0 else 1.0
        # A trial below the prior is not pulled up: it is known to be worse than the trials that define it.
        pulled = center if means[number] > center else means[number]
        found[number] = (weight * means[number] + (1 - weight) * pulled, (weight * error) ** 0.5)
    return found
