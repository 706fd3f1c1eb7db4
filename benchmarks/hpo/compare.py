"""Repeats every method on every task, with another seed of the search and another order of the seeds that it
sees each time, and averages the regret on the seeds that no search sees."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np

from benchmarks.hpo.grid import CONFIGURATIONS, TASKS
from benchmarks.hpo.methods import Method, asha, exhaustive_search, optuna_default, random_search
from benchmarks.hpo.ours import our_search
from benchmarks.hpo.regret import Split, bootstrap_interval, normalized_regret, value_range
from benchmarks.hpo.replay import Replay, progress_of
from benchmarks.hpo.table import Table
from gymnast.sweep.objective import Objective
from gymnast.sweep.options import SearchOptions

SEARCH_BUDGET = 5_000_000
"""Env steps of one search: 50 whole trainings."""
AREA, SCORE = Objective("area"), Objective("score")
OBJECTIVES = {"area": AREA, "score": SCORE}
DEFAULT, OURS = "gymnast, default", "gymnast, surrogate"
EXHAUSTIVE = "exhaustive search"
CHOSEN_ON = (0, 1, 2)
"""Seeds of the table on which the options of our search were chosen."""


def methods(objective: Objective) -> dict[str, Method]:
    """Returns name -> method, for searches that maximize this objective."""
    default = SearchOptions(trials=len(CONFIGURATIONS))  # as many as the budget allows
    options = replace(default, sampler="surrogate", final_share=0.16)
    return {
        "random search": random_search,
        "Optuna's default": optuna_default,
        "ASHA": asha,
        DEFAULT: partial(our_search, objective=objective, options=default),
        OURS: partial(our_search, objective=objective, options=options),
        EXHAUSTIVE: exhaustive_search,
    }


def choices(
    table: Table, task: str, objective: Objective, method: Method, repetitions: range
) -> list[tuple[Split, int]]:
    """Returns the split of the seeds and the chosen configuration of each repetition. A repetition has the
    same split for every method and task."""
    curves = table.of(task)
    progress = progress_of(curves, objective)
    found: list[tuple[Split, int]] = []
    for number in repetitions:
        split = split_of(table, number)
        seen = list(split.search)
        replay = Replay(curves[:, seen], progress[:, seen], SEARCH_BUDGET)
        found.append((split, method(replay, number)))
        assert replay.spent <= replay.budget
    return found


def split_of(table: Table, repetition: int) -> Split:
    """Returns the seeds of a repetition: those its search sees, in their order, and the judging ones."""
    return Split.draw(table.curves.shape[2], np.random.default_rng((17, repetition)))


def summary(
    table: Table, task: str, objective: Objective, chosen: list[tuple[Split, int]]
) -> dict[str, Any]:
    """Returns the mean regret in percent of the range with its 95 % interval, the mean return at the end of
    training, both on the fresh seeds, and the chosen configurations."""
    curves = table.of(task)
    values, ends = progress_of(curves, objective)[..., -1], progress_of(curves, SCORE)[..., -1]
    regrets = [100 * normalized_regret(values, split.fresh, one) for split, one in chosen]
    low, high = bootstrap_interval(np.array(regrets), np.random.default_rng(0))
    scores = [ends[one, list(split.fresh)].mean() for split, one in chosen]
    return {
        "regret": float(np.mean(regrets)),
        "low": low,
        "high": high,
        "median": float(np.median(regrets)),
        "score": float(np.mean(scores)),
        "chosen": [one for _, one in chosen],
    }


def facts(table: Table, task: str, objective: Objective) -> dict[str, Any]:
    """Returns what the table says about a task: the best configuration, and the range of values."""
    values = progress_of(table.of(task), objective)[..., -1]
    ends = progress_of(table.of(task), SCORE)[..., -1].mean(1)
    best = int(values.mean(1).argmax())
    return {
        "best": CONFIGURATIONS[best].settings(),
        "best_value": float(values.mean(1)[best]),
        "mean_value": float(values.mean()),
        "range": value_range(values),
        "best_score": float(ends[best]),
        "mean_score": float(ends.mean()),
    }


def compare(
    table: Table,
    objective: Objective,
    repetitions: range,
    known: Mapping[tuple[str, str], Sequence[int]] = MappingProxyType({}),
    on_result: Callable[[str, str, list[int]], None] = lambda *_: None,
) -> dict[str, Any]:
    """Returns task -> its facts and the summary of every method. `known`: (method, task) -> the choices of an
    earlier call that was interrupted; `on_result` is called with the method, the task and new choices."""
    found = {task: facts(table, task, objective) | {"methods": {}} for task in TASKS}
    for name, method in methods(objective).items():
        for task in TASKS:
            if (name, task) in known:
                drawn = zip(repetitions, known[name, task], strict=True)
                chosen = [(split_of(table, number), one) for number, one in drawn]
            else:
                chosen = choices(table, task, objective, method, repetitions)
                on_result(name, task, [one for _, one in chosen])
            found[task]["methods"][name] = summary(table, task, objective, chosen)
    return found
