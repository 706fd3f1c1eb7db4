"""Estimates how much each parameter of a study matters, with an interval: with few trials, nobody knows."""

from __future__ import annotations

import warnings

from gymnast.errors import UsageError
from gymnast.seeds import stream
from gymnast.sweep.decide import Plan
from gymnast.sweep.history import History
from gymnast.sweep.past_trials import PastTrial, frozen_trial, past_trials
from gymnast.sweep.record import ParameterImportance, SweepImportance
from gymnast.sweep.samplers import import_optuna
from gymnast.sweep.space import Space

RESAMPLES = 40
"""Number of bootstrap samples of trials."""
MIN_TRIALS = 5
"""Number of trials below which there is no estimate."""
RELIABLE_TRIALS = 50
"""Number of trials below which the order of parameters still changes with every further trial."""
BEST = 0.25
"""Share of trials that count as the best, in PED-ANOVA (Watanabe et al. 2023)."""


def importance(study: str, space: Space, plan: Plan, history: History) -> SweepImportance:
    """Returns the importance of each parameter. Trials are compared at the first rung, which all of them
    have reached, unless half of them are complete. Raises UsageError if there are too few trials."""
    past, at = _comparable(plan, history)
    if len(past) < MIN_TRIALS or len({one.value for one in past}) < 2:
        problem = f"{study} has {len(past)} trials with results at the same rung"
        raise UsageError(problem, fix=f"wait for {MIN_TRIALS} different ones")
    center = _shares(space, past)
    samples: list[dict[str, float]] = []
    for number in range(RESAMPLES):
        rng = stream(plan.options.seed, "importance", number)
        chosen = [past[int(i)] for i in rng.integers(len(past), size=len(past))]
        if len({one.value for one in chosen}) > 1:
            samples.append(_shares(space, chosen))
    found = [_with_interval(name, center[name], samples) for name in center]
    caution = ""
    if len(past) < RELIABLE_TRIALS:
        caution = (
            f"{len(past)} trials: below {RELIABLE_TRIALS}, the order of parameters is uncertain"
        )
    if at < plan.budget:
        caution += f"{'; ' if caution else ''}values after {at:,} of {plan.budget:,} env steps"
    ordered = sorted(found, key=lambda one: (-one.importance, one.name))
    return SweepImportance(study, len(past), tuple(ordered), caution)


def _comparable(plan: Plan, history: History) -> tuple[list[PastTrial], int]:
    """Returns the trials with their values after the same number of env steps, and that number: the highest
    rung that at least half of the trials have reached."""
    every = past_trials(plan, history)
    known = [one for one in every if one.value is not None]
    for at in reversed(range(len(plan.rungs))):
        reached = sum(one.rung > at for one in known)
        if at == 0 or (reached >= MIN_TRIALS and 2 * reached >= len(known)):
            shorter = Plan(plan.options, plan.objective, plan.rungs[: at + 1])
            past = past_trials(shorter, history)
            return [one for one in past if one.value is not None and one.is_complete], plan.rungs[
                at
            ]
    return [], plan.rungs[0]


def _with_interval(
    name: str, center: float, samples: list[dict[str, float]]
) -> ParameterImportance:
    import numpy as np

    low, high = np.quantile([one.get(name, 0.0) for one in samples] or [0.0], [0.025, 0.975])
    return ParameterImportance(name, center, min(float(low), center), max(float(high), center))


def _shares(space: Space, past: list[PastTrial]) -> dict[str, float]:
    """Returns parameter -> its share of what distinguishes the best trials from the others."""
    optuna = import_optuna()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        study = optuna.create_study(direction="maximize")
        for one in past:
            study.add_trial(frozen_trial(optuna, space, one))
        evaluator = optuna.importance.PedAnovaImportanceEvaluator(target_quantile=BEST)
        try:
            found = optuna.importance.get_param_importances(study, evaluator=evaluator)
        except (ValueError, RuntimeError) as error:
            raise UsageError(f"importance cannot be computed: {error}") from None
    return {str(name): float(value) for name, value in found.items()}
