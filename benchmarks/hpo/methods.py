"""The methods that are compared. Each searches one task with a budget and returns its choice."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import numpy as np

from benchmarks.hpo.grid import BUDGET, CLIPS, CONFIGURATIONS, EVERY, GAMMAS, LEARNING_RATES
from benchmarks.hpo.replay import BudgetSpent, Replay

Method = Callable[[Replay, int], int]
"""Searches with a seed and returns the index of the configuration that it recommends."""


def random_search(replay: Replay, seed: int) -> int:
    """Trains random configurations, each to the end on one seed, and recommends the one with the best
    result. None is drawn twice before all were drawn once."""
    rng = np.random.default_rng(seed)
    found: dict[int, float] = {}
    with suppress(BudgetSpent):
        for configuration in rng.permutation(len(CONFIGURATIONS)).tolist():
            found[configuration] = replay.train(configuration, int(rng.integers(1 << 16)))
    return max(found, key=lambda one: found[one])


def exhaustive_search(replay: Replay, _: int) -> int:
    """Trains every configuration on every seed that a search sees, whatever it costs, and recommends the one
    with the best mean: nothing can be found out beyond that without a model."""
    n_seeds = replay.progress.shape[1]
    replay.budget = len(CONFIGURATIONS) * n_seeds * BUDGET
    means = [
        np.mean([replay.train(one, number) for number in range(n_seeds)])
        for one in range(len(CONFIGURATIONS))
    ]
    return int(np.argmax(means))


def asha(replay: Replay, seed: int, eta: int = 4) -> int:
    """Asynchronous successive halving (Li et al. 2020) with one worker: continues a trial that is among the
    best 1/eta of its rung, or starts a random configuration. Recommends the best of the highest rung."""
    rng = np.random.default_rng(seed)
    rungs = _rungs(eta)
    trials: list[tuple[int, int]] = []
    """Configuration and seed of each trial."""
    results: list[dict[int, float]] = [{} for _ in rungs]
    """For each rung, trial -> its value there."""
    order = iter(rng.permutation(len(CONFIGURATIONS) * 50) % len(CONFIGURATIONS))
    try:
        while True:
            trial, rung = _promotable(results, eta) or (len(trials), 0)
            if trial == len(trials):
                trials.append((int(next(order)), int(rng.integers(1 << 16))))
            since = rungs[rung - 1] if rung else 0
            value = replay.train(*trials[trial], since=since, until=rungs[rung])
            results[rung][trial] = value
    except BudgetSpent:
        top = next(rung for rung in reversed(results) if rung)
        return trials[max(top, key=lambda one: top[one])][0]


def _rungs(eta: int) -> list[int]:
    """Returns the env steps at which trials are compared; the last is a whole training."""
    rungs = [BUDGET]
    while rungs[0] // eta >= EVERY:
        rungs.insert(0, rungs[0] // eta)
    return rungs


def _promotable(results: list[dict[int, float]], eta: int) -> tuple[int, int] | None:
    """Returns a trial to continue and the rung to which; None if there is none."""
    for rung in reversed(range(len(results) - 1)):
        here = results[rung]
        best = sorted(here, key=lambda one: -here[one])[: len(here) // eta]
        for trial in best:
            if trial not in results[rung + 1]:
                return trial, rung + 1
    return None


def optuna_default(replay: Replay, seed: int) -> int:
    """Optuna as its documentation uses it: `create_study`, whose defaults are TPE and the median pruner, with
    a report after every evaluation. Each trial has one seed; recommends the best trial."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    rng = np.random.default_rng(seed)
    sampler = optuna.samplers.TPESampler(seed=seed)  # the default sampler, with a seed
    study = optuna.create_study(direction="maximize", sampler=sampler)

    def objective(trial: optuna.Trial) -> float:
        configuration = index_of(
            trial.suggest_int("lr", 0, len(LEARNING_RATES) - 1),
            trial.suggest_int("gamma", 0, len(GAMMAS) - 1),
            trial.suggest_int("clip", 0, len(CLIPS) - 1),
        )
        own_seed, value = int(rng.integers(1 << 16)), 0.0
        for env_steps in range(EVERY, BUDGET + 1, EVERY):
            since = env_steps - EVERY
            value = replay.train(configuration, own_seed, since=since, until=env_steps)
            trial.report(value, env_steps)
            if trial.should_prune():
                raise optuna.TrialPruned
        return value

    with suppress(BudgetSpent):
        study.optimize(objective)
    best = study.best_trial.params
    return index_of(best["lr"], best["gamma"], best["clip"])


def index_of(lr: int, gamma: int, clip: int) -> int:
    """Returns the index of a configuration, from the indices of its values."""
    return (lr * len(GAMMAS) + gamma) * len(CLIPS) + clip
