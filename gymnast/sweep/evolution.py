"""CMA-ES on the unit cube, replayed from its first generation at every proposal, so that it has no state
that a resumed study could lose."""

from __future__ import annotations

from statistics import median

from gymnast.config.plain_value import PlainValue
from gymnast.errors import UsageError
from gymnast.seeds import episode_seed
from gymnast.sweep.decide import Plan
from gymnast.sweep.history import History
from gymnast.sweep.past_trials import past_trials
from gymnast.sweep.space import Space

FIRST_STEP = 0.25
"""Standard deviation of the first generation, as a share of each range."""


def draw(
    space: Space, plan: Plan, view: History, number: int, attempt: int
) -> dict[str, PlainValue]:
    """Returns the assignment of trial `number`. A member of an earlier generation whose result is not
    visible counts as the median of its generation."""
    try:
        import cmaes
        import numpy as np
    except ImportError:
        fix = "pip install 'gymnast[sweep]', or choose `--sampler random`"
        raise UsageError("the sampler cmaes needs the package cmaes", fix=fix) from None
    n = len(space.parameters)
    seed = episode_seed(plan.options.seed, "cmaes", attempt) % 2**31
    # One dimension has no covariance to adapt; a second one without an effect makes the method apply.
    search = cmaes.CMA(
        mean=np.full(max(n, 2), 0.5),
        sigma=FIRST_STEP,
        bounds=np.tile([0.0, 1.0], (max(n, 2), 1)),
        seed=seed,
    )
    size = search.population_size
    values = [one.value for one in past_trials(plan, view)]
    index = number - plan.options.baseline
    for generation in range(index // size):
        points = [search.ask() for _ in range(size)]
        own = values[generation * size : (generation + 1) * size]
        middle = median([one for one in own if one is not None] or [0.0])
        costs = [-(middle if one is None else one) for one in own]
        search.tell([*zip(points, costs, strict=True)])
    points = [search.ask() for _ in range(index % size + 1)]
    return space.from_units([float(share) for share in points[-1][:n]])
