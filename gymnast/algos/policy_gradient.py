"""What all policy gradients share: from advantages to a better policy, and what is told of it."""

from __future__ import annotations

from typing import Any

import numpy as np

from gymnast.algos.critic import standardized
from gymnast.algos.descent import Descent
from gymnast.engine.batch import Batch, Passes
from gymnast.engine.engine import Improved
from gymnast.engine.objective import LOSSES, Objective
from gymnast.rollout import Rollout

Array = np.ndarray


def follow(
    descent: Descent,
    rollout: Rollout,
    advantage: Array,
    target: Array,
    objective: Objective,
    passes: Passes,
    values: Any,
    max_gradient_steps: int | None,
    *,
    has_baseline: bool = True,
) -> dict[str, float]:
    """Make actions likelier by their advantage [T, N]; the critic, if it takes part, learns the
    targets. The report of one update, of at most `max_gradient_steps`. Normalizing advantages subtracts
    their mean, which is a baseline too: without one they are only scaled."""
    descent.begin(values)
    if values.advantage_norm == "rollout":
        advantage = standardized(advantage, rollout.valid, centered=has_baseline)
    batch = Batch.of(descent.policy, rollout, advantage, target)
    limit, engine = values.max_grad_norm, descent.engine
    done: list[Improved] = []
    for part in passes.within(max_gradient_steps):
        adam = descent.adam
        done.append(engine.improve(batch, objective, part, adam, lr=values.lr, max_norm=limit))
        if done[-1].stopped:
            break
    losses = np.concatenate([part.losses for part in done])
    descent.note(objective.parts, losses[:, [LOSSES.index(n) for n in objective.parts]])
    report = descent.report(values) | engine.shift(batch, objective.clip)
    report |= weighted(report, objective)
    if objective.clip is not None:
        report["optim/epochs"] = sum(part.passes for part in done)
        report["optim/kl_stop"] = float(done[-1].stopped)
    return report


def weighted(report: dict[str, float], objective: Objective) -> dict[str, float]:
    """The terms of the loss as they enter it, beside that of the entropy."""
    terms = {"loss/policy": report["policy/loss"]}
    if objective.critic:
        terms["loss/value"] = objective.value_coef * report["value/loss"]
    if objective.clip is not None:
        terms["loss/kl"] = objective.kl_coef * report["policy/kl_penalty"]
    return terms
